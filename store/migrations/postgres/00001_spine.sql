-- +goose Up

-- What a conversation is. Rarely changed; the gate locks these rows, so
-- nothing that moves with every message may live here.
CREATE TABLE conversations (
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    owner      TEXT             NOT NULL,
    title      TEXT             NOT NULL,
    title_set  BIGINT           NOT NULL,
    kind       TEXT             NOT NULL,
    lineage    TEXT             NOT NULL, -- JSON; '' for none
    level      TEXT             NOT NULL,
    category   TEXT             NOT NULL,
    workspace  TEXT             NOT NULL,
    model      TEXT             NOT NULL,
    agent      TEXT             NOT NULL,
    archived   BIGINT           NOT NULL,
    deleted    BIGINT           NOT NULL,
    origin     TEXT             NOT NULL, -- JSON; '' for none
    created_at BIGINT           NOT NULL,
    folded     TEXT             NOT NULL  -- title, id, workspace, case folded, one a line
);
CREATE UNIQUE INDEX conversations_main ON conversations (owner) WHERE kind = 'main' AND deleted = 0;

CREATE TABLE ancestry (
    ancestor   TEXT COLLATE "C" NOT NULL REFERENCES conversations (id),
    descendant TEXT COLLATE "C" NOT NULL REFERENCES conversations (id),
    PRIMARY KEY (ancestor, descendant)
);
CREATE INDEX ancestry_descendant ON ancestry (descendant);

-- What moves: the log's end, the inbox's end, the state, the lease.
CREATE TABLE heads (
    conversation TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES conversations (id),
    owner        TEXT             NOT NULL,
    place        TEXT             NOT NULL, -- digest of the workspace, for the order of candidates; '' for none
    spoken       BIGINT           NOT NULL, -- has a user or assistant record
    last_active  BIGINT           NOT NULL,
    head_seq     BIGINT           NOT NULL,
    generation   TEXT             NOT NULL,
    state        TEXT             NOT NULL,
    waiting_for  TEXT             NOT NULL,
    last_input   BIGINT           NOT NULL, -- position of the newest input
    holder       TEXT             NOT NULL, -- of the lease; '' for none
    fence        BIGINT           NOT NULL,
    expires      BIGINT           NOT NULL,
    run          TEXT             NOT NULL  -- which opening of the database gave the lease
);
CREATE INDEX heads_recent ON heads (owner, last_active DESC, conversation, spoken, place);
CREATE INDEX heads_place ON heads (owner, place, last_active DESC, conversation, spoken) WHERE place <> '';

CREATE TABLE records (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES heads (conversation),
    seq          BIGINT           NOT NULL,
    kind         TEXT             NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    time         BIGINT           NOT NULL,
    generation   TEXT             NOT NULL,
    brief        BYTEA,           -- an epoch without its long parts
    body         BYTEA            NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE UNIQUE INDEX records_id ON records (conversation, id);
CREATE INDEX records_marks ON records (conversation, seq, kind)
    WHERE kind NOT IN ('user', 'assistant', 'tool_result', 'recall', 'system', 'notice', 'step', 'step_end');

CREATE TABLE views (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES heads (conversation),
    lowering     TEXT             NOT NULL,
    seq          BIGINT           NOT NULL,
    mark         BIGINT           NOT NULL,
    bytes        BYTEA            NOT NULL,
    PRIMARY KEY (conversation, lowering, seq)
);

CREATE TABLE inputs (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES heads (conversation),
    position     BIGINT           NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    owner        TEXT             NOT NULL,
    kind         TEXT             NOT NULL,
    delivery     TEXT             NOT NULL,
    state        TEXT             NOT NULL,
    revision     BIGINT           NOT NULL,
    text         TEXT             NOT NULL,
    shown        TEXT             NOT NULL,
    asked        TEXT             NOT NULL, -- JSON; '' for none
    mentions     TEXT             NOT NULL, -- JSON
    frozen       TEXT             NOT NULL, -- JSON; '' for none
    digest       TEXT             NOT NULL,
    admitted_at  BIGINT           NOT NULL,
    promoted_seq BIGINT           NOT NULL,
    code         TEXT             NOT NULL,
    reason       TEXT             NOT NULL,
    PRIMARY KEY (conversation, position)
);
CREATE UNIQUE INDEX inputs_id ON inputs (conversation, id);
CREATE INDEX inputs_pending ON inputs (conversation, position) WHERE state = 'pending';

CREATE TABLE steps (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES heads (conversation),
    seq          BIGINT           NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    fence        BIGINT           NOT NULL,
    state        TEXT             NOT NULL,
    purpose      TEXT             NOT NULL,
    provider     TEXT             NOT NULL,
    model        TEXT             NOT NULL,
    attempts     BIGINT           NOT NULL,
    ledger       TEXT             NOT NULL, -- JSON
    usage        TEXT             NOT NULL, -- JSON; '' for none
    partial      TEXT             NOT NULL,
    resumptions  BIGINT           NOT NULL,
    interrupt    BIGINT           NOT NULL,
    code         TEXT             NOT NULL,
    reason       TEXT             NOT NULL,
    started_at   BIGINT           NOT NULL,
    ended_at     BIGINT           NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE UNIQUE INDEX steps_id ON steps (conversation, id);
CREATE UNIQUE INDEX steps_running ON steps (conversation) WHERE state = 'running';

-- The audit of what moved. Outlives the conversations it names.
CREATE TABLE flows (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time         BIGINT NOT NULL,
    owner        TEXT   NOT NULL,
    door         TEXT   NOT NULL,
    form         TEXT   NOT NULL,
    source       TEXT   NOT NULL,
    message      TEXT   NOT NULL,
    generation   TEXT   NOT NULL,
    source_scope TEXT   NOT NULL, -- JSON
    target       TEXT   NOT NULL,
    input        TEXT   NOT NULL,
    target_scope TEXT   NOT NULL, -- JSON
    crossing     BIGINT NOT NULL,
    reasons      TEXT   NOT NULL, -- JSON; '' for none
    confirmation TEXT   NOT NULL,
    text_mac     TEXT   NOT NULL,
    text_length  BIGINT NOT NULL,
    of_flow      BIGINT NOT NULL,
    result       TEXT   NOT NULL,
    seq          BIGINT NOT NULL
);
CREATE INDEX flows_owner ON flows (owner, id);
CREATE INDEX flows_source ON flows (source, id);
CREATE INDEX flows_target ON flows (target, id);
CREATE INDEX flows_input ON flows (target, input, id) WHERE input <> '';
CREATE INDEX flows_crossing ON flows (owner, id) WHERE crossing = 1;

CREATE TABLE answers (
    owner      TEXT   NOT NULL,
    route      TEXT   NOT NULL,
    key        TEXT   NOT NULL,
    digest     TEXT   NOT NULL,
    status     BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner, route, key)
);
CREATE INDEX answers_age ON answers (created_at);

CREATE TABLE settings (
    name  TEXT  NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);

-- The candidate index: digests of the folded one, two and three letter pieces
-- of each word of title, id and workspace.
CREATE TABLE grams (
    conversation TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES conversations (id),
    grams        INTEGER[]        NOT NULL
);
CREATE INDEX grams_index ON grams USING gin (grams) WITH (gin_pending_list_limit = 256);

-- +goose Up

-- What a conversation is. Rarely changed; the gate locks these rows, so
-- nothing that moves with every message may live here. num is the row's
-- number in the candidate index.
CREATE TABLE conversations (
    num        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    owner      TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    title_set  INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    lineage    TEXT    NOT NULL, -- JSON; '' for none
    level      TEXT    NOT NULL,
    category   TEXT    NOT NULL,
    workspace  TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    archived   INTEGER NOT NULL,
    deleted    INTEGER NOT NULL,
    origin     TEXT    NOT NULL, -- JSON; '' for none
    created_at INTEGER NOT NULL,
    folded     TEXT    NOT NULL  -- title, id, workspace, case folded, one a line
) STRICT;
CREATE UNIQUE INDEX conversations_main ON conversations (owner) WHERE kind = 'main' AND deleted = 0;

CREATE TABLE ancestry (
    ancestor   TEXT NOT NULL REFERENCES conversations (id),
    descendant TEXT NOT NULL REFERENCES conversations (id),
    PRIMARY KEY (ancestor, descendant)
) STRICT, WITHOUT ROWID;
CREATE INDEX ancestry_descendant ON ancestry (descendant);

-- What moves: the log's end, the inbox's end, the state, the lease.
CREATE TABLE heads (
    conversation TEXT    NOT NULL PRIMARY KEY REFERENCES conversations (id),
    owner        TEXT    NOT NULL,
    place        TEXT    NOT NULL, -- digest of the workspace, for the order of candidates; '' for none
    spoken       INTEGER NOT NULL, -- has a user or assistant record
    last_active  INTEGER NOT NULL,
    head_seq     INTEGER NOT NULL,
    generation   TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    waiting_for  TEXT    NOT NULL,
    last_input   INTEGER NOT NULL, -- position of the newest input
    holder       TEXT    NOT NULL, -- of the lease; '' for none
    fence        INTEGER NOT NULL,
    expires      INTEGER NOT NULL,
    run          TEXT    NOT NULL  -- which opening of the database gave the lease
) STRICT, WITHOUT ROWID;
CREATE INDEX heads_recent ON heads (owner, last_active DESC, conversation, spoken, place);
CREATE INDEX heads_place ON heads (owner, place, last_active DESC, conversation, spoken) WHERE place <> '';

CREATE TABLE records (
    conversation TEXT    NOT NULL REFERENCES heads (conversation),
    seq          INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    generation   TEXT    NOT NULL,
    brief        BLOB, -- an epoch without its long parts
    body         BLOB    NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX records_id ON records (conversation, id);
CREATE INDEX records_marks ON records (conversation, seq, kind)
    WHERE kind NOT IN ('user', 'assistant', 'tool_result', 'recall', 'system', 'notice', 'step', 'step_end');

CREATE TABLE views (
    conversation TEXT    NOT NULL REFERENCES heads (conversation),
    lowering     TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    mark         INTEGER NOT NULL,
    bytes        BLOB    NOT NULL,
    PRIMARY KEY (conversation, lowering, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE inputs (
    conversation   TEXT    NOT NULL REFERENCES heads (conversation),
    position       INTEGER NOT NULL,
    id             TEXT    NOT NULL,
    owner          TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    delivery       TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    revision       INTEGER NOT NULL,
    text           TEXT    NOT NULL,
    shown          TEXT    NOT NULL,
    asked          TEXT    NOT NULL, -- JSON; '' for none
    mentions       TEXT    NOT NULL, -- JSON
    frozen         TEXT    NOT NULL, -- JSON; '' for none
    digest         TEXT    NOT NULL,
    admitted_at    INTEGER NOT NULL,
    promoted_seq   INTEGER NOT NULL,
    code           TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    PRIMARY KEY (conversation, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX inputs_id ON inputs (conversation, id);
CREATE INDEX inputs_pending ON inputs (conversation, position) WHERE state = 'pending';

CREATE TABLE steps (
    conversation TEXT    NOT NULL REFERENCES heads (conversation),
    seq          INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    fence        INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    purpose      TEXT    NOT NULL,
    provider     TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    attempts     INTEGER NOT NULL,
    ledger       TEXT    NOT NULL, -- JSON
    usage        TEXT    NOT NULL, -- JSON; '' for none
    partial      TEXT    NOT NULL,
    resumptions  INTEGER NOT NULL,
    interrupt    INTEGER NOT NULL,
    code         TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX steps_id ON steps (conversation, id);
CREATE UNIQUE INDEX steps_running ON steps (conversation) WHERE state = 'running';

-- The audit of what moved. Outlives the conversations it names.
CREATE TABLE flows (
    id           INTEGER PRIMARY KEY,
    time         INTEGER NOT NULL,
    owner        TEXT    NOT NULL,
    door         TEXT    NOT NULL,
    form         TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    message      TEXT    NOT NULL,
    generation   TEXT    NOT NULL,
    source_scope TEXT    NOT NULL, -- JSON
    target       TEXT    NOT NULL,
    input        TEXT    NOT NULL,
    target_scope TEXT    NOT NULL, -- JSON
    crossing     INTEGER NOT NULL,
    reasons      TEXT    NOT NULL, -- JSON; '' for none
    confirmation TEXT    NOT NULL,
    text_mac     TEXT    NOT NULL,
    text_length  INTEGER NOT NULL,
    of_flow      INTEGER NOT NULL,
    result       TEXT    NOT NULL,
    seq          INTEGER NOT NULL
) STRICT;
CREATE INDEX flows_owner ON flows (owner, id);
CREATE INDEX flows_source ON flows (source, id);
CREATE INDEX flows_target ON flows (target, id);
CREATE INDEX flows_input ON flows (target, input, id) WHERE input <> '';
CREATE INDEX flows_crossing ON flows (owner, id) WHERE crossing = 1;

CREATE TABLE answers (
    owner      TEXT    NOT NULL,
    route      TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    status     INTEGER NOT NULL,
    body       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_age ON answers (created_at);

CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The candidate index: the folded one, two and three letter pieces of each
-- word of title, id and workspace, as hexadecimal tokens. rowid is
-- conversations.num.
CREATE VIRTUAL TABLE grams USING fts5 (
    pieces, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- +goose Up

ALTER TABLE steps ADD COLUMN chained BIGINT NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN next_try BIGINT NOT NULL DEFAULT -62135596800000000; -- no time

-- Tool calls, from the moment the answer that asks for them is in the log.
CREATE TABLE calls (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES heads (conversation),
    step         TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    ordinal      BIGINT           NOT NULL,
    name         TEXT             NOT NULL,
    state        TEXT             NOT NULL,
    decision     TEXT             NOT NULL, -- '' for none
    started_at   BIGINT           NOT NULL,
    ended_at     BIGINT           NOT NULL,
    PRIMARY KEY (conversation, step, id)
);
CREATE UNIQUE INDEX calls_waiting ON calls (conversation, id) WHERE state = 'waiting';
CREATE INDEX calls_id ON calls (conversation, id);
CREATE INDEX calls_decided ON calls (conversation) WHERE state = 'waiting' AND decision <> '';

-- Full texts of tool results that were cut.
CREATE TABLE artefacts (
    conversation TEXT COLLATE "C" NOT NULL REFERENCES heads (conversation),
    id           TEXT COLLATE "C" NOT NULL,
    call         TEXT             NOT NULL,
    tool         TEXT COLLATE "C" NOT NULL,
    time         BIGINT           NOT NULL,
    text         BYTEA            NOT NULL,
    PRIMARY KEY (conversation, id)
);

-- The change journal. Seqs are in the order of commits: see the lock in
-- postgres.go.
CREATE TABLE changes (
    seq     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope   TEXT COLLATE "C" NOT NULL,
    fact    TEXT COLLATE "C" NOT NULL,
    value   BYTEA,             -- JSON; NULL: removed
    at      BIGINT           NOT NULL,
    noticed BIGINT           NOT NULL
);
CREATE INDEX changes_scope ON changes (scope, seq);
CREATE INDEX changes_fact ON changes (scope, fact, seq);

-- The facts that clients keep.
CREATE TABLE facts (
    scope TEXT COLLATE "C" NOT NULL,
    key   TEXT COLLATE "C" NOT NULL,
    value BYTEA            NOT NULL, -- JSON
    text  TEXT             NOT NULL,
    at    BIGINT           NOT NULL,
    PRIMARY KEY (scope, key)
);

CREATE TABLE tool_rules (
    owner    TEXT COLLATE "C" NOT NULL,
    tool     TEXT COLLATE "C" NOT NULL,
    decision TEXT             NOT NULL,
    PRIMARY KEY (owner, tool)
);

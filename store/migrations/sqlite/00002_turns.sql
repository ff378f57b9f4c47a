-- +goose Up

ALTER TABLE steps ADD COLUMN chained INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN next_try INTEGER NOT NULL DEFAULT -62135596800000000; -- no time

-- Tool calls, from the moment the answer that asks for them is in the log.
CREATE TABLE calls (
    conversation TEXT    NOT NULL REFERENCES heads (conversation),
    step         TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    ordinal      INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    decision     TEXT    NOT NULL, -- '' for none
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER NOT NULL,
    PRIMARY KEY (conversation, step, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX calls_waiting ON calls (conversation, id) WHERE state = 'waiting';
CREATE INDEX calls_id ON calls (conversation, id);
CREATE INDEX calls_decided ON calls (conversation) WHERE state = 'waiting' AND decision <> '';

-- Full texts of tool results that were cut.
CREATE TABLE artefacts (
    conversation TEXT    NOT NULL REFERENCES heads (conversation),
    id           TEXT    NOT NULL,
    call         TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    text         BLOB    NOT NULL,
    PRIMARY KEY (conversation, id)
) STRICT;

-- The change journal. A seq is never given twice, even after the newest entry
-- is deleted: who has read up to it must not miss another.
CREATE TABLE changes (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    scope   TEXT    NOT NULL,
    fact    TEXT    NOT NULL,
    value   BLOB,             -- JSON; NULL: removed
    at      INTEGER NOT NULL,
    noticed INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_scope ON changes (scope, seq);
CREATE INDEX changes_fact ON changes (scope, fact, seq);

-- The facts that clients keep.
CREATE TABLE facts (
    scope TEXT    NOT NULL,
    key   TEXT    NOT NULL,
    value BLOB    NOT NULL, -- JSON
    text  TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT;

CREATE TABLE tool_rules (
    owner    TEXT NOT NULL,
    tool     TEXT NOT NULL,
    decision TEXT NOT NULL,
    PRIMARY KEY (owner, tool)
) STRICT, WITHOUT ROWID;

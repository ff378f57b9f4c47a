-- +goose Up

-- What providers have refused: seldom any, and asked for before every request.
CREATE INDEX steps_refused ON steps (conversation, seq) WHERE code IN (
    'provider_refused_request', 'provider_refused_reasoning', 'provider_refused_system', 'provider_refused_roles',
    'provider_refused_calls', 'provider_context_overflow');

-- What models were learnt to object to.
CREATE TABLE lessons (
    model     TEXT COLLATE "C" NOT NULL,
    objection TEXT COLLATE "C" NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (model, objection)
);

-- +goose Up

CREATE TABLE deliveries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source      text NOT NULL CHECK (source <> ''),
    delivery_id text NOT NULL CHECK (delivery_id <> ''),
    event       text NOT NULL,
    topic       text NOT NULL DEFAULT '', -- what it is about, e.g. owner/name#41; deliveries of one topic are worked in order
    body        bytea NOT NULL,
    state       text NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'done', 'failed')),
    note        text NOT NULL DEFAULT '',
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    nudge_at    timestamptz NOT NULL DEFAULT clock_timestamp() + interval '30 seconds', -- asked for again then
    finished_at timestamptz,
    UNIQUE (source, delivery_id),
    CHECK ((state = 'received') = (finished_at IS NULL))
);
CREATE INDEX deliveries_undone ON deliveries (nudge_at) WHERE state = 'received';
CREATE INDEX deliveries_done ON deliveries (finished_at) WHERE state <> 'received';
CREATE INDEX deliveries_topic ON deliveries (topic, id) WHERE state = 'received';

CREATE TABLE pull_requests (
    repo         text NOT NULL,
    number       integer NOT NULL CHECK (number > 0),
    installation bigint NOT NULL,
    open         boolean NOT NULL,
    fork         boolean NOT NULL,
    labels       text[] NOT NULL,
    author       text NOT NULL,
    head         text NOT NULL,
    base         text NOT NULL,
    updated_at   timestamptz NOT NULL, -- GitHub's
    seen_at      timestamptz NOT NULL,
    PRIMARY KEY (repo, number)
);

-- +goose Down
DROP TABLE pull_requests;
DROP TABLE deliveries;

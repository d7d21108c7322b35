-- +goose Up

-- The places that show a cluster.
CREATE TABLE subscribers (
    id             text PRIMARY KEY CHECK (id LIKE 'sub\_%'),
    cluster_id     text NOT NULL REFERENCES clusters,
    kind           text NOT NULL CHECK (kind IN ('github_comment', 'github_check')),
    installation   bigint NOT NULL,
    repo           text NOT NULL,
    number         integer NOT NULL,
    head           text NOT NULL,
    external_id    bigint NOT NULL DEFAULT 0, -- 0: not posted yet
    wanted_version bigint NOT NULL,           -- the cluster's row_version
    shown_version  bigint NOT NULL DEFAULT 0,
    shown_body     text NOT NULL DEFAULT '',
    nudge_at       timestamptz NOT NULL,
    UNIQUE (cluster_id, kind, repo, number)
);
CREATE INDEX subscribers_behind ON subscribers (nudge_at) WHERE shown_version < wanted_version;

-- Answers without a cluster's own comment, one per cause.
CREATE TABLE replies (
    id           text PRIMARY KEY CHECK (id LIKE 'rep\_%'),
    cause        text NOT NULL UNIQUE CHECK (cause <> ''),
    installation bigint NOT NULL,
    repo         text NOT NULL,
    number       integer NOT NULL,
    body         text NOT NULL CHECK (body <> ''),
    external_id  bigint NOT NULL DEFAULT 0, -- 0: not posted yet
    created_at   timestamptz NOT NULL,
    nudge_at     timestamptz NOT NULL
);
CREATE INDEX replies_unposted ON replies (nudge_at) WHERE external_id = 0;

-- +goose Down
DROP TABLE replies;
DROP TABLE subscribers;

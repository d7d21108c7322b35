-- +goose Up
-- What people filter lists by: whose clusters they are, and whose install failed. 'install_failed' is lifecycle.ReasonInstallFailed.
CREATE INDEX clusters_owner ON clusters (lower(owner), id DESC);
CREATE INDEX clusters_requested_key ON clusters (principal_key(requested_by), id DESC);
CREATE INDEX clusters_failed ON clusters (id DESC) WHERE desired_why ->> 'code' = 'install_failed';

-- The filters that somebody keeps under a name.
CREATE TABLE saved_views (
    principal text NOT NULL CHECK (principal <> ''),
    name      text NOT NULL CHECK (name <> ''),
    filter    text NOT NULL,
    saved_at  timestamptz NOT NULL,
    PRIMARY KEY (principal, name)
);

-- +goose Down
DROP TABLE saved_views;
DROP INDEX clusters_failed, clusters_requested_key, clusters_owner;

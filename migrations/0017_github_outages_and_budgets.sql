-- +goose Up

-- The permission that GitHub last reported for a person in a repository. While GitHub gives no answer, it counts for an hour,
-- and only for ending a cluster.
CREATE TABLE seen_permissions (
    installation bigint NOT NULL,
    repo         text NOT NULL CHECK (repo = lower(repo) AND repo <> ''), -- owner/name
    account      bigint NOT NULL CHECK (account > 0),                     -- GitHub's own number of the person
    login        text NOT NULL CHECK (login <> ''),
    permission   text NOT NULL CHECK (permission <> ''),
    teams        text[] NOT NULL DEFAULT '{}', -- of those the catalogue names, the ones the person is in
    seen_at      timestamptz NOT NULL,
    PRIMARY KEY (installation, repo, account)
);
CREATE INDEX seen_permissions_seen_at ON seen_permissions (seen_at);

-- What GitHub last reported as left of an installation's primary rate limits.
CREATE TABLE github_budgets (
    installation bigint NOT NULL, -- 0: the App itself
    resource     text NOT NULL CHECK (resource IN ('core', 'graphql')),
    allowed      integer NOT NULL CHECK (allowed > 0), -- calls an hour
    remaining    integer NOT NULL CHECK (remaining >= 0),
    resets_at    timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL,
    PRIMARY KEY (installation, resource)
) WITH (fillfactor = 50);

-- Since when GitHub has not answered calls of an installation. NULL: the last call was answered.
ALTER TABLE paces ADD COLUMN away_since timestamptz;

-- +goose Down
ALTER TABLE paces DROP COLUMN away_since;
DROP TABLE github_budgets;
DROP TABLE seen_permissions;

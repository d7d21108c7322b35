-- +goose Up

-- Links of accounts that the signed-in person confirmed and the account itself did not yet. The release before links an account at
-- once; while both run, its links need no code.
CREATE TABLE pending_links (
    account    text PRIMARY KEY CHECK (account ~ '^(github|slack):.+$'),
    number     text NOT NULL DEFAULT '',
    principal  text NOT NULL CHECK (principal <> ''),
    name       text NOT NULL DEFAULT '',
    proof      jsonb NOT NULL DEFAULT '{}',
    code       text NOT NULL CHECK (code ~ '^[0-9a-f]{64}$'), -- SHA-256 of the account and the code
    tries      integer NOT NULL DEFAULT 0,                    -- wrong ones
    expires_at timestamptz NOT NULL
);
CREATE INDEX pending_links_expired ON pending_links (expires_at);

-- +goose Down
DROP TABLE pending_links;

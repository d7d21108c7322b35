-- +goose Up

-- An account's link remembers what its owner asked for, and hands it over once the account is theirs. The link to that has a role, and asks
-- for the access when it is used. The state is of a proof that began at GitHub in the principal's browser: its SHA-256, used once.
ALTER TABLE links
    ADD COLUMN asked text NOT NULL DEFAULT '' CHECK (asked IN ('', 'kubeconfig', 'console')),
    ADD COLUMN role text NOT NULL DEFAULT '',
    ADD COLUMN state_hash text CHECK (state_hash ~ '^[0-9a-f]{64}$'),
    ADD COLUMN state_until timestamptz,
    DROP CONSTRAINT links_check2,
    ADD CONSTRAINT links_check2 CHECK ((cluster_id IS NULL) = (kind = 'account' AND asked = '')),
    ADD CONSTRAINT links_check4 CHECK (kind = 'account' OR asked = '' AND state_hash IS NULL),
    ADD CONSTRAINT links_check5 CHECK ((state_hash IS NULL) = (state_until IS NULL));
ALTER TABLE pending_links
    ADD COLUMN asked text NOT NULL DEFAULT '' CHECK (asked IN ('', 'kubeconfig', 'console')),
    ADD COLUMN role text NOT NULL DEFAULT '',
    ADD COLUMN cluster_id text REFERENCES clusters,
    ADD CONSTRAINT pending_links_asked CHECK ((cluster_id IS NULL) = (asked = ''));

-- +goose Down
ALTER TABLE pending_links DROP COLUMN asked, DROP COLUMN role, DROP COLUMN cluster_id;
DELETE FROM links WHERE asked <> '';
ALTER TABLE links DROP CONSTRAINT links_check2, DROP COLUMN asked, DROP COLUMN role, DROP COLUMN state_hash, DROP COLUMN state_until;
ALTER TABLE links ADD CONSTRAINT links_check2 CHECK ((kind = 'account') = (cluster_id IS NULL));

-- +goose Up

-- A server of the release before cannot open a proof beside this one: its statement needs the index that goes. Its next round may be a new server's.

-- Replicas may have different documents of an account for a while: each version is proven by itself.
DROP INDEX proofs_one_open;
CREATE UNIQUE INDEX proofs_one_open ON proofs (platform, account, version) WHERE closed_at IS NULL;

-- How many clusters an account has, and whether one of them has it for itself, is counted from the index alone.
DROP INDEX clusters_account;
CREATE INDEX clusters_account ON clusters (account) INCLUDE (exclusive) WHERE account <> '' AND destroyed_at IS NULL;

-- +goose Down
DROP INDEX clusters_account;
CREATE INDEX clusters_account ON clusters (account) WHERE account <> '' AND destroyed_at IS NULL;

UPDATE proofs p SET closed_at = now(), outcome = 'stopped' WHERE closed_at IS NULL
    AND EXISTS (SELECT FROM proofs n WHERE (n.platform, n.account) = (p.platform, p.account) AND n.round > p.round AND n.closed_at IS NULL);
DROP INDEX proofs_one_open;
CREATE UNIQUE INDEX proofs_one_open ON proofs (platform, account) WHERE closed_at IS NULL;

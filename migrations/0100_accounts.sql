-- +goose Up

-- The catalogue's name of the cloud account that a cluster was accepted for; empty: the installation's own. The account's id and the references to
-- its credentials stand in the spec.
ALTER TABLE clusters ADD COLUMN account text NOT NULL DEFAULT '';
CREATE INDEX clusters_account ON clusters (account) WHERE account <> '' AND destroyed_at IS NULL;
CREATE INDEX reservations_asked ON reservations (account, region, asked_at DESC);

-- +goose StatementBegin
CREATE FUNCTION clusters_account_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the account of cluster % never changes', old.id USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_account_guard BEFORE UPDATE OF account ON clusters
    FOR EACH ROW WHEN (new.account IS DISTINCT FROM old.account) EXECUTE FUNCTION clusters_account_guard();

-- +goose Down
DROP TRIGGER clusters_account_guard ON clusters;
DROP FUNCTION clusters_account_guard();
DROP INDEX reservations_asked, clusters_account;
ALTER TABLE clusters DROP COLUMN account;

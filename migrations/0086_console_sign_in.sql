-- +goose Up

-- The reader of an account of the console signs in with its password, or through ocpctl, the cluster's OpenID provider. Then there is no password.
ALTER TABLE access ADD COLUMN openid boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT access_openid CHECK (NOT openid OR kind = 'console'),
    DROP CONSTRAINT access_minted,
    ADD CONSTRAINT access_minted CHECK ((minted_at IS NULL) = (expires_at IS NULL) AND (ref = '') = (minted_at IS NULL OR openid) AND (minted_at IS NULL OR attempt IS NOT NULL));
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION access_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.id, new.cluster_id, new.number, new.reader, new.role, new.by_right, new.run_id, new.run_attempt, new.run_job, new.lifetime, new.account, new.asked_at, new.kind, new.openid)
        IS DISTINCT FROM (old.id, old.cluster_id, old.number, old.reader, old.role, old.by_right, old.run_id, old.run_attempt, old.run_job, old.lifetime, old.account, old.asked_at, old.kind, old.openid) THEN
        RAISE EXCEPTION 'access % was made for something else', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.revoked_at IS NOT NULL AND new.revoked_at IS DISTINCT FROM old.revoked_at OR old.removed_at IS NOT NULL AND new.removed_at IS DISTINCT FROM old.removed_at THEN
        RAISE EXCEPTION 'access % is revoked for good', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

-- +goose Down
-- The release before knows passwords only. What it would not know of is forgotten here; it ends with its cluster.
DELETE FROM links WHERE access_id IN (SELECT id FROM access WHERE openid);
DELETE FROM access WHERE openid;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION access_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.id, new.cluster_id, new.number, new.reader, new.role, new.by_right, new.run_id, new.run_attempt, new.run_job, new.lifetime, new.account, new.asked_at, new.kind)
        IS DISTINCT FROM (old.id, old.cluster_id, old.number, old.reader, old.role, old.by_right, old.run_id, old.run_attempt, old.run_job, old.lifetime, old.account, old.asked_at, old.kind) THEN
        RAISE EXCEPTION 'access % was made for something else', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.revoked_at IS NOT NULL AND new.revoked_at IS DISTINCT FROM old.revoked_at OR old.removed_at IS NOT NULL AND new.removed_at IS DISTINCT FROM old.removed_at THEN
        RAISE EXCEPTION 'access % is revoked for good', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
ALTER TABLE access DROP CONSTRAINT access_minted, DROP CONSTRAINT access_openid, DROP COLUMN openid,
    ADD CONSTRAINT access_minted CHECK ((minted_at IS NULL) = (expires_at IS NULL) AND (minted_at IS NULL) = (ref = '') AND (minted_at IS NULL OR attempt IS NOT NULL));

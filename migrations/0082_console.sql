-- +goose Up

-- An access is a kubeconfig, or an account of the cluster's own OAuth, with which its reader opens the console.
ALTER TABLE access ADD COLUMN kind text NOT NULL DEFAULT 'kubeconfig' CHECK (kind IN ('kubeconfig', 'console'));
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
ALTER TABLE links DROP CONSTRAINT links_kind_check, ADD CONSTRAINT links_kind_check CHECK (kind IN ('kubeconfig', 'kubeadmin', 'account', 'admin-kubeconfig', 'console')),
    DROP CONSTRAINT links_check3, ADD CONSTRAINT links_check3 CHECK (access_id IS NULL OR kind IN ('kubeconfig', 'console'));

-- +goose Down
-- The release before knows kubeconfigs only. What it would not know of is forgotten here; it ends with its cluster.
DELETE FROM links WHERE kind = 'console';
DELETE FROM access WHERE kind = 'console';
ALTER TABLE links DROP CONSTRAINT links_kind_check, ADD CONSTRAINT links_kind_check CHECK (kind IN ('kubeconfig', 'kubeadmin', 'account', 'admin-kubeconfig')),
    DROP CONSTRAINT links_check3, ADD CONSTRAINT links_check3 CHECK (access_id IS NULL OR kind = 'kubeconfig');
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION access_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.id, new.cluster_id, new.number, new.reader, new.role, new.by_right, new.run_id, new.run_attempt, new.run_job, new.lifetime, new.account, new.asked_at)
        IS DISTINCT FROM (old.id, old.cluster_id, old.number, old.reader, old.role, old.by_right, old.run_id, old.run_attempt, old.run_job, old.lifetime, old.account, old.asked_at) THEN
        RAISE EXCEPTION 'access % was made for something else', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.revoked_at IS NOT NULL AND new.revoked_at IS DISTINCT FROM old.revoked_at OR old.removed_at IS NOT NULL AND new.removed_at IS DISTINCT FROM old.removed_at THEN
        RAISE EXCEPTION 'access % is revoked for good', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
ALTER TABLE access DROP COLUMN kind;

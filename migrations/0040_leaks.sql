-- +goose Up

-- A leak opens the teardown of a released cluster again. When it was released before stands in the audit trail.
ALTER TABLE clusters
    ADD COLUMN reopened_at timestamptz,
    ADD COLUMN reopened integer NOT NULL DEFAULT 0 CHECK (reopened >= 0), -- how often
    ADD CONSTRAINT clusters_reopened CHECK ((reopened = 0) = (reopened_at IS NULL));
CREATE INDEX clusters_reopened_at ON clusters (reopened_at) WHERE reopened_at IS NOT NULL;
CREATE INDEX orphans_cleanup ON orphans (cleanup_cluster) WHERE cleanup_cluster IS NOT NULL;

-- Only resources whose removal was allowed open it, and every time counts.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.desired = 'absent' AND new.desired <> 'absent' THEN
        RAISE EXCEPTION 'the desired state of cluster % is absent, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.name, new.platform, new.profile, new.base_domain, new.version, new.region, new.spec, new.end_max, new.created_at)
        IS DISTINCT FROM
       (old.id, old.name, old.platform, old.profile, old.base_domain, old.version, old.region, old.spec, old.end_max, old.created_at) THEN
        RAISE EXCEPTION 'what was accepted of cluster % never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF new.row_version < old.row_version OR new.pokes < old.pokes THEN
        RAISE EXCEPTION 'version and pokes of cluster % only rise', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.status = 'DESTROYED' AND new.status <> 'DESTROYED' THEN
        IF new.status <> 'DESTROYING' OR new.reopened <> old.reopened + 1 OR NOT EXISTS (
            SELECT FROM orphans o WHERE o.cleanup_cluster = old.id AND o.state = 'approved') THEN
            RAISE EXCEPTION 'cluster % is released; only a leak whose removal is allowed opens its teardown again', old.id USING ERRCODE = 'check_violation';
        END IF;
    ELSIF (new.reopened, new.reopened_at) IS DISTINCT FROM (old.reopened, old.reopened_at) THEN
        RAISE EXCEPTION 'cluster % is not released, so its teardown cannot be opened again', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

-- A proof of zero from before does not count again: the newest attempt was opened since.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_release_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id AND a.closed_at IS NULL) THEN
        RAISE EXCEPTION 'cluster % has an open attempt', new.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.reopened > 0 OR EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id)) AND 2 > (
        SELECT count(*) FROM verifications v
        WHERE v.clean AND v.attempt_id = (SELECT a.id FROM attempts a WHERE a.cluster_id = new.id
            AND (new.reopened_at IS NULL OR a.opened_at >= new.reopened_at) ORDER BY a.number DESC LIMIT 1)) THEN
        RAISE EXCEPTION 'cluster % has no proof of zero', new.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN (
    'orphan',
    'overdue',
    'stuck',
    'blocked',
    'remains',
    'delivery_failing',
    'job_failed',
    'slack_channel',
    'slack_refused',
    'access_not_revoked',
    'sweep_failing',
    'cloud_gone',
    'archive_missing',
    'shown_behind'
));

-- +goose Down
DELETE FROM findings WHERE kind IN ('cloud_gone', 'archive_missing', 'shown_behind');
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN (
    'orphan',
    'overdue',
    'stuck',
    'blocked',
    'remains',
    'delivery_failing',
    'job_failed',
    'slack_channel',
    'slack_refused',
    'access_not_revoked',
    'sweep_failing'
));
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_release_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id AND a.closed_at IS NULL) THEN
        RAISE EXCEPTION 'cluster % has an open attempt', new.id USING ERRCODE = 'check_violation';
    END IF;
    IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id) AND 2 > (
        SELECT count(*) FROM verifications v
        WHERE v.clean AND v.attempt_id = (SELECT a.id FROM attempts a WHERE a.cluster_id = new.id ORDER BY a.number DESC LIMIT 1)) THEN
        RAISE EXCEPTION 'cluster % has no proof of zero', new.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.desired = 'absent' AND new.desired <> 'absent' THEN
        RAISE EXCEPTION 'the desired state of cluster % is absent, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.name, new.platform, new.profile, new.base_domain, new.version, new.region, new.spec, new.end_max, new.created_at)
        IS DISTINCT FROM
       (old.id, old.name, old.platform, old.profile, old.base_domain, old.version, old.region, old.spec, old.end_max, old.created_at) THEN
        RAISE EXCEPTION 'what was accepted of cluster % never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF new.row_version < old.row_version OR new.pokes < old.pokes THEN
        RAISE EXCEPTION 'version and pokes of cluster % only rise', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.status = 'DESTROYED' AND new.status <> 'DESTROYED' THEN
        RAISE EXCEPTION 'cluster % is released, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
DROP INDEX orphans_cleanup;
DROP INDEX clusters_reopened_at;
ALTER TABLE clusters DROP CONSTRAINT clusters_reopened, DROP COLUMN reopened, DROP COLUMN reopened_at;

-- +goose Up

-- A ready cluster is looked into for links again and again, and such an attempt makes nothing that a teardown has to know of. So its row may be
-- removed once it succeeded, unless it is the newest attempt: that one is the fence. The other indexes are for the foreign keys that are checked
-- with each removed row.
CREATE INDEX attempts_looks ON attempts (closed_at) WHERE kind = 'inform' AND outcome = 'succeeded';
CREATE INDEX artifacts_attempt ON artifacts (attempt_id);
CREATE INDEX reservations_attempt ON reservations (attempt_id);
CREATE INDEX refreshes_job ON refreshes (job_id);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION attempts_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF old.kind = 'inform' AND old.outcome = 'succeeded' AND old.recorded_at IS NULL AND EXISTS (
            SELECT 1 FROM attempts a WHERE a.cluster_id = old.cluster_id AND a.number > old.number) THEN
            RETURN old;
        END IF;
        RAISE EXCEPTION 'attempt % is a fence and stays', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.cluster_id AND a.number >= new.number) THEN
            RAISE EXCEPTION 'attempt numbers of cluster % only rise', new.cluster_id USING ERRCODE = 'unique_violation';
        END IF;
        RETURN new;
    END IF;
    IF old.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'attempt % is closed, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.cluster_id, new.job_id, new.number, new.kind, new.token_id, new.opened_at) IS DISTINCT FROM
       (old.id, old.cluster_id, old.job_id, old.number, old.kind, old.token_id, old.opened_at)
        OR (old.claimed_by     IS NOT NULL AND new.claimed_by     IS DISTINCT FROM old.claimed_by)
        OR (old.claimed_at     IS NOT NULL AND new.claimed_at     IS DISTINCT FROM old.claimed_at)
        OR (old.recorded_at    IS NOT NULL AND new.recorded_at    IS DISTINCT FROM old.recorded_at)
        OR (old.infra_id       IS NOT NULL AND new.infra_id       IS DISTINCT FROM old.infra_id)
        OR (old.cluster_uuid   IS NOT NULL AND new.cluster_uuid   IS DISTINCT FROM old.cluster_uuid)
        OR (old.cco_name       IS NOT NULL AND new.cco_name       IS DISTINCT FROM old.cco_name)
        OR (old.account        IS NOT NULL AND new.account        IS DISTINCT FROM old.account)
        OR (old.region         IS NOT NULL AND new.region         IS DISTINCT FROM old.region)
        OR (old.release_digest IS NOT NULL AND new.release_digest IS DISTINCT FROM old.release_digest)
        OR (old.metadata       IS NOT NULL AND new.metadata       IS DISTINCT FROM old.metadata) THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.stop_asked AND NOT new.stop_asked THEN
        RAISE EXCEPTION 'the stop of attempt % is never taken back', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX refreshes_job, reservations_attempt, artifacts_attempt, attempts_looks;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION attempts_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'attempt % is a fence and stays', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.cluster_id AND a.number >= new.number) THEN
            RAISE EXCEPTION 'attempt numbers of cluster % only rise', new.cluster_id USING ERRCODE = 'unique_violation';
        END IF;
        RETURN new;
    END IF;
    IF old.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'attempt % is closed, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.cluster_id, new.job_id, new.number, new.kind, new.token_id, new.opened_at) IS DISTINCT FROM
       (old.id, old.cluster_id, old.job_id, old.number, old.kind, old.token_id, old.opened_at)
        OR (old.claimed_by     IS NOT NULL AND new.claimed_by     IS DISTINCT FROM old.claimed_by)
        OR (old.claimed_at     IS NOT NULL AND new.claimed_at     IS DISTINCT FROM old.claimed_at)
        OR (old.recorded_at    IS NOT NULL AND new.recorded_at    IS DISTINCT FROM old.recorded_at)
        OR (old.infra_id       IS NOT NULL AND new.infra_id       IS DISTINCT FROM old.infra_id)
        OR (old.cluster_uuid   IS NOT NULL AND new.cluster_uuid   IS DISTINCT FROM old.cluster_uuid)
        OR (old.cco_name       IS NOT NULL AND new.cco_name       IS DISTINCT FROM old.cco_name)
        OR (old.account        IS NOT NULL AND new.account        IS DISTINCT FROM old.account)
        OR (old.region         IS NOT NULL AND new.region         IS DISTINCT FROM old.region)
        OR (old.release_digest IS NOT NULL AND new.release_digest IS DISTINCT FROM old.release_digest)
        OR (old.metadata       IS NOT NULL AND new.metadata       IS DISTINCT FROM old.metadata) THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.stop_asked AND NOT new.stop_asked THEN
        RAISE EXCEPTION 'the stop of attempt % is never taken back', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

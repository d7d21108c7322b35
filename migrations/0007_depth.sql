-- +goose Up

-- Whose problem a failure is, and what to do about it, in the runner's words.
ALTER TABLE attempts
    ADD COLUMN whose text NOT NULL DEFAULT '' CHECK (whose IN ('', 'user', 'quota', 'cloud', 'installer', 'ocpctl')),
    ADD COLUMN next text NOT NULL DEFAULT '',
    ADD COLUMN installer_sha256 text CHECK (installer_sha256 ~ '^[0-9a-f]{64}$'), -- written once
    ADD COLUMN late_seconds integer CHECK (late_seconds > 0); -- beside expected_seconds: nine of ten took no longer
ALTER TABLE clusters
    ADD COLUMN fail_whose text NOT NULL DEFAULT '' CHECK (fail_whose IN ('', 'user', 'quota', 'cloud', 'installer', 'ocpctl')),
    ADD COLUMN fail_next text NOT NULL DEFAULT '',
    ADD COLUMN place integer NOT NULL DEFAULT 0 CHECK (place >= 0), -- in line for room
    ADD COLUMN progress_late timestamptz,
    ADD CONSTRAINT clusters_place_in_line CHECK (place = 0 OR phase = 'awaiting_capacity');

-- Room in a cloud account and region: what was set aside for a cluster, or what it waits for. One row per cluster, its
-- newest demand. Whether it holds anything is not written here but follows from the attempt and the cluster.
CREATE TABLE reservations (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    attempt_id text NOT NULL REFERENCES attempts, -- which asked
    account    text NOT NULL CHECK (account <> ''),
    region     text NOT NULL CHECK (region <> ''),
    state      text NOT NULL CHECK (state IN ('granted', 'waiting')),
    items      jsonb NOT NULL CHECK (jsonb_typeof(items) = 'array'), -- the quotas, as measured and needed
    words      text NOT NULL DEFAULT '', -- what it waits for
    place      integer NOT NULL DEFAULT 0 CHECK (place >= 0), -- in line, when it asked
    since      timestamptz NOT NULL, -- it is in this state
    asked_at   timestamptz NOT NULL,
    freed_at   timestamptz, -- when it last gave room back or left the line; NULL: it did neither
    CHECK ((state = 'waiting') = (place > 0))
);
CREATE INDEX reservations_room ON reservations (account, region, state);
CREATE INDEX reservations_freed ON reservations (account, region, freed_at DESC) WHERE freed_at IS NOT NULL;

-- Recording is a gate: nothing is made before everything a teardown needs is written down.
-- +goose StatementBegin
CREATE FUNCTION attempts_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.installer_sha256 IS NOT NULL AND new.installer_sha256 IS DISTINCT FROM old.installer_sha256 THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.cco_name IS NULL AND new.cco_name IS NOT NULL AND num_nulls(new.account, new.region) > 0 THEN
        RAISE EXCEPTION 'a ccoctl name of attempt % is recorded with its account and region', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.infra_id IS NOT NULL OR new.infra_id IS NULL THEN
        RETURN new;
    END IF;
    IF num_nulls(new.cluster_uuid, new.account, new.region, new.release_digest, new.metadata) > 0 THEN
        RAISE EXCEPTION 'an infraID of attempt % is recorded with everything a teardown needs', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM artifacts s WHERE s.attempt_id = new.id AND s.infra_id = new.infra_id
                   AND s.artifact_type = 'INSTALL_DIR_SNAPSHOT') THEN
        RAISE EXCEPTION 'an infraID of attempt % is recorded with a snapshot of its install directory', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_gate BEFORE UPDATE OF infra_id, cco_name, installer_sha256 ON attempts
    FOR EACH ROW EXECUTE FUNCTION attempts_gate();

-- +goose Down
DROP TRIGGER attempts_gate ON attempts;
DROP FUNCTION attempts_gate;
DROP TABLE reservations;
ALTER TABLE clusters
    DROP CONSTRAINT clusters_place_in_line,
    DROP COLUMN fail_whose,
    DROP COLUMN fail_next,
    DROP COLUMN place,
    DROP COLUMN progress_late;
ALTER TABLE attempts
    DROP COLUMN whose,
    DROP COLUMN next,
    DROP COLUMN installer_sha256,
    DROP COLUMN late_seconds;

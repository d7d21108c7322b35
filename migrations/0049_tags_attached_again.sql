-- +goose Up

-- What a sweep saw of a living cluster without the cluster's tags, on a cloud on which runners attach them, gets them by an attempt.
ALTER TABLE seen
    ADD COLUMN untagged_of text REFERENCES clusters,                                  -- the living cluster whose tags it lacks; NULL: it has them, or gets none
    ADD COLUMN untagged integer NOT NULL DEFAULT 0 CHECK (untagged >= 0),             -- sweeps in a row that saw it so
    ADD CONSTRAINT seen_untagged CHECK ((untagged = 0) = (untagged_of IS NULL));
CREATE INDEX seen_untagged_of ON seen (untagged_of) WHERE untagged_of IS NOT NULL;
ALTER TABLE clusters ADD COLUMN tagged_at timestamptz; -- when the newest such attempt began that was not stopped
ALTER TABLE attempts
    DROP CONSTRAINT attempts_kind_check,
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake', 'observe', 'tag')),
    DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking', 'observing', 'tagging'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS',
    'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE', 'TAG'));

-- A server of the release before takes such an attempt for a teardown that failed, so it must not run beside new ones.
UPDATE schema_support SET oldest = 49;

-- +goose Down
UPDATE schema_support SET oldest = 47;
-- The release before knows no such attempts. Of those that are over, what it knows that is most alike stays: a look inside, which records
-- nothing either.
UPDATE clusters c SET seen = a.number FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'tag'
    AND a.number = (SELECT max(number) FROM attempts l WHERE l.cluster_id = c.id);
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that does not attach tags again'
WHERE kind = 'tag' AND closed_at IS NULL;
UPDATE jobs SET job_type = 'OBSERVE', status = CASE WHEN ended_at IS NULL THEN 'FAILED' ELSE status END,
    error_code = CASE WHEN ended_at IS NULL THEN 'Cancelled' ELSE error_code END,
    error_message = CASE WHEN ended_at IS NULL THEN 'this installation went back to a release that does not attach tags again' ELSE error_message END,
    ended_at = coalesce(ended_at, clock_timestamp())
WHERE job_type = 'TAG';
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET kind = 'observe' WHERE kind = 'tag';
UPDATE attempts SET phase = 'observing' WHERE phase = 'tagging';
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts
    DROP CONSTRAINT attempts_kind_check,
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake', 'observe')),
    DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking', 'observing'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS',
    'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE'));
ALTER TABLE clusters DROP COLUMN tagged_at;
DROP INDEX seen_untagged_of;
ALTER TABLE seen DROP CONSTRAINT seen_untagged, DROP COLUMN untagged, DROP COLUMN untagged_of;

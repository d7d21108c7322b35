-- +goose Up

-- Before something follows from that nobody uses a cluster, a runner looks inside it for people's requests to its API.
ALTER TABLE clusters
    ADD COLUMN observed_at timestamptz,                                                           -- when such a look was last answered
    ADD COLUMN observe_failures integer NOT NULL DEFAULT 0 CHECK (observe_failures >= 0),          -- in a row, for the same step
    ADD COLUMN observe_failed_at timestamptz,                                                     -- when the newest of them ended
    ADD CONSTRAINT clusters_observe_failed CHECK ((observe_failures = 0) = (observe_failed_at IS NULL));
ALTER TABLE attempts
    ADD COLUMN use_seen timestamptz, -- of an observe attempt: the newest hour in which a person sent requests; NULL: none did, or nothing was seen
    ADD CONSTRAINT attempts_use CHECK (use_seen IS NULL OR kind = 'observe'),
    DROP CONSTRAINT attempts_kind_check,
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake', 'observe')),
    DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking', 'observing'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS',
    'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE'));

-- A server of the release before takes such an attempt for a teardown that failed, so it must not run beside new ones.
UPDATE schema_support SET oldest = 47;

-- +goose Down
UPDATE schema_support SET oldest = 43;
-- The release before knows no such attempts. Of those that are over, what it knows that is most alike stays: a scaling, which records
-- nothing either.
UPDATE clusters c SET seen = a.number FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'observe'
    AND a.number = (SELECT max(number) FROM attempts l WHERE l.cluster_id = c.id);
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that does not look inside clusters'
WHERE kind = 'observe' AND closed_at IS NULL;
UPDATE jobs SET job_type = 'ACCESS', status = CASE WHEN ended_at IS NULL THEN 'FAILED' ELSE status END,
    error_code = CASE WHEN ended_at IS NULL THEN 'Cancelled' ELSE error_code END,
    error_message = CASE WHEN ended_at IS NULL THEN 'this installation went back to a release that does not look inside clusters' ELSE error_message END,
    ended_at = coalesce(ended_at, clock_timestamp())
WHERE job_type = 'OBSERVE';
ALTER TABLE attempts DROP CONSTRAINT attempts_use, DROP COLUMN use_seen;
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET kind = 'scale', workers_wanted = 0 WHERE kind = 'observe';
UPDATE attempts SET phase = 'scaling' WHERE phase = 'observing';
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts
    DROP CONSTRAINT attempts_kind_check,
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake')),
    DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS', 'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP'));
ALTER TABLE clusters
    DROP CONSTRAINT clusters_observe_failed, DROP COLUMN observed_at, DROP COLUMN observe_failures, DROP COLUMN observe_failed_at;

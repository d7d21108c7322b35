-- +goose Up

-- A ready cluster may sleep: without workers, or with all machines stopped. What should be and what was seen are two columns, and between
-- the two power is 'changing' from the transaction that opens the attempt.
ALTER TABLE clusters
    ADD COLUMN sleep_mode text CHECK (sleep_mode IN ('workers', 'stopped')),    -- how it sleeps, frozen at acceptance; NULL: it cannot
    ADD COLUMN asleep_cents integer CHECK (asleep_cents >= 0),                  -- list price of an hour asleep; NULL: its profile names none
    ADD COLUMN sleep_wanted boolean NOT NULL DEFAULT false,
    ADD COLUMN sleep_until timestamptz,                                         -- it is woken at this time; NULL: somebody has to
    ADD COLUMN sleep_why text NOT NULL DEFAULT '',
    ADD COLUMN power text NOT NULL DEFAULT '' CHECK (power IN ('', 'changing', 'asleep')), -- as last seen; empty: awake
    ADD COLUMN sleep_failures integer NOT NULL DEFAULT 0 CHECK (sleep_failures >= 0),
    ADD COLUMN sleep_retry_at timestamptz,
    ADD CONSTRAINT clusters_sleep_wanted CHECK (sleep_mode IS NOT NULL OR NOT sleep_wanted AND power = ''),
    ADD CONSTRAINT clusters_sleep_until CHECK (sleep_wanted OR sleep_until IS NULL),
    DROP CONSTRAINT clusters_status_phase,
    ADD CONSTRAINT clusters_status_phase CHECK (
        (status = 'PENDING' AND phase IN ('queued', 'awaiting_approval', 'awaiting_capacity')) OR
        (status = 'CREATING' AND phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring', 'cleaning')) OR
        (status = 'READY' AND phase IN ('ready', 'degraded', 'scaled_down', 'expiring', 'going_to_sleep', 'asleep', 'waking')) OR
        (status = 'DESTROYING' AND phase IN ('stopping', 'restoring', 'destroying', 'verifying')) OR
        (status = 'DESTROYED' AND phase = 'released') OR
        (status = 'FAILED' AND phase IN ('create_failed', 'destroy_blocked', 'abandoned')));

-- Whoever may be scaled may sleep without workers, as a profile says that says nothing about sleep.
UPDATE clusters SET sleep_mode = 'workers' WHERE destroyed_at IS NULL AND workers_base > 0 AND workers_least IS NOT NULL;

ALTER TABLE attempts
    ADD COLUMN asleep_seen boolean, -- of a sleep or wake attempt: whether the cluster was seen asleep, or awake, at its end; NULL: neither
    DROP CONSTRAINT attempts_kind_check,
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake')),
    ADD CONSTRAINT attempts_asleep CHECK (asleep_seen IS NULL OR kind IN ('sleep', 'wake')),
    DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS', 'SLEEP', 'WAKE'));
ALTER TABLE runner_queue DROP CONSTRAINT runner_queue_kind_check;
ALTER TABLE runner_queue ADD CONSTRAINT runner_queue_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake'));

ALTER TABLE usage_samples
    ADD COLUMN saved_hourly integer NOT NULL DEFAULT 0 CHECK (saved_hourly >= 0), -- what an hour costs less because the cluster is asleep
    ADD COLUMN stopped boolean NOT NULL DEFAULT false;                            -- no machine runs

-- +goose Down
-- The release before cannot wake a cluster. It shows one that is asleep as degraded, which it is, and ends it on time. Of the attempts
-- only those that are over are left, as what it knows that is most alike: a scaling, which records nothing either.
UPDATE clusters c SET seen = a.number FROM attempts a WHERE a.cluster_id = c.id AND a.kind IN ('sleep', 'wake')
    AND a.number = (SELECT max(number) FROM attempts l WHERE l.cluster_id = c.id);
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that cannot put clusters to sleep'
WHERE kind IN ('sleep', 'wake') AND closed_at IS NULL;
UPDATE jobs SET status = 'FAILED', ended_at = clock_timestamp(), error_code = 'Cancelled', error_message = 'this installation went back to a release that cannot put clusters to sleep'
WHERE job_type IN ('SLEEP', 'WAKE') AND ended_at IS NULL;
UPDATE clusters SET phase = 'degraded', row_version = row_version + 1,
    why = 'this installation went back to a release that cannot wake it: start its machines by hand, or scale it'
WHERE phase IN ('going_to_sleep', 'asleep', 'waking');
ALTER TABLE usage_samples DROP COLUMN saved_hourly, DROP COLUMN stopped;
ALTER TABLE attempts DROP CONSTRAINT attempts_asleep, DROP COLUMN asleep_seen;
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET kind = 'scale', workers_wanted = 0 WHERE kind IN ('sleep', 'wake');
UPDATE attempts SET phase = 'scaling' WHERE phase IN ('going_to_sleep', 'waking');
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts
    DROP CONSTRAINT attempts_kind_check,
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access')),
    DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS')) NOT VALID;
DELETE FROM runner_queue WHERE kind IN ('sleep', 'wake');
ALTER TABLE runner_queue DROP CONSTRAINT runner_queue_kind_check;
ALTER TABLE runner_queue ADD CONSTRAINT runner_queue_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access'));
ALTER TABLE clusters
    DROP CONSTRAINT clusters_sleep_wanted, DROP CONSTRAINT clusters_sleep_until,
    DROP COLUMN sleep_mode, DROP COLUMN asleep_cents, DROP COLUMN sleep_wanted, DROP COLUMN sleep_until, DROP COLUMN sleep_why, DROP COLUMN power,
    DROP COLUMN sleep_failures, DROP COLUMN sleep_retry_at,
    DROP CONSTRAINT clusters_status_phase,
    ADD CONSTRAINT clusters_status_phase CHECK (
        (status = 'PENDING' AND phase IN ('queued', 'awaiting_approval', 'awaiting_capacity')) OR
        (status = 'CREATING' AND phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring', 'cleaning')) OR
        (status = 'READY' AND phase IN ('ready', 'degraded', 'scaled_down', 'expiring')) OR
        (status = 'DESTROYING' AND phase IN ('stopping', 'restoring', 'destroying', 'verifying')) OR
        (status = 'DESTROYED' AND phase = 'released') OR
        (status = 'FAILED' AND phase IN ('create_failed', 'destroy_blocked', 'abandoned')));

-- +goose Up

-- How each kind of work on a living cluster stands, by kind: number of the newest request (wanted), of the newest that was met or given up (done),
-- tries in a row that failed (failures), no new try before (retry_at), last done (done_at), newest attempt that was accounted for (seen). What is
-- zero may be left out. It is part of the cluster's row because a lock reads that row again when it waited, but not rows that are joined to it.
ALTER TABLE clusters ADD COLUMN work jsonb NOT NULL DEFAULT '{}';
UPDATE clusters SET work = jsonb_strip_nulls(jsonb_build_object(
        'scale', jsonb_build_object('wanted', CASE WHEN workers_wanted IS NOT NULL THEN 1 END, 'failures', scale_failures, 'seen', seen,
            'retry_at', CASE WHEN status = 'READY' AND workers_wanted IS NOT NULL THEN retry_at END),
        'configure', jsonb_build_object('wanted', addons_wanted, 'done', addons_done, 'failures', addon_failures, 'seen', seen,
            'retry_at', CASE WHEN status = 'READY' AND addons_wanted > addons_done THEN retry_at END),
        'access', jsonb_build_object('wanted', access_wanted, 'done', access_done, 'failures', access_failures, 'retry_at', access_retry_at, 'seen', seen),
        'sleep', jsonb_build_object('failures', CASE WHEN sleep_wanted THEN sleep_failures END, 'retry_at', CASE WHEN sleep_wanted THEN sleep_retry_at END, 'seen', seen),
        'wake', jsonb_build_object('failures', CASE WHEN NOT sleep_wanted THEN sleep_failures END, 'retry_at', CASE WHEN NOT sleep_wanted THEN sleep_retry_at END, 'seen', seen),
        'observe', jsonb_build_object('failures', observe_failures, 'retry_at', observe_failed_at + interval '30 seconds', 'done_at', observed_at, 'seen', seen),
        'tag', jsonb_build_object('done_at', tagged_at, 'seen', seen))),
    retry_at = CASE WHEN status <> 'READY' THEN retry_at END;
ALTER TABLE clusters
    ADD CONSTRAINT clusters_work CHECK (jsonb_typeof(work) = 'object'
        AND NOT jsonb_path_exists(work, '$.* ? (@.done > @.wanted || @.done > 0 && !exists(@.wanted) || @.failures < 0)')),
    DROP COLUMN scale_failures, DROP COLUMN addons_wanted, DROP COLUMN addons_done, DROP COLUMN addon_failures,
    DROP COLUMN access_wanted, DROP COLUMN access_done, DROP COLUMN access_failures, DROP COLUMN access_retry_at,
    DROP COLUMN sleep_failures, DROP COLUMN sleep_retry_at, DROP COLUMN observed_at, DROP COLUMN observe_failures, DROP COLUMN observe_failed_at,
    DROP COLUMN tagged_at;

-- Servers say which kinds of work there are. One that does not know a kind leaves its work and its attempts to those that do.
ALTER TABLE attempts
    ADD COLUMN request integer NOT NULL DEFAULT 0 CHECK (request >= 0), -- number of the newest request for its work when it was opened
    DROP CONSTRAINT attempts_scale, DROP CONSTRAINT attempts_configure, DROP CONSTRAINT attempts_access,
    DROP CONSTRAINT attempts_kind_check, ADD CONSTRAINT attempts_kind_check CHECK (kind ~ '^[a-z_]{1,40}$'),
    DROP CONSTRAINT attempts_phase_check, ADD CONSTRAINT attempts_phase_check CHECK (phase ~ '^[a-z_]{1,40}$');
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET request = coalesce(addons_wanted, access_wanted) WHERE kind IN ('configure', 'access');
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts DROP COLUMN addons_wanted, DROP COLUMN access_wanted;
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check, ADD CONSTRAINT jobs_job_type_check CHECK (job_type ~ '^[A-Z_]{1,40}$');
ALTER TABLE runner_queue DROP CONSTRAINT runner_queue_kind_check;

-- Older servers read the columns, so they must not run beside new ones.
UPDATE schema_support SET oldest = 70;

-- +goose Down
UPDATE schema_support SET oldest = 69;
DELETE FROM runner_queue WHERE kind NOT IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake');
ALTER TABLE runner_queue ADD CONSTRAINT runner_queue_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake'));

-- The release before knows no other kinds. What is over of them stays as a look inside, which records nothing either.
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that does not know this work'
WHERE kind NOT IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake', 'observe', 'tag') AND closed_at IS NULL;
UPDATE jobs SET job_type = 'OBSERVE', status = CASE WHEN ended_at IS NULL THEN 'FAILED' ELSE status END,
    error_code = CASE WHEN ended_at IS NULL THEN 'Cancelled' ELSE error_code END,
    error_message = CASE WHEN ended_at IS NULL THEN 'this installation went back to a release that does not know this work' ELSE error_message END,
    ended_at = coalesce(ended_at, clock_timestamp())
WHERE job_type NOT IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'CONFIGURE', 'ACCESS', 'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE', 'TAG');
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check, ADD CONSTRAINT jobs_job_type_check CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'CONFIGURE', 'ACCESS',
    'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE', 'TAG'));

ALTER TABLE attempts ADD COLUMN addons_wanted integer CHECK (addons_wanted > 0), ADD COLUMN access_wanted integer CHECK (access_wanted >= 0);
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET kind = 'observe' WHERE kind NOT IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake', 'observe', 'tag');
UPDATE attempts SET phase = 'observing' WHERE phase NOT IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
    'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking', 'observing', 'tagging');
UPDATE attempts SET addons_wanted = CASE WHEN kind = 'configure' THEN greatest(request, 1) END, access_wanted = CASE WHEN kind = 'access' THEN request END
WHERE kind IN ('configure', 'access');
UPDATE attempts SET workers_wanted = CASE WHEN kind = 'scale' THEN 0 END WHERE (kind = 'scale') <> (workers_wanted IS NOT NULL);
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts DROP COLUMN request, DROP CONSTRAINT attempts_kind_check, DROP CONSTRAINT attempts_phase_check,
    ADD CONSTRAINT attempts_scale CHECK ((kind = 'scale') = (workers_wanted IS NOT NULL)),
    ADD CONSTRAINT attempts_configure CHECK ((kind = 'configure') = (addons_wanted IS NOT NULL)),
    ADD CONSTRAINT attempts_access CHECK ((kind = 'access') = (access_wanted IS NOT NULL)),
    ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access', 'sleep', 'wake', 'observe', 'tag')),
    ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
        'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing', 'going_to_sleep', 'waking', 'observing', 'tagging'));

ALTER TABLE clusters
    ADD COLUMN scale_failures integer NOT NULL DEFAULT 0 CHECK (scale_failures >= 0),
    ADD COLUMN addons_wanted integer NOT NULL DEFAULT 0,
    ADD COLUMN addons_done integer NOT NULL DEFAULT 0,
    ADD COLUMN addon_failures integer NOT NULL DEFAULT 0 CHECK (addon_failures >= 0),
    ADD COLUMN access_wanted integer NOT NULL DEFAULT 0,
    ADD COLUMN access_done integer NOT NULL DEFAULT 0,
    ADD COLUMN access_failures integer NOT NULL DEFAULT 0 CHECK (access_failures >= 0),
    ADD COLUMN access_retry_at timestamptz,
    ADD COLUMN sleep_failures integer NOT NULL DEFAULT 0 CHECK (sleep_failures >= 0),
    ADD COLUMN sleep_retry_at timestamptz,
    ADD COLUMN observed_at timestamptz,
    ADD COLUMN observe_failures integer NOT NULL DEFAULT 0 CHECK (observe_failures >= 0),
    ADD COLUMN observe_failed_at timestamptz,
    ADD COLUMN tagged_at timestamptz;
UPDATE clusters SET
    seen = greatest(seen, (SELECT max((w.value ->> 'seen')::int) FROM jsonb_each(work) w)),
    retry_at = CASE WHEN status = 'READY' THEN greatest((work #>> '{scale,retry_at}')::timestamptz, (work #>> '{configure,retry_at}')::timestamptz) ELSE retry_at END,
    scale_failures = coalesce((work #>> '{scale,failures}')::int, 0),
    addons_wanted = coalesce((work #>> '{configure,wanted}')::int, 0),
    addons_done = coalesce((work #>> '{configure,done}')::int, 0),
    addon_failures = coalesce((work #>> '{configure,failures}')::int, 0),
    access_wanted = coalesce((work #>> '{access,wanted}')::int, 0),
    access_done = coalesce((work #>> '{access,done}')::int, 0),
    access_failures = coalesce((work #>> '{access,failures}')::int, 0),
    access_retry_at = (work #>> '{access,retry_at}')::timestamptz,
    sleep_failures = coalesce((work #>> ARRAY[CASE WHEN sleep_wanted THEN 'sleep' ELSE 'wake' END, 'failures'])::int, 0),
    sleep_retry_at = (work #>> ARRAY[CASE WHEN sleep_wanted THEN 'sleep' ELSE 'wake' END, 'retry_at'])::timestamptz,
    observed_at = (work #>> '{observe,done_at}')::timestamptz,
    observe_failures = coalesce((work #>> '{observe,failures}')::int, 0),
    observe_failed_at = CASE WHEN coalesce((work #>> '{observe,failures}')::int, 0) > 0
        THEN coalesce((work #>> '{observe,retry_at}')::timestamptz, clock_timestamp()) - interval '30 seconds' END,
    tagged_at = (work #>> '{tag,done_at}')::timestamptz;
ALTER TABLE clusters
    DROP COLUMN work,
    ADD CONSTRAINT clusters_addons_done CHECK (addons_done BETWEEN 0 AND addons_wanted),
    ADD CONSTRAINT clusters_access_done CHECK (access_done BETWEEN 0 AND access_wanted),
    ADD CONSTRAINT clusters_observe_failed CHECK ((observe_failures = 0) = (observe_failed_at IS NULL));

-- +goose Up

-- A cluster may sleep outside working hours. The schedule itself is in the catalogue. Whoever uses a cluster, or says so, keeps it awake.
ALTER TABLE clusters
    ADD COLUMN power_by text NOT NULL DEFAULT '' CHECK (power_by IN ('', 'hours')), -- who, or what, said last whether it should be asleep; empty: a person
    ADD COLUMN off_hours boolean NOT NULL DEFAULT false, -- it sleeps outside working hours, frozen at acceptance
    ADD COLUMN awake_until timestamptz,                  -- no schedule puts it to sleep before this
    ADD COLUMN active_at timestamptz,                    -- when it was last used, as far as ocpctl knows
    ADD COLUMN active_what text NOT NULL DEFAULT '',     -- what that was, for people
    ADD COLUMN hours_at timestamptz,                     -- when to look at the schedule again
    ADD COLUMN rest_warned timestamptz,                  -- the time to fall asleep that the newest warning was about
    ADD CONSTRAINT clusters_off_hours CHECK (sleep_mode IS NOT NULL OR NOT off_hours);
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS', 'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP'));

-- +goose Down
-- The release before knows no schedule: what one put to sleep is woken, and the jobs are shown as what they are most alike.
UPDATE clusters SET sleep_wanted = false, sleep_until = NULL, sleep_retry_at = NULL, wake_at = clock_timestamp(), row_version = row_version + 1
WHERE power_by = 'hours' AND sleep_wanted;
UPDATE jobs SET job_type = 'SLEEP' WHERE job_type = 'OFFHOURS_SCALE_DOWN';
UPDATE jobs SET job_type = 'WAKE' WHERE job_type = 'OFFHOURS_SCALE_UP';
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS', 'SLEEP', 'WAKE'));
ALTER TABLE clusters
    DROP CONSTRAINT clusters_off_hours,
    DROP COLUMN power_by, DROP COLUMN off_hours, DROP COLUMN awake_until, DROP COLUMN active_at, DROP COLUMN active_what, DROP COLUMN hours_at, DROP COLUMN rest_warned;

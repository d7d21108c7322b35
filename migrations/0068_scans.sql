-- +goose Up

-- A look through a cloud account is a scan, everywhere.
ALTER TABLE sweep_parts RENAME TO scan_parts;
ALTER TABLE sweep_reports RENAME TO scan_reports;
ALTER TABLE sweeps RENAME TO scans;
ALTER TABLE scan_parts RENAME COLUMN sweep_id TO scan_id;
ALTER TABLE scan_reports RENAME COLUMN sweep_id TO scan_id;
ALTER TABLE seen RENAME COLUMN last_sweep TO last_scan;
ALTER INDEX sweeps_one_open RENAME TO scans_one_open;
ALTER INDEX sweeps_pkey RENAME TO scans_pkey;
ALTER INDEX sweeps_token_id_key RENAME TO scans_token_id_key;
ALTER INDEX sweeps_platform_account_round_key RENAME TO scans_platform_account_round_key;
ALTER INDEX sweep_parts_pkey RENAME TO scan_parts_pkey;
ALTER INDEX sweep_reports_pkey RENAME TO scan_reports_pkey;
-- +goose StatementBegin
DO $$
DECLARE c record;
BEGIN
    FOR c IN SELECT conrelid::regclass AS of, conname FROM pg_constraint WHERE contype = 'c' AND conname LIKE 'sweep%' LOOP
        EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', c.of, c.conname, replace(c.conname, 'sweep', 'scan'));
    END LOOP;
END $$;
-- +goose StatementEnd

ALTER TABLE scan_parts DROP CONSTRAINT sweep_parts_sweep_id_fkey;
ALTER TABLE scan_reports DROP CONSTRAINT sweep_reports_sweep_id_fkey;
ALTER TABLE scans DROP CONSTRAINT scans_id_check;
UPDATE scans SET id = 'scn_' || substr(id, 5);
UPDATE scan_parts SET scan_id = 'scn_' || substr(scan_id, 5);
UPDATE scan_reports SET scan_id = 'scn_' || substr(scan_id, 5);
UPDATE seen SET last_scan = 'scn_' || substr(last_scan, 5) WHERE last_scan LIKE 'swp\_%';
ALTER TABLE scans ADD CONSTRAINT scans_id_check CHECK (id LIKE 'scn\_%');
ALTER TABLE scan_parts ADD CONSTRAINT scan_parts_scan_id_fkey FOREIGN KEY (scan_id) REFERENCES scans ON DELETE CASCADE;
ALTER TABLE scan_reports ADD CONSTRAINT scan_reports_scan_id_fkey FOREIGN KEY (scan_id) REFERENCES scans ON DELETE CASCADE;

ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
UPDATE findings SET kind = 'scan_failing' WHERE kind = 'sweep_failing';
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
    'scan_failing',
    'cloud_gone',
    'archive_missing',
    'archive_unknown',
    'shown_behind',
    'delivery_lost'
));

-- No job of a cluster has the type of a scan; the list of jobs adds the scans.
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'CONFIGURE', 'ACCESS',
    'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE', 'TAG'));

UPDATE deliveries SET source = 'poll' WHERE source = 'sweep';

-- Jobs under the old names are asked for again under the new ones, within a minute.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('river_job') IS NOT NULL THEN
        DELETE FROM river_job WHERE kind IN ('sweep', 'run_sweeps', 'launch_sweep', 'judge_sweep');
    END IF;
END $$;
-- +goose StatementEnd

-- Older servers read the tables under their old names, so they must not run beside new ones.
UPDATE schema_support SET oldest = 68;

-- +goose Down
UPDATE schema_support SET oldest = 66;

-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('river_job') IS NOT NULL THEN
        DELETE FROM river_job WHERE kind IN ('findings', 'run_scans', 'launch_scan', 'judge_scan');
    END IF;
END $$;
-- +goose StatementEnd
UPDATE deliveries SET source = 'sweep' WHERE source = 'poll';
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS',
    'SLEEP', 'WAKE', 'OFFHOURS_SCALE_DOWN', 'OFFHOURS_SCALE_UP', 'OBSERVE', 'TAG'));
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
UPDATE findings SET kind = 'sweep_failing' WHERE kind = 'scan_failing';
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
    'archive_unknown',
    'shown_behind',
    'delivery_lost'
));

ALTER TABLE scan_parts DROP CONSTRAINT scan_parts_scan_id_fkey;
ALTER TABLE scan_reports DROP CONSTRAINT scan_reports_scan_id_fkey;
ALTER TABLE scans DROP CONSTRAINT scans_id_check;
UPDATE scans SET id = 'swp_' || substr(id, 5);
UPDATE scan_parts SET scan_id = 'swp_' || substr(scan_id, 5);
UPDATE scan_reports SET scan_id = 'swp_' || substr(scan_id, 5);
UPDATE seen SET last_scan = 'swp_' || substr(last_scan, 5) WHERE last_scan LIKE 'scn\_%';
ALTER TABLE scans ADD CONSTRAINT sweeps_id_check CHECK (id LIKE 'swp\_%');
ALTER TABLE scan_parts ADD CONSTRAINT sweep_parts_sweep_id_fkey FOREIGN KEY (scan_id) REFERENCES scans ON DELETE CASCADE;
ALTER TABLE scan_reports ADD CONSTRAINT sweep_reports_sweep_id_fkey FOREIGN KEY (scan_id) REFERENCES scans ON DELETE CASCADE;
-- +goose StatementBegin
DO $$
DECLARE c record;
BEGIN
    FOR c IN SELECT conrelid::regclass AS of, conname FROM pg_constraint WHERE contype = 'c' AND conname LIKE 'scan%' LOOP
        EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', c.of, c.conname, replace(c.conname, 'scan', 'sweep'));
    END LOOP;
END $$;
-- +goose StatementEnd
ALTER INDEX scan_reports_pkey RENAME TO sweep_reports_pkey;
ALTER INDEX scan_parts_pkey RENAME TO sweep_parts_pkey;
ALTER INDEX scans_platform_account_round_key RENAME TO sweeps_platform_account_round_key;
ALTER INDEX scans_token_id_key RENAME TO sweeps_token_id_key;
ALTER INDEX scans_pkey RENAME TO sweeps_pkey;
ALTER INDEX scans_one_open RENAME TO sweeps_one_open;
ALTER TABLE seen RENAME COLUMN last_scan TO last_sweep;
ALTER TABLE scan_reports RENAME COLUMN scan_id TO sweep_id;
ALTER TABLE scan_parts RENAME COLUMN scan_id TO sweep_id;
ALTER TABLE scans RENAME TO sweeps;
ALTER TABLE scan_reports RENAME TO sweep_reports;
ALTER TABLE scan_parts RENAME TO sweep_parts;

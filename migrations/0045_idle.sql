-- +goose Up

-- A cluster that nobody uses is told of, put to sleep or ended, as its profile says, frozen at acceptance. Zero: that is not done.
-- destroy_at has one more end, and the two indexes that hold it are made anew.
ALTER TABLE clusters DROP CONSTRAINT clusters_end_within_max;
ALTER TABLE clusters DROP COLUMN destroy_at;
ALTER TABLE clusters
    ADD COLUMN idle_tell interval NOT NULL DEFAULT interval '0' CHECK (idle_tell >= interval '0'),
    ADD COLUMN idle_sleep interval NOT NULL DEFAULT interval '0' CHECK (idle_sleep >= interval '0'),
    ADD COLUMN idle_end interval NOT NULL DEFAULT interval '0' CHECK (idle_end >= interval '0'),
    ADD COLUMN use_extends boolean NOT NULL DEFAULT false, -- its time to live begins anew with each use, frozen at acceptance
    ADD COLUMN awake_since timestamptz,                    -- when it was last seen awake after it had slept
    ADD COLUMN idle_told timestamptz,                      -- when its people were last told that nobody uses it
    ADD COLUMN end_idle timestamptz,                       -- nobody used it for too long
    ADD CONSTRAINT clusters_idle_told CHECK (idle_tell > interval '0' OR idle_sleep = interval '0' AND idle_end = interval '0'),
    ADD CONSTRAINT clusters_idle_end CHECK (end_idle IS NULL OR idle_end > interval '0'),
    DROP CONSTRAINT clusters_power_by_check,
    ADD CONSTRAINT clusters_power_by_check CHECK (power_by IN ('', 'hours', 'idle'));
ALTER TABLE clusters ADD COLUMN destroy_at timestamptz NOT NULL GENERATED ALWAYS AS
    (least(end_max, greatest(end_hold, least(end_ttl, end_pr_closed, end_label_removed, end_run_finished, end_claim, end_idle)))) STORED;
ALTER TABLE clusters ADD CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at);
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, desired, status, needs_turn, needs_approval, destroy_at, hourly_cents, coming_cents, nodes,
    workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_amount, month_node_hours) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_due ON clusters (least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at)) WHERE destroyed_at IS NULL AND status = 'READY';

-- +goose Down
-- The release before knows no idleness: what sleeps because of it is a person's to wake, and the end that follows from it is none.
UPDATE clusters SET power_by = '', row_version = row_version + 1 WHERE power_by = 'idle';
ALTER TABLE clusters DROP CONSTRAINT clusters_end_within_max;
ALTER TABLE clusters DROP COLUMN destroy_at;
ALTER TABLE clusters
    DROP CONSTRAINT clusters_idle_told, DROP CONSTRAINT clusters_idle_end,
    DROP COLUMN idle_tell, DROP COLUMN idle_sleep, DROP COLUMN idle_end, DROP COLUMN use_extends, DROP COLUMN awake_since, DROP COLUMN idle_told, DROP COLUMN end_idle,
    DROP CONSTRAINT clusters_power_by_check,
    ADD CONSTRAINT clusters_power_by_check CHECK (power_by IN ('', 'hours'));
ALTER TABLE clusters ADD COLUMN destroy_at timestamptz NOT NULL GENERATED ALWAYS AS
    (least(end_max, greatest(end_hold, least(end_ttl, end_pr_closed, end_label_removed, end_run_finished, end_claim)))) STORED;
ALTER TABLE clusters ADD CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at);
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, desired, status, needs_turn, needs_approval, destroy_at, hourly_cents, coming_cents, nodes,
    workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_amount, month_node_hours) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_due ON clusters (least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at)) WHERE destroyed_at IS NULL AND status = 'READY';

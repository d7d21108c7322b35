-- +goose Up

-- A freeze can end the clusters that live where it applies.
ALTER TABLE freezes ADD COLUMN drain_at timestamptz, -- NULL: it ends none
    ADD CONSTRAINT freezes_drain CHECK (drain_at BETWEEN since AND until);

-- That end comes before a hold. The column that finds what is due has it, so it is made anew with all that uses it: PostgreSQL 15 changes no
-- generated column.
DROP TRIGGER clusters_usage_changed ON clusters;
ALTER TABLE clusters DROP COLUMN destroy_at;
ALTER TABLE clusters ADD COLUMN end_drain timestamptz,
    ADD COLUMN drain_why jsonb NOT NULL DEFAULT '{}', -- who drains where, and why
    ADD COLUMN destroy_at timestamptz NOT NULL GENERATED ALWAYS AS (least(end_max, end_drain, greatest(end_hold, least(end_ttl, end_pr_closed,
        end_label_removed, end_run_finished, end_claim, end_idle)))) STORED,
    ADD CONSTRAINT clusters_drain CHECK ((end_drain IS NULL) = (drain_why = '{}'));
ALTER TABLE clusters ADD CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at);
CREATE INDEX clusters_past_end ON clusters (destroy_at) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_due ON clusters (least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at))
    WHERE destroyed_at IS NULL AND status = 'READY';
CREATE TRIGGER clusters_usage_changed AFTER UPDATE ON clusters FOR EACH ROW WHEN (
    (old.requested_by, old.team, old.repo, old.destroyed_at IS NULL, old.desired, old.status, old.needs_turn, old.needs_approval, old.meter_month, old.meter_since,
        old.meter_cents, old.meter_nodes, old.month_amount, old.month_node_hours, old.coming_cents, old.nodes, old.workers, old.workers_wanted, old.workers_base, old.destroy_at,
        old.claimed_at)
    IS DISTINCT FROM
    (new.requested_by, new.team, new.repo, new.destroyed_at IS NULL, new.desired, new.status, new.needs_turn, new.needs_approval, new.meter_month, new.meter_since,
        new.meter_cents, new.meter_nodes, new.month_amount, new.month_node_hours, new.coming_cents, new.nodes, new.workers, new.workers_wanted, new.workers_base, new.destroy_at,
        new.claimed_at))
    EXECUTE FUNCTION usage_changed();

-- A thaw takes the ends away that have not come yet. A server of the release before does not know them and cannot thaw such a freeze.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freezes_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.thawed_at IS NOT NULL OR new.thawed_at IS NULL
        OR (to_jsonb(new) - 'thawed_at' - 'thawed_by') IS DISTINCT FROM (to_jsonb(old) - 'thawed_at' - 'thawed_by') THEN
        RAISE EXCEPTION 'freeze % only ends, and once', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF EXISTS (SELECT FROM clusters WHERE drain_why ->> 'name' = old.id AND desired = 'present' AND end_drain > new.thawed_at) THEN
        RAISE EXCEPTION 'freeze % still ends clusters', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION freezes_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.thawed_at IS NOT NULL OR new.thawed_at IS NULL
        OR (to_jsonb(new) - 'thawed_at' - 'thawed_by') IS DISTINCT FROM (to_jsonb(old) - 'thawed_at' - 'thawed_by') THEN
        RAISE EXCEPTION 'freeze % only ends, and once', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
DROP TRIGGER clusters_usage_changed ON clusters;
ALTER TABLE clusters DROP COLUMN destroy_at;
ALTER TABLE clusters DROP COLUMN end_drain, DROP COLUMN drain_why,
    ADD COLUMN destroy_at timestamptz NOT NULL GENERATED ALWAYS AS (least(end_max, greatest(end_hold, least(end_ttl, end_pr_closed, end_label_removed,
        end_run_finished, end_claim, end_idle)))) STORED;
ALTER TABLE clusters ADD CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at);
CREATE INDEX clusters_past_end ON clusters (destroy_at) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_due ON clusters (least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at))
    WHERE destroyed_at IS NULL AND status = 'READY';
CREATE TRIGGER clusters_usage_changed AFTER UPDATE ON clusters FOR EACH ROW WHEN (
    (old.requested_by, old.team, old.repo, old.destroyed_at IS NULL, old.desired, old.status, old.needs_turn, old.needs_approval, old.meter_month, old.meter_since,
        old.meter_cents, old.meter_nodes, old.month_amount, old.month_node_hours, old.coming_cents, old.nodes, old.workers, old.workers_wanted, old.workers_base, old.destroy_at,
        old.claimed_at)
    IS DISTINCT FROM
    (new.requested_by, new.team, new.repo, new.destroyed_at IS NULL, new.desired, new.status, new.needs_turn, new.needs_approval, new.meter_month, new.meter_since,
        new.meter_cents, new.meter_nodes, new.month_amount, new.month_node_hours, new.coming_cents, new.nodes, new.workers, new.workers_wanted, new.workers_base, new.destroy_at,
        new.claimed_at))
    EXECUTE FUNCTION usage_changed();
ALTER TABLE freezes DROP COLUMN drain_at;

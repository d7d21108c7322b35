-- +goose Up

-- What counts for each person, team and repository, and for the installation (kind 'all'), so that a request reads a few rows instead of
-- all clusters. A change of a cluster adds the difference as a row of its own: changes of one team's clusters do not wait for each other.
-- A pass folds the differences into one row. What is used at a time is the sum of both.
--
-- Amounts grow with time, so they are kept as a value and a rate. spent and node_ms are those of the month, counted from its first moment:
-- an earlier month has only its rates left. to_come and nodes_to_come are until the wanted clusters end, counted from 1970.
CREATE TABLE usage_counters (
    kind          text NOT NULL CHECK (kind IN ('person', 'team', 'repository', 'all')),
    key           text NOT NULL, -- principal_key of the requester, team, owner/name; empty for all
    month         timestamptz NOT NULL,
    live          bigint NOT NULL,
    creating      bigint NOT NULL,
    waiting       bigint NOT NULL,
    spent         numeric NOT NULL, -- US cents an hour x milliseconds (package price)
    spent_rate    numeric NOT NULL,
    to_come       numeric NOT NULL,
    to_come_rate  numeric NOT NULL,
    node_ms       numeric NOT NULL, -- machines x milliseconds
    nodes         numeric NOT NULL,
    come_node_ms  numeric NOT NULL,
    come_nodes    numeric NOT NULL,
    PRIMARY KEY (kind, key, month)
);
CREATE TABLE usage_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    LIKE usage_counters
);
CREATE INDEX usage_changes_key ON usage_changes (kind, key);

-- How a cluster counts. Until its release it is live, whatever its status. One that waits for its turn never started and is counted
-- apart; one that awaits approval counts as live. One that is cleaned up between two tries counts as being created: it goes on as soon as
-- it is clean. Only clusters that are still wanted cost anything until their end: the others are being torn down.
-- +goose StatementBegin
CREATE FUNCTION usage_of(c clusters, sign integer) RETURNS SETOF usage_counters LANGUAGE sql STABLE AS $$
    SELECT k.kind, k.key, s.month,
        sign * (s.here AND (NOT c.needs_turn OR c.needs_approval))::integer,
        sign * (s.wanted AND c.status IN ('PENDING', 'CREATING', 'FAILED') AND NOT c.needs_turn AND NOT c.needs_approval)::integer,
        sign * (s.wanted AND c.needs_turn AND NOT c.needs_approval)::integer,
        sign * (c.month_amount - s.cents * s.since), sign * s.cents,
        sign * s.coming * s.ends, -sign * s.coming,
        sign * (round(c.month_node_hours * 3600000)::bigint - s.nodes * s.since), sign * s.nodes,
        sign * s.machines * s.ends, -sign * s.machines
    FROM (SELECT c.destroyed_at IS NULL AS here, c.destroyed_at IS NULL AND c.desired = 'present' AS wanted,
            coalesce(c.meter_month, date_trunc('month', c.created_at, 'UTC')) AS month) w,
        LATERAL (SELECT w.*,
            CASE WHEN w.here THEN c.meter_cents ELSE 0 END AS cents, CASE WHEN w.here THEN c.meter_nodes ELSE 0 END AS nodes,
            coalesce((date_part('epoch', c.meter_since) * 1e6)::bigint / 1000 - (date_part('epoch', w.month) * 1000)::bigint, 0)::numeric AS since,
            CASE WHEN w.wanted THEN coalesce(c.coming_cents, c.hourly_cents) ELSE 0 END AS coming,
            CASE WHEN w.wanted THEN greatest(0, c.nodes + coalesce(c.workers_wanted, c.workers, c.workers_base, 0) - coalesce(c.workers_base, 0)) ELSE 0 END AS machines,
            ((date_part('epoch', c.destroy_at) * 1e6)::bigint / 1000)::numeric AS ends) s,
        LATERAL (VALUES ('person', principal_key(c.requested_by)), ('team', c.team), ('repository', c.repo), ('all', '')) AS k (kind, key)
    WHERE k.key IS NOT NULL
$$;
CREATE FUNCTION usage_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_changes (kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes)
    SELECT kind, key, month, sum(live), sum(creating), sum(waiting), sum(spent), sum(spent_rate), sum(to_come), sum(to_come_rate), sum(node_ms), sum(nodes),
        sum(come_node_ms), sum(come_nodes)
    FROM (SELECT * FROM usage_of(new, 1) UNION ALL SELECT * FROM usage_of(old, -1) WHERE TG_OP = 'UPDATE') u GROUP BY kind, key, month;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_usage_added AFTER INSERT ON clusters FOR EACH ROW EXECUTE FUNCTION usage_changed();
CREATE TRIGGER clusters_usage_changed AFTER UPDATE ON clusters FOR EACH ROW WHEN (
    (old.requested_by, old.team, old.repo, old.destroyed_at IS NULL, old.desired, old.status, old.needs_turn, old.needs_approval, old.meter_month, old.meter_since,
        old.meter_cents, old.meter_nodes, old.month_amount, old.month_node_hours, old.coming_cents, old.nodes, old.workers, old.workers_wanted, old.workers_base, old.destroy_at)
    IS DISTINCT FROM
    (new.requested_by, new.team, new.repo, new.destroyed_at IS NULL, new.desired, new.status, new.needs_turn, new.needs_approval, new.meter_month, new.meter_since,
        new.meter_cents, new.meter_nodes, new.month_amount, new.month_node_hours, new.coming_cents, new.nodes, new.workers, new.workers_wanted, new.workers_base, new.destroy_at))
    EXECUTE FUNCTION usage_changed();

INSERT INTO usage_counters
SELECT u.kind, u.key, u.month, sum(u.live), sum(u.creating), sum(u.waiting), sum(u.spent), sum(u.spent_rate), sum(u.to_come), sum(u.to_come_rate), sum(u.node_ms), sum(u.nodes),
    sum(u.come_node_ms), sum(u.come_nodes)
FROM clusters c, usage_of(c, 1) u WHERE c.destroyed_at IS NULL OR c.destroyed_at >= date_trunc('month', now(), 'UTC') GROUP BY 1, 2, 3;

-- Nobody counts clusters one by one any more, except those that are past their end.
CREATE INDEX clusters_past_end ON clusters (destroy_at) WHERE desired = 'present' AND destroyed_at IS NULL;
DROP INDEX clusters_counted_person, clusters_counted_team, clusters_counted_repo, clusters_counted;

-- +goose Down
CREATE INDEX clusters_counted_person ON clusters (principal_key(requested_by), destroyed_at);
CREATE INDEX clusters_counted_team ON clusters (team, destroyed_at);
CREATE INDEX clusters_counted_repo ON clusters (repo, destroyed_at) WHERE repo IS NOT NULL;
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, desired, status, needs_turn, needs_approval, destroy_at,
    hourly_cents, coming_cents, nodes, workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_amount,
    month_node_hours) WHERE destroyed_at IS NULL;
DROP INDEX clusters_past_end;
DROP TRIGGER clusters_usage_added ON clusters;
DROP TRIGGER clusters_usage_changed ON clusters;
DROP FUNCTION usage_changed;
DROP FUNCTION usage_of;
DROP TABLE usage_changes, usage_counters;

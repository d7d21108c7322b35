-- +goose Up

-- Requests that are judged together insert their clusters with one statement, which changes the counters once.
-- +goose StatementBegin
CREATE FUNCTION usage_added() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO usage_changes (kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes)
    SELECT u.kind, u.key, u.month, sum(u.live), sum(u.creating), sum(u.waiting), sum(u.spent), sum(u.spent_rate), sum(u.to_come), sum(u.to_come_rate), sum(u.node_ms),
        sum(u.nodes), sum(u.come_node_ms), sum(u.come_nodes)
    FROM added c, usage_of(c::clusters, 1) u GROUP BY u.kind, u.key, u.month;
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER clusters_usage_added ON clusters;
CREATE TRIGGER clusters_usage_added AFTER INSERT ON clusters REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION usage_added();

-- +goose Down
DROP TRIGGER clusters_usage_added ON clusters;
CREATE TRIGGER clusters_usage_added AFTER INSERT ON clusters FOR EACH ROW EXECUTE FUNCTION usage_changed();
DROP FUNCTION usage_added;

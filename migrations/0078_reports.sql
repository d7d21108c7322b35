-- +goose Up

-- When the first teardown of a released cluster began: a report over many clusters does not search for its attempt.
ALTER TABLE clusters ADD COLUMN teardown_at timestamptz;
UPDATE clusters c SET teardown_at = a.began
FROM (SELECT cluster_id, min(opened_at) AS began FROM attempts WHERE kind = 'destroy' GROUP BY cluster_id) a WHERE a.cluster_id = c.id AND c.destroyed_at IS NOT NULL;
-- +goose StatementBegin
CREATE FUNCTION clusters_teardown_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT min(opened_at) INTO new.teardown_at FROM attempts WHERE cluster_id = new.id AND kind = 'destroy';
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_teardown_at BEFORE UPDATE OF status ON clusters FOR EACH ROW
    WHEN (new.status = 'DESTROYED' AND old.status <> 'DESTROYED') EXECUTE FUNCTION clusters_teardown_at();

-- Reports read these indexes alone. The first is written when a cluster is released, the second holds only the others.
DROP INDEX clusters_ended;
CREATE INDEX clusters_ended ON clusters (destroyed_at) INCLUDE (id, team, profile, source, created_at, ready_at, teardown_at, abandoned) WHERE destroyed_at IS NOT NULL;
CREATE INDEX clusters_age ON clusters (created_at, id) INCLUDE (team, profile, status, source, ready_at, meter_cents, abandoned) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_ended_idle ON clusters (destroyed_at) WHERE teardown = 'JANITOR_DESTROY' AND desired_why ->> 'code' = 'idle';
CREATE INDEX usage_samples_saved ON usage_samples (cluster_id) WHERE stopped OR saved_hourly > 0;

-- +goose Down
DROP INDEX usage_samples_saved, clusters_ended_idle, clusters_age, clusters_ended;
CREATE INDEX clusters_ended ON clusters (destroyed_at) INCLUDE (requested_by, team, repo, meter_month, month_amount, month_node_hours);
DROP TRIGGER clusters_teardown_at ON clusters;
DROP FUNCTION clusters_teardown_at;
ALTER TABLE clusters DROP COLUMN teardown_at;

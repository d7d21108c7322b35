-- +goose Up

-- The environments on GitHub of clusters from the time when each cluster had one of its own. The deployments in one are removed with the cluster.
CREATE TABLE own_environments (
    cluster_id   text NOT NULL REFERENCES clusters,
    repo         text NOT NULL,
    installation bigint NOT NULL, -- 0: it is looked up
    environment  text NOT NULL CHECK (environment LIKE 'ocp/%'),
    PRIMARY KEY (cluster_id, repo)
);
INSERT INTO own_environments
    SELECT c.id, s.repo, s.installation, 'ocp/' || c.name FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
    WHERE s.kind = 'github_deployment' AND s.external_id <> 0;
INSERT INTO own_environments
    SELECT DISTINCT ON (c.id, r.repo) c.id, r.repo, r.installation, 'ocp/' || c.name
    FROM signals g JOIN runs r ON r.id = g.run_id JOIN clusters c ON c.id = g.cluster_id
    WHERE g.kind = 'deployment' AND g.told <> '' AND r.repo <> '' ORDER BY c.id, r.repo, r.id DESC
    ON CONFLICT DO NOTHING;

ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments') OR number > 0);

-- Those of clusters that are gone are removed now, little by little.
WITH gone AS (
    DELETE FROM own_environments o USING clusters c WHERE c.id = o.cluster_id AND c.destroyed_at IS NOT NULL RETURNING o.*)
INSERT INTO effects (id, cause, kind, installation, repo, number, target, content, created_at, nudge_at)
    SELECT 'eff_' || md5(cluster_id || repo), 'deployments:' || cluster_id || ':' || repo, 'remove_deployments', installation, repo, 0, 0, environment, now(),
        now() + row_number() OVER () * interval '10 seconds' FROM gone;

-- +goose Down
DELETE FROM effects WHERE kind = 'remove_deployments';
ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal', 'review', 'reject')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject') OR number > 0);
DROP TABLE own_environments;

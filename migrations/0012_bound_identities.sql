-- +goose Up

-- A runner that reports another cluster's identity is refused by the server; these keep it out whatever the server does.
-- The installer's clusterID is random and ccoctl's name is derived from the attempt, so neither ever repeats.
CREATE UNIQUE INDEX attempts_cluster_uuid ON attempts (cluster_uuid) WHERE cluster_uuid IS NOT NULL;
DROP INDEX attempts_cco_name;
CREATE UNIQUE INDEX attempts_cco_name ON attempts (cco_name) WHERE cco_name IS NOT NULL;

-- +goose Down
DROP INDEX attempts_cco_name;
CREATE INDEX attempts_cco_name ON attempts (cco_name) WHERE cco_name IS NOT NULL;
DROP INDEX attempts_cluster_uuid;

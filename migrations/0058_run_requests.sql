-- +goose Up

-- Which run asked for a cluster that does not end with it. Clusters that do are in run_clusters.
CREATE TABLE run_requests (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    run_id     text NOT NULL REFERENCES runs
);
CREATE INDEX run_requests_run ON run_requests (run_id);

-- +goose Down
DROP TABLE run_requests;

-- +goose Up

-- Which delivery of a billing export was read last, for each billing period. A delivery replaces everything that the one before said
-- about its period.
CREATE TABLE cost_exports (
    export   text NOT NULL CHECK (export <> ''),   -- s3://bucket/prefix/name
    period   date NOT NULL CHECK (extract(day FROM period) = 1),
    delivery text NOT NULL CHECK (delivery <> ''), -- changes whenever the cloud writes the period again
    lines    bigint NOT NULL CHECK (lines >= 0),   -- of its files
    read_at  timestamptz NOT NULL,
    PRIMARY KEY (export, period)
);

-- What the cloud billed for a cluster in a day. The id is what the tag ClusterId says: no foreign key, because a bill can name clusters
-- of which this database knows nothing.
CREATE TABLE actual_costs (
    export     text NOT NULL,
    period     date NOT NULL,
    day        date NOT NULL,
    cluster_id text NOT NULL DEFAULT '', -- empty: the lines have no such tag
    nanos      bigint NOT NULL,          -- billionths of a US dollar; credits are negative
    PRIMARY KEY (export, period, day, cluster_id),
    FOREIGN KEY (export, period) REFERENCES cost_exports ON DELETE CASCADE
);
CREATE INDEX actual_costs_cluster ON actual_costs (cluster_id, day);

-- +goose Down
DROP TABLE actual_costs;
DROP TABLE cost_exports;

-- +goose Up

-- Clusters that wait for a free runner. How many run is counted from the open attempts.
CREATE TABLE runner_queue (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    kind       text NOT NULL CHECK (kind IN ('create', 'destroy', 'scale', 'configure')),
    account    text NOT NULL, -- the cluster's cloud account; '': that of the runners' own identity
    since      timestamptz NOT NULL,
    place      integer NOT NULL CHECK (place > 0), -- as shown
    words      text NOT NULL CHECK (words <> ''),  -- which cap is full
    eta        timestamptz,                        -- NULL: not known
    next_at    timestamptz                         -- since when its runner may start; NULL: not yet
);

-- The team's share of what clusters wait for, as at acceptance.
ALTER TABLE clusters ADD COLUMN weight integer NOT NULL DEFAULT 1 CHECK (weight > 0);
UPDATE clusters c SET weight = t.weight FROM turns t WHERE t.cluster_id = c.id AND t.weight > 1;

-- A teardown, a scaling or a refresh that waits for a runner has a position too.
ALTER TABLE clusters DROP CONSTRAINT clusters_place_in_line;

-- +goose Down

UPDATE clusters SET place = 0 WHERE place > 0 AND phase <> 'awaiting_capacity';
ALTER TABLE clusters ADD CONSTRAINT clusters_place_in_line CHECK (place = 0 OR phase = 'awaiting_capacity');
ALTER TABLE clusters DROP COLUMN weight;
DROP TABLE runner_queue;

-- +goose Up

-- Offers of a cluster to a person, who becomes its owner by accepting. A cluster is offered to one person at a time.
CREATE TABLE handovers (
    id             text PRIMARY KEY CHECK (id LIKE 'hnd\_%'),
    cluster_id     text NOT NULL REFERENCES clusters,
    team           text NOT NULL CHECK (team <> ''),           -- the cluster's when it was offered
    from_principal text NOT NULL CHECK (from_principal <> ''),
    from_name      text NOT NULL,
    to_account     text NOT NULL CHECK (to_account <> ''),     -- e.g. slack:T012AB3CD/U023BECGF
    to_name        text NOT NULL,
    state          text NOT NULL DEFAULT 'offered' CHECK (state IN ('offered', 'accepted', 'declined', 'withdrawn', 'expired')),
    cause          text NOT NULL UNIQUE CHECK (cause <> ''),   -- the same request offers once
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    decided_at     timestamptz,
    decided_by     text NOT NULL DEFAULT '',                   -- principal
    note           text NOT NULL DEFAULT '',                   -- why it ended; empty: no reason was given
    CONSTRAINT handovers_last CHECK (expires_at > created_at),
    CONSTRAINT handovers_decided CHECK ((state = 'offered') = (decided_at IS NULL) AND (state = 'offered') = (decided_by = ''))
);
CREATE UNIQUE INDEX handovers_offered ON handovers (cluster_id) WHERE state = 'offered';

-- +goose Down
DROP TABLE handovers;

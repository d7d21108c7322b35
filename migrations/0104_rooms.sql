-- +goose Up

-- What a scan measured of the limits of an account, for a cluster of a profile in a region: the newest.
CREATE TABLE rooms (
    account     text NOT NULL,
    region      text NOT NULL,
    profile     text NOT NULL,
    platform    text NOT NULL,
    items       jsonb NOT NULL, -- lifecycle.Quota
    measured_at timestamptz NOT NULL,
    PRIMARY KEY (account, region, profile)
);

-- +goose Down
DROP TABLE rooms;

-- +goose Up

-- Whether a cluster's workers are spot machines, what it costs if they are not, and which attempts order them.
ALTER TABLE clusters ADD COLUMN spot text NOT NULL DEFAULT '' CHECK (spot IN ('', 'workers', 'on_demand')),
    ADD COLUMN on_demand_cents integer CHECK (on_demand_cents > 0);
ALTER TABLE attempts ADD COLUMN spot boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE attempts DROP COLUMN spot;
ALTER TABLE clusters DROP COLUMN spot, DROP COLUMN on_demand_cents;

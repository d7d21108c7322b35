-- +goose Up

-- In which zone a create found no capacity. Later ones of the cluster leave it out.
ALTER TABLE attempts ADD COLUMN zone text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE attempts DROP COLUMN zone;

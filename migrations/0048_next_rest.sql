-- +goose Up

ALTER TABLE clusters ADD COLUMN rest_at timestamptz; -- when its schedule puts it to sleep next, as of the last look at it

-- +goose Down
ALTER TABLE clusters DROP COLUMN rest_at;

-- +goose Up

-- Where something stands in a queue is its position.
ALTER TABLE clusters RENAME COLUMN place TO position;
ALTER TABLE clusters RENAME CONSTRAINT clusters_place_check TO clusters_position_check;
ALTER TABLE reservations RENAME COLUMN place TO position;
ALTER TABLE runner_queue RENAME COLUMN place TO position;
ALTER TABLE turns RENAME COLUMN place TO position;

-- Older servers read the columns under their old name, so they must not run beside new ones.
UPDATE schema_support SET oldest = 69;

-- +goose Down
UPDATE schema_support SET oldest = 68;
ALTER TABLE turns RENAME COLUMN position TO place;
ALTER TABLE runner_queue RENAME COLUMN position TO place;
ALTER TABLE reservations RENAME COLUMN position TO place;
ALTER TABLE clusters RENAME CONSTRAINT clusters_position_check TO clusters_place_check;
ALTER TABLE clusters RENAME COLUMN position TO place;

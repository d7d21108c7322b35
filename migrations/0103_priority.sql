-- +goose Up

-- A rule's priority: where clusters wait, the higher one comes first. Nobody waits for the clusters of a pool.
ALTER TABLE clusters ADD COLUMN priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN -100 AND 100);
UPDATE clusters SET priority = -100 WHERE pooled AND destroyed_at IS NULL;

-- +goose Down
ALTER TABLE clusters DROP COLUMN priority;

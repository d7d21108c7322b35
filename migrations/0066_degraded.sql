-- +goose Up

ALTER TABLE clusters ADD COLUMN degraded text NOT NULL DEFAULT ''; -- what its control plane lacks since it woke last, for people; empty: nothing

-- +goose Down
UPDATE clusters SET phase = 'ready', why = 'it is awake', row_version = row_version + 1 WHERE phase = 'degraded';
ALTER TABLE clusters DROP COLUMN degraded;

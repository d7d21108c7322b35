-- +goose Up

-- A post of the gate is under way, or its answer was lost: GitHub is asked what stands there only then.
ALTER TABLE gates ADD COLUMN posting_at timestamptz;
UPDATE gates SET posting_at = asked_at WHERE external_id = 0;

-- +goose Down
ALTER TABLE gates DROP COLUMN posting_at;

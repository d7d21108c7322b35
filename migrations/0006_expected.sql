-- +goose Up

-- How long attempts of its kind and profile took, as known when it was opened; null: none succeeded before.
ALTER TABLE attempts ADD COLUMN expected_seconds integer CHECK (expected_seconds > 0);
CREATE INDEX attempts_succeeded ON attempts (kind, closed_at DESC) WHERE outcome = 'succeeded';

-- +goose Down
DROP INDEX attempts_succeeded;
ALTER TABLE attempts DROP COLUMN expected_seconds;

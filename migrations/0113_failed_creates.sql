-- +goose Up

-- Breakers look for creates that failed lately, which are few among all attempts.
CREATE INDEX attempts_failed_creates ON attempts (closed_at) WHERE kind = 'create' AND outcome IN ('failed', 'lost');

-- +goose Down
DROP INDEX attempts_failed_creates;

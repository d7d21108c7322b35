-- +goose Up

-- Since when GitHub refuses what a delivery needs (401, 403, 404), without another answer in between. One refusal is often only for a moment.
ALTER TABLE deliveries ADD COLUMN refused_since timestamptz;

-- Why a failed delivery was not worked, as a code. Empty: somebody got an answer, or a release before this one gave it up.
ALTER TABLE deliveries ADD COLUMN reason text NOT NULL DEFAULT ''
    CHECK (reason IN ('', 'given_up', 'refused_by_github', 'duplicate_field', 'wrong_event', 'unreadable'));
CREATE INDEX deliveries_lost ON deliveries (finished_at) WHERE state = 'failed' AND reason <> '';

-- +goose Down
DROP INDEX deliveries_lost;
ALTER TABLE deliveries DROP COLUMN refused_since, DROP COLUMN reason;

-- +goose Up

-- What the person who offers a cluster had proved, so that their roles are judged again when the offer is accepted. Offers of before
-- have none and expire within a day.
ALTER TABLE handovers ADD COLUMN from_claims jsonb;

-- +goose Down
ALTER TABLE handovers DROP COLUMN from_claims;

-- +goose Up

-- Since when GitHub refuses a change, without another answer in between. After an hour in which GitHub was away, one refusal is still only one.
ALTER TABLE effects ADD COLUMN refused_since timestamptz;

-- What somebody proved when they offered a cluster, e-mail included, is for the answer only.
UPDATE handovers SET from_claims = NULL WHERE state <> 'offered' AND from_claims IS NOT NULL;

-- +goose Down
ALTER TABLE effects DROP COLUMN refused_since;

-- +goose Up

-- Who set a hold, and that a change on GitHub was given up, are facts. Until now they were read from the texts beside them.
ALTER TABLE clusters ADD COLUMN hold_source text NOT NULL DEFAULT ''; -- like source
UPDATE clusters SET hold_source = 'pr_label' WHERE hold_why = 'the label ocp/keep';
ALTER TABLE effects ADD COLUMN given_up boolean NOT NULL DEFAULT false;
UPDATE effects SET given_up = true WHERE done_at IS NOT NULL AND note LIKE 'given up%';

-- +goose Down
ALTER TABLE effects DROP COLUMN given_up;
ALTER TABLE clusters DROP COLUMN hold_source;

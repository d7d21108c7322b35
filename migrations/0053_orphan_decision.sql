-- +goose Up

-- In a person's words, or the setting's, why an orphan is to be removed or stays. state_why says what is happening about it.
ALTER TABLE orphans ADD COLUMN decided_why text NOT NULL DEFAULT '';
UPDATE orphans SET decided_why = state_why WHERE state IN ('approved', 'exempt') AND decided_by <> '' AND state_why NOT LIKE 'it waits: %';

-- +goose Down
ALTER TABLE orphans DROP COLUMN decided_why;

-- +goose Up

-- Why the last teardown left something, who has to act, and what to do about it; empty: none did, or it is not known.
ALTER TABLE clusters
    ADD COLUMN stuck_reason text NOT NULL DEFAULT '',
    ADD COLUMN stuck_whose text NOT NULL DEFAULT '' CHECK (stuck_whose IN ('', 'user', 'quota', 'cloud', 'installer', 'ocpctl')),
    ADD COLUMN stuck_next text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE clusters
    DROP COLUMN stuck_reason,
    DROP COLUMN stuck_whose,
    DROP COLUMN stuck_next;

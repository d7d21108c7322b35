-- +goose Up

-- When a cluster's people are warned of its end, and which warning they had. The release before knows none of this: it writes none, and
-- its clusters are shown as expiring at the limit's time.
ALTER TABLE clusters
    ADD COLUMN warn_before interval[],                                -- how long before the end, frozen at acceptance; NULL: the limit's
    ADD COLUMN warned_end timestamptz,                                -- the end that the newest warning was about; NULL: there was none
    ADD COLUMN warned_before interval NOT NULL DEFAULT interval '0';  -- which of that end's warnings it was

-- +goose Down
ALTER TABLE clusters DROP COLUMN warned_before, DROP COLUMN warned_end, DROP COLUMN warn_before;

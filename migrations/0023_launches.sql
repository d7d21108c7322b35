-- +goose Up

-- When the dispatcher confirmed that an attempt's runner was started: what was started and is nowhere has been deleted. And why the last
-- try to start it was refused. A server that does not know the columns starts runners without them.
ALTER TABLE attempts
    ADD COLUMN launched_at    timestamptz,
    ADD COLUMN launch_trouble jsonb CHECK (jsonb_typeof(launch_trouble) = 'object');

-- +goose Down
ALTER TABLE attempts
    DROP COLUMN launched_at,
    DROP COLUMN launch_trouble;

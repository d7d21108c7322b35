-- +goose Up

-- How many lines a chunk has, so that a page of a long log is found without reading it; NULL: a server of the release before wrote it. And
-- the line of its log by which a failure was recognized, as it was logged.
ALTER TABLE log_chunks ADD COLUMN lines integer CHECK (lines > 0);
ALTER TABLE attempts ADD COLUMN failing_line text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE attempts DROP COLUMN failing_line;
ALTER TABLE log_chunks DROP COLUMN lines;

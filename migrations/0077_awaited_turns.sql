-- +goose Up

-- In a busy channel, the edit that a person waits for goes first: until this time, its turns are kept for such edits.
ALTER TABLE slack_channels ADD COLUMN awaited_until timestamptz NOT NULL DEFAULT '-infinity';

-- +goose Down
ALTER TABLE slack_channels DROP COLUMN awaited_until;

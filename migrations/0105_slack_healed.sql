-- +goose Up

-- When somebody put a channel of Slack right. A refusal of what was sent before is old news.
ALTER TABLE slack_channels ADD COLUMN healed_at timestamptz;

-- +goose Down
ALTER TABLE slack_channels DROP COLUMN healed_at;

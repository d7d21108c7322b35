-- +goose Up

-- When a subscription's turn to be judged was last over. Slack limits how much is asked, so the longest ago comes first.
ALTER TABLE channel_subscriptions ADD COLUMN judged_at timestamptz NOT NULL DEFAULT '-infinity';

-- +goose Down
ALTER TABLE channel_subscriptions DROP COLUMN judged_at;

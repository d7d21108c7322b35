-- +goose Up

-- What whoever subscribed a channel had proved, so that their roles are judged again. Subscriptions of before have none; those by an
-- account in Slack are judged by the account.
ALTER TABLE channel_subscriptions ADD COLUMN claims jsonb;

-- What somebody proved is kept no longer than it is needed.
UPDATE handovers SET from_claims = NULL WHERE state <> 'offered';

-- +goose Down
ALTER TABLE channel_subscriptions DROP COLUMN claims;

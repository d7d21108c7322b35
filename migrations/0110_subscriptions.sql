-- +goose Up

-- When a subscription's turn to be judged was last over. Slack limits how much is asked, so the longest ago comes first.
ALTER TABLE channel_subscriptions ADD COLUMN judged_at timestamptz NOT NULL DEFAULT '-infinity';

-- Names on GitHub are the same in any case; here they are in lower case.
DELETE FROM channel_subscriptions s USING channel_subscriptions o
WHERE (o.workspace, o.channel, o.team, lower(o.repo)) = (s.workspace, s.channel, s.team, lower(s.repo)) AND o.id <> s.id
    AND s.repo <> lower(s.repo) AND (o.repo = lower(o.repo) OR o.id < s.id);
UPDATE channel_subscriptions SET repo = lower(repo) WHERE repo <> lower(repo);

-- +goose Down
ALTER TABLE channel_subscriptions DROP COLUMN judged_at;

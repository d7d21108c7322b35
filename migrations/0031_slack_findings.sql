-- +goose Up

-- A channel or a whole workspace of Slack takes no messages until a person changes something.
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check
    CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed', 'slack_channel', 'slack_refused'));

-- +goose Down
DELETE FROM findings WHERE kind IN ('slack_channel', 'slack_refused'); -- the release before knows no such finding
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check
    CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed'));

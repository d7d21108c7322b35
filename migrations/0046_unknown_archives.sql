-- +goose Up

ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN (
    'orphan',
    'overdue',
    'stuck',
    'blocked',
    'remains',
    'delivery_failing',
    'job_failed',
    'slack_channel',
    'slack_refused',
    'access_not_revoked',
    'sweep_failing',
    'cloud_gone',
    'archive_missing',
    'archive_unknown',
    'shown_behind'
));

-- +goose Down
DELETE FROM findings WHERE kind = 'archive_unknown';
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN (
    'orphan',
    'overdue',
    'stuck',
    'blocked',
    'remains',
    'delivery_failing',
    'job_failed',
    'slack_channel',
    'slack_refused',
    'access_not_revoked',
    'sweep_failing',
    'cloud_gone',
    'archive_missing',
    'shown_behind'
));

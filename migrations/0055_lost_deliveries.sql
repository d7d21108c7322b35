-- +goose Up

-- Since when GitHub refuses what a delivery needs (401, 403, 404), without another answer in between. One refusal is often only for a moment.
ALTER TABLE deliveries ADD COLUMN refused_since timestamptz;

-- Why a failed delivery was not worked, as a code. Empty: somebody got an answer, or a release before this one gave it up.
ALTER TABLE deliveries ADD COLUMN reason text NOT NULL DEFAULT ''
    CHECK (reason IN ('', 'given_up', 'refused_by_github', 'duplicate_field', 'wrong_event', 'unreadable'));
CREATE INDEX deliveries_lost ON deliveries (finished_at) WHERE state = 'failed' AND reason <> '';

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
    'shown_behind',
    'delivery_lost'
));

-- +goose Down
DELETE FROM findings WHERE kind = 'delivery_lost';
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
DROP INDEX deliveries_lost;
ALTER TABLE deliveries DROP COLUMN refused_since, DROP COLUMN reason;

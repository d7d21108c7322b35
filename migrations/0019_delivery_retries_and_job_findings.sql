-- +goose Up

-- The App's installation a delivery came from; 0: from none, or from before it was kept. Order is kept within one
-- installation: what another one sends holds nobody up.
ALTER TABLE deliveries ADD COLUMN installation bigint NOT NULL DEFAULT 0;

-- How often it was tried without success, since when it has been failing, and when it is tried next. NULL: it did not fail.
ALTER TABLE deliveries ADD COLUMN tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0);
ALTER TABLE deliveries ADD COLUMN failing_since timestamptz;
ALTER TABLE deliveries ADD COLUMN try_at timestamptz;
CREATE INDEX deliveries_failing ON deliveries (failing_since) WHERE state = 'received' AND failing_since IS NOT NULL;

ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check
    CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed'));

-- +goose Down
DELETE FROM findings WHERE kind IN ('delivery_failing', 'job_failed');
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains'));
DROP INDEX deliveries_failing;
ALTER TABLE deliveries DROP COLUMN installation, DROP COLUMN tries, DROP COLUMN failing_since, DROP COLUMN try_at;

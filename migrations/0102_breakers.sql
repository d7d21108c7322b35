-- +goose Up

-- Creates that keep failing open a breaker: where it applies, creates wait, and one at a time is tried. An empty column stands for any.
CREATE TABLE breakers (
    id        text PRIMARY KEY,
    platform  text NOT NULL DEFAULT '',
    account   text NOT NULL DEFAULT '',
    region    text NOT NULL DEFAULT '',
    profile   text NOT NULL DEFAULT '',
    version   text NOT NULL DEFAULT '',
    code      text NOT NULL CHECK (code <> ''), -- of the failures
    whose     text NOT NULL CHECK (whose IN ('quota', 'cloud', 'installer', 'ocpctl')),
    failures  integer NOT NULL CHECK (failures > 0),
    since     timestamptz NOT NULL,
    until     timestamptz NOT NULL, -- from when one is tried
    probes    integer NOT NULL DEFAULT 0, -- that failed in a row
    probe     text REFERENCES clusters (id), -- the one that is tried
    probe_at  timestamptz,
    closed_at timestamptz,
    closed_by text NOT NULL DEFAULT '', -- the admin who did; empty: nobody had to
    CONSTRAINT breakers_until CHECK (until > since),
    CONSTRAINT breakers_probe CHECK ((probe IS NULL) = (probe_at IS NULL) AND probe_at >= since),
    CONSTRAINT breakers_closed CHECK (closed_at >= since AND (closed_by = '' OR closed_at IS NOT NULL))
);
CREATE UNIQUE INDEX breakers_open ON breakers (platform, account, region, profile, version) WHERE closed_at IS NULL;

-- What opened a breaker stays, and a closed one is never opened again.
-- +goose StatementBegin
CREATE FUNCTION breakers_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.closed_at IS NOT NULL
        OR (new.id, new.platform, new.account, new.region, new.profile, new.version, new.code, new.whose, new.since)
            IS DISTINCT FROM (old.id, old.platform, old.account, old.region, old.profile, old.version, old.code, old.whose, old.since)
        OR old.probe IS NOT NULL AND new.probe IS NOT NULL AND old.probe <> new.probe THEN
        RAISE EXCEPTION 'breaker % is closed, or tries a cluster already', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER breakers_guard BEFORE UPDATE ON breakers FOR EACH ROW EXECUTE FUNCTION breakers_guard();

ALTER TABLE findings DROP CONSTRAINT findings_kind_check, ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed',
    'slack_channel', 'slack_refused', 'access_not_revoked', 'scan_failing', 'cloud_gone', 'archive_missing', 'archive_unknown',
    'shown_behind', 'delivery_lost',
    'breaker_open'));

-- +goose Down
DELETE FROM findings WHERE kind = 'breaker_open';
ALTER TABLE findings DROP CONSTRAINT findings_kind_check, ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed',
    'slack_channel', 'slack_refused', 'access_not_revoked', 'scan_failing', 'cloud_gone', 'archive_missing', 'archive_unknown',
    'shown_behind', 'delivery_lost'));
DROP TABLE breakers;
DROP FUNCTION breakers_guard();

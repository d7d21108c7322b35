-- +goose Up

-- The results of test jobs on clusters.
CREATE TABLE test_reports (
    id          text PRIMARY KEY CHECK (id LIKE 'tst\_%'),
    cluster_id  text NOT NULL REFERENCES clusters,
    run_id      text NOT NULL REFERENCES runs,
    attempt     integer NOT NULL CHECK (attempt > 0),
    job         text NOT NULL DEFAULT '',     -- check_run_id; empty: the token named none
    name        text NOT NULL CHECK (name <> ''),
    total       integer NOT NULL CHECK (total > 0),
    passed      integer NOT NULL CHECK (passed >= 0),
    failed      integer NOT NULL CHECK (failed >= 0),
    skipped     integer NOT NULL CHECK (skipped >= 0),
    duration    bigint NOT NULL DEFAULT 0,    -- nanoseconds
    failures    jsonb NOT NULL DEFAULT '[]',  -- the first ones
    slowest     jsonb NOT NULL DEFAULT '[]',
    url         text NOT NULL DEFAULT '',     -- where the whole report is
    head        text NOT NULL DEFAULT '',     -- the tested commit; empty: that of the run
    principal   text NOT NULL CHECK (principal <> ''),
    reported_at timestamptz NOT NULL,
    CONSTRAINT test_reports_total CHECK (total = passed + failed + skipped),
    UNIQUE (cluster_id, run_id, attempt, job, name)
);
CREATE INDEX test_reports_run ON test_reports (run_id);

ALTER TABLE runs ADD COLUMN head_sha text NOT NULL DEFAULT ''; -- the commit at which the platform shows the run; empty: it was not asked
CREATE INDEX runs_head ON runs (head_sha) WHERE head_sha <> '';

-- Pipelines' requests to be told when a cluster is ready or failed.
CREATE TABLE signals (
    id         text PRIMARY KEY CHECK (id LIKE 'sig\_%'),
    cluster_id text NOT NULL REFERENCES clusters,
    run_id     text NOT NULL REFERENCES runs,
    attempt    integer NOT NULL CHECK (attempt > 0),
    kind       text NOT NULL CHECK (kind IN ('deployment', 'dispatch')),
    asked_at   timestamptz NOT NULL,
    told       text NOT NULL DEFAULT '' CHECK (told IN ('', 'begun', 'ready', 'failed', 'ended')), -- what was told last
    told_at    timestamptz,
    problem    text NOT NULL DEFAULT '', -- why it could not be told
    UNIQUE (cluster_id, run_id, attempt)
);
CREATE INDEX signals_run ON signals (run_id);

ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal') OR number > 0);

-- +goose Down
DELETE FROM effects WHERE kind IN ('test_check', 'signal');
ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels')),
    ADD CONSTRAINT effects_number CHECK (kind = 'ensure_labels' OR number > 0);
DROP TABLE signals;
DROP INDEX runs_head;
ALTER TABLE runs DROP COLUMN head_sha;
DROP TABLE test_reports;

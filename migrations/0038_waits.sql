-- +goose Up

-- Jobs of runs that wait for a cluster before they start, because they name an environment with the App's protection rule.
CREATE TABLE waits (
    id          text PRIMARY KEY CHECK (id LIKE 'wai\_%'),
    run_id      text NOT NULL REFERENCES runs,
    attempt     integer NOT NULL CHECK (attempt > 0),
    environment text NOT NULL CHECK (environment <> ''),
    cluster_id  text REFERENCES clusters,                -- null: there is none, and refusal says why
    refusal     text NOT NULL DEFAULT '',
    asked_at    timestamptz NOT NULL,
    asks        integer NOT NULL DEFAULT 1 CHECK (asks > 0), -- how often jobs began to wait
    said        text NOT NULL DEFAULT '',                -- the progress that was posted last
    notes       integer NOT NULL DEFAULT 0 CHECK (notes >= 0), -- posts without a decision: GitHub takes ten
    decision    text NOT NULL DEFAULT '' CHECK (decision IN ('', 'approved', 'rejected', 'over')),
    decided_at  timestamptz,
    problem     text NOT NULL DEFAULT '',                -- why GitHub could not be told
    CONSTRAINT waits_answer CHECK ((cluster_id IS NULL) = (refusal <> '')),
    CONSTRAINT waits_decided CHECK ((decision = '') = (decided_at IS NULL)),
    UNIQUE (run_id, attempt, environment)
);
CREATE INDEX waits_cluster ON waits (cluster_id);

ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal', 'review', 'reject')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject') OR number > 0);

-- +goose Down
DELETE FROM effects WHERE kind IN ('review', 'reject');
ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal') OR number > 0);
DROP TABLE waits;

-- +goose Up

-- The checks that branch rules require: one for each commit and profile, for all pull requests whose head the commit is.
CREATE TABLE gates (
    id           text PRIMARY KEY CHECK (id LIKE 'gat\_%'),
    installation bigint NOT NULL,
    repo         text NOT NULL CHECK (repo <> ''),
    head         text NOT NULL CHECK (head <> ''),
    profile      text NOT NULL CHECK (profile <> ''),
    external_id  bigint NOT NULL DEFAULT 0,   -- of the check run; 0: not posted yet, or unknown
    shown        text NOT NULL DEFAULT '',    -- hash of what it shows
    completed    boolean NOT NULL DEFAULT false,
    asked_at     timestamptz NOT NULL,        -- when it was last to be brought up to date
    UNIQUE (repo, head, profile)
);
CREATE INDEX gates_asked ON gates (asked_at);
CREATE INDEX pull_requests_head ON pull_requests (repo, head) WHERE open;

ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate') OR number > 0);

-- The checks of clusters get the names and the gates of this release at once.
UPDATE subscribers s SET shown_version = 0, shown_body = '', nudge_at = now() FROM clusters c
    WHERE c.id = s.cluster_id AND c.desired = 'present' AND s.kind = 'github_check' AND s.external_id <> 0 AND NOT s.left_behind AND NOT s.muted;

-- +goose Down
DELETE FROM effects WHERE kind = 'gate';
ALTER TABLE effects
    DROP CONSTRAINT effects_kind_check,
    DROP CONSTRAINT effects_number,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN
        ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments')),
    ADD CONSTRAINT effects_number CHECK (kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments') OR number > 0);
DROP INDEX pull_requests_head;
DROP TABLE gates;

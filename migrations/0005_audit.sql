-- +goose Up

CREATE TABLE audit_events (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor             text NOT NULL CHECK (actor <> ''),
    action            text NOT NULL CHECK (action <> ''),
    target_cluster_id text, -- no foreign key: an audit line outlives everything
    metadata          jsonb NOT NULL DEFAULT '{}',
    created_at        timestamptz NOT NULL
);
CREATE INDEX audit_events_cluster ON audit_events (target_cluster_id, id);

-- +goose StatementBegin
CREATE FUNCTION audit_events_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_events_guard();

-- What a sweep found not to be as it should, one row for each thing, kept after it was put right. It deletes nothing on its own word.
CREATE TABLE findings (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind          text NOT NULL CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked')),
    cluster_id    text REFERENCES clusters, -- NULL: no cluster is known for it
    identity      text NOT NULL DEFAULT '', -- of an orphan
    since         timestamptz NOT NULL,     -- since when it is so, this time
    why           text NOT NULL CHECK (why <> ''),
    evidence      text[] NOT NULL,
    first_seen_at timestamptz NOT NULL,     -- by any sweep ever
    last_seen_at  timestamptz NOT NULL,
    times_seen    integer NOT NULL DEFAULT 1 CHECK (times_seen > 0), -- in a row
    resolved_at   timestamptz,              -- a sweep looked and did not find it any more
    UNIQUE NULLS NOT DISTINCT (kind, cluster_id, identity)
);
CREATE INDEX findings_open ON findings (kind) WHERE resolved_at IS NULL;

-- +goose Down
DROP TABLE findings;
DROP TABLE audit_events;
DROP FUNCTION audit_events_guard;

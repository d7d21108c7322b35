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

-- What the janitor saw and could not explain. It deletes nothing on its own word.
CREATE TABLE findings (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind          text NOT NULL,
    resource_type text NOT NULL,
    resource_id   text NOT NULL,
    region        text NOT NULL,
    cluster_id    text REFERENCES clusters,
    evidence      jsonb NOT NULL,
    status        text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'RESOLVED', 'IGNORED')),
    first_seen_at timestamptz NOT NULL,
    last_seen_at  timestamptz NOT NULL,
    times_seen    integer NOT NULL DEFAULT 1,
    UNIQUE (resource_type, resource_id, region)
);

-- +goose Down
DROP TABLE findings;
DROP TABLE audit_events;
DROP FUNCTION audit_events_guard;

-- +goose Up

-- Since when the pull request has had this head, by GitHub's clock and no later than that: the updated_at of the answer in
-- which it was first seen. NULL: of before it was kept.
ALTER TABLE pull_requests ADD COLUMN head_at timestamptz;

-- When the approval was asked for, by GitHub's clock and no later than that. NULL: GitHub tells no time for it.
ALTER TABLE approvals ADD COLUMN asked_at timestamptz;

-- Whether the one who asked may give the approval, where one is enough. The policy says so when it is asked for.
ALTER TABLE approvals ADD COLUMN self_approval boolean NOT NULL DEFAULT false
    CONSTRAINT approvals_self_is_one CHECK (NOT self_approval OR needs = 1 AND kind = 'create');

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION approvals_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.id, new.kind, new.cluster_id, new.requested_by, new.why, new.asked, new.asked_at, new.head, new.needs, new.self_approval, new.by_role, new.created_at, new.expires_at)
        IS DISTINCT FROM
       (old.id, old.kind, old.cluster_id, old.requested_by, old.why, old.asked, old.asked_at, old.head, old.needs, old.self_approval, old.by_role, old.created_at, old.expires_at) THEN
        RAISE EXCEPTION 'what approval % was asked for never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.state <> new.state AND old.state <> 'pending' AND NOT (old.state = 'approved' AND new.state = 'used') THEN
        RAISE EXCEPTION 'approval % is %, which is final', old.id, old.state USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

-- Sessions that somebody ended before they expired. The id is the token's own; the token is not kept.
CREATE TABLE ended_sessions (
    id         text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'),
    principal  text NOT NULL CHECK (principal <> ''),
    ended_at   timestamptz NOT NULL,
    expires_at timestamptz NOT NULL -- of the session: later the row says nothing any more
);
CREATE INDEX ended_sessions_expires ON ended_sessions (expires_at);

-- +goose Down
DROP TABLE ended_sessions;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION approvals_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.id, new.kind, new.cluster_id, new.requested_by, new.why, new.asked, new.head, new.needs, new.by_role, new.created_at, new.expires_at)
        IS DISTINCT FROM
       (old.id, old.kind, old.cluster_id, old.requested_by, old.why, old.asked, old.head, old.needs, old.by_role, old.created_at, old.expires_at) THEN
        RAISE EXCEPTION 'what approval % was asked for never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.state <> new.state AND old.state <> 'pending' AND NOT (old.state = 'approved' AND new.state = 'used') THEN
        RAISE EXCEPTION 'approval % is %, which is final', old.id, old.state USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
ALTER TABLE approvals DROP COLUMN asked_at, DROP COLUMN self_approval;
ALTER TABLE pull_requests DROP COLUMN head_at;

-- +goose Up

-- What is to be deleted of a cluster that is gone. The rows are written with the cluster's end, so before anything is deleted,
-- and stay as the record that it was.
CREATE TABLE removals (
    cluster_id text NOT NULL REFERENCES clusters,
    kind       text NOT NULL CHECK (kind IN ('access', 'access_again', 'state')),
    done_at    timestamptz, -- NULL: not yet
    objects    bigint NOT NULL DEFAULT 0 CHECK (objects >= 0), -- deleted, each version and delete marker counted
    tries      integer NOT NULL DEFAULT 0 CHECK (tries >= 0),  -- that failed
    problem    text NOT NULL DEFAULT '',                       -- of the last try; empty: none
    PRIMARY KEY (cluster_id, kind)
);
CREATE INDEX removals_open ON removals (kind, cluster_id) WHERE done_at IS NULL;

ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains'));

INSERT INTO removals (cluster_id, kind)
    SELECT c.id, k.kind FROM clusters c, unnest(ARRAY['access', 'access_again', 'state']) AS k (kind) WHERE c.destroyed_at IS NOT NULL;

-- A proof is never changed, and goes with the state that it is about, once that is recorded as deleted.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION verifications_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'DELETE' AND EXISTS (
        SELECT 1 FROM attempts a JOIN removals r ON r.cluster_id = a.cluster_id
        WHERE a.id = old.attempt_id AND r.kind = 'state' AND r.done_at IS NOT NULL) THEN
        RETURN old;
    END IF;
    RAISE EXCEPTION 'a proof is never changed' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION verifications_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a proof is never changed' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
DELETE FROM findings WHERE kind = 'remains';
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked'));
DROP TABLE removals;

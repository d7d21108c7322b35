-- +goose Up

-- What is wanted of a cluster is its desired state, and where a request came in is its source: in the tables as in the API.
ALTER TABLE clusters RENAME COLUMN wish TO desired;
ALTER TABLE clusters RENAME COLUMN wish_why TO desired_why;
ALTER TABLE clusters RENAME COLUMN door TO source;
ALTER TABLE cluster_requests RENAME COLUMN door TO source;
ALTER TABLE approval_votes RENAME COLUMN door TO source;
ALTER TABLE audit_events RENAME COLUMN door TO source;

-- These functions name columns in their text.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.desired = 'absent' AND new.desired <> 'absent' THEN
        RAISE EXCEPTION 'the desired state of cluster % is absent, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.name, new.platform, new.profile, new.base_domain, new.version, new.region, new.spec, new.end_max, new.created_at)
        IS DISTINCT FROM
       (old.id, old.name, old.platform, old.profile, old.base_domain, old.version, old.region, old.spec, old.end_max, old.created_at) THEN
        RAISE EXCEPTION 'what was accepted of cluster % never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF new.row_version < old.row_version OR new.pokes < old.pokes THEN
        RAISE EXCEPTION 'version and pokes of cluster % only rise', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.status = 'DESTROYED' AND new.status <> 'DESTROYED' THEN
        RAISE EXCEPTION 'cluster % is released, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_events_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT h.seq + 1, h.hash INTO new.seq, new.previous FROM audit_head h FOR UPDATE;
    new.hash := audit_hash(new.seq, new.previous, new.actor, new.action, new.source, new.target_cluster_id, new.metadata, new.created_at);
    UPDATE audit_head SET seq = new.seq, hash = new.hash;
    RETURN new;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_origin_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.pr_number, new.pr_head, new.generation, new.source, new.requested_by) IS DISTINCT FROM
       (old.pr_number, old.pr_head, old.generation, old.source, old.requested_by)
        OR (old.repo_id <> 0 AND new.repo_id <> old.repo_id) THEN
        RAISE EXCEPTION 'where cluster % came from never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.repo, new.installation) IS DISTINCT FROM (old.repo, old.installation)
        AND coalesce(current_setting('ocpctl.renames', true), '') <> 'on' THEN
        RAISE EXCEPTION 'the repository of cluster % changes by a renaming alone', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE clusters RENAME COLUMN desired TO wish;
ALTER TABLE clusters RENAME COLUMN desired_why TO wish_why;
ALTER TABLE clusters RENAME COLUMN source TO door;
ALTER TABLE cluster_requests RENAME COLUMN source TO door;
ALTER TABLE approval_votes RENAME COLUMN source TO door;
ALTER TABLE audit_events RENAME COLUMN source TO door;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.wish = 'absent' AND new.wish <> 'absent' THEN
        RAISE EXCEPTION 'the wish of cluster % is absent, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.name, new.platform, new.profile, new.base_domain, new.version, new.region, new.spec, new.end_max, new.created_at)
        IS DISTINCT FROM
       (old.id, old.name, old.platform, old.profile, old.base_domain, old.version, old.region, old.spec, old.end_max, old.created_at) THEN
        RAISE EXCEPTION 'what was accepted of cluster % never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF new.row_version < old.row_version OR new.pokes < old.pokes THEN
        RAISE EXCEPTION 'version and pokes of cluster % only rise', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.status = 'DESTROYED' AND new.status <> 'DESTROYED' THEN
        RAISE EXCEPTION 'cluster % is released, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_events_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT h.seq + 1, h.hash INTO new.seq, new.previous FROM audit_head h FOR UPDATE;
    new.hash := audit_hash(new.seq, new.previous, new.actor, new.action, new.door, new.target_cluster_id, new.metadata, new.created_at);
    UPDATE audit_head SET seq = new.seq, hash = new.hash;
    RETURN new;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION clusters_origin_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.pr_number, new.pr_head, new.generation, new.door, new.requested_by) IS DISTINCT FROM
       (old.pr_number, old.pr_head, old.generation, old.door, old.requested_by)
        OR (old.repo_id <> 0 AND new.repo_id <> old.repo_id) THEN
        RAISE EXCEPTION 'where cluster % came from never changes', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.repo, new.installation) IS DISTINCT FROM (old.repo, old.installation)
        AND coalesce(current_setting('ocpctl.renames', true), '') <> 'on' THEN
        RAISE EXCEPTION 'the repository of cluster % changes by a renaming alone', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd

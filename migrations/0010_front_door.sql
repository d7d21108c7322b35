-- +goose Up

-- Why the pull request counts as closed, where it is not because somebody closed it.
ALTER TABLE clusters
    ADD COLUMN pr_end_why text NOT NULL DEFAULT '',
    ADD COLUMN repo_id bigint NOT NULL DEFAULT 0; -- GitHub's number of the repository, which no renaming changes; 0: not known

-- Where a cluster came from never changes. What its repository is called, and which installation reaches it, may, by a
-- transaction that says that it renames.
-- +goose StatementBegin
CREATE FUNCTION clusters_origin_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER clusters_origin_guard BEFORE UPDATE OF repo, installation, repo_id, pr_number, pr_head, generation, door, requested_by ON clusters
    FOR EACH ROW EXECUTE FUNCTION clusters_origin_guard();
CREATE INDEX clusters_wanted_pulls ON clusters (installation, repo, pr_number) WHERE wish = 'present' AND repo IS NOT NULL;

-- More of what GitHub says. Empty and 0: not known, or of before it was kept.
ALTER TABLE pull_requests
    ADD COLUMN draft boolean NOT NULL DEFAULT false,
    ADD COLUMN merged boolean NOT NULL DEFAULT false,
    ADD COLUMN association text NOT NULL DEFAULT '', -- of the author with the repository, in GitHub's spelling
    ADD COLUMN head_ref text NOT NULL DEFAULT '',
    ADD COLUMN repo_id bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT pull_requests_merged_is_closed CHECK (NOT (merged AND open));
CREATE INDEX pull_requests_repo_id ON pull_requests (repo_id, number) WHERE repo_id <> 0;

-- When GitHub was asked how a pull request is without having told that anything happened. Rows are made with a cluster, and
-- removed when they come up and no cluster is wanted there any more.
CREATE TABLE looks (
    repo      text NOT NULL,
    number    integer NOT NULL,
    looked_at timestamptz NOT NULL,
    PRIMARY KEY (repo, number)
);
CREATE INDEX looks_looked_at ON looks (looked_at);
INSERT INTO looks SELECT DISTINCT repo, pr_number, '-infinity'::timestamptz FROM clusters WHERE wish = 'present' AND repo IS NOT NULL;

-- The places that show a cluster: a deployment and the label that asked for it, too; and a check on each head it was
-- followed to.
ALTER TABLE subscribers
    DROP CONSTRAINT subscribers_kind_check,
    DROP CONSTRAINT subscribers_cluster_id_kind_repo_number_key,
    ADD CONSTRAINT subscribers_kind_check CHECK (kind IN ('github_comment', 'github_check', 'github_deployment', 'github_label')),
    ADD COLUMN muted boolean NOT NULL DEFAULT false,      -- somebody took it away: it is left alone
    ADD COLUMN left_behind boolean NOT NULL DEFAULT false, -- a check on a commit that the pull request moved on from
    ADD COLUMN shown_at timestamptz, -- when its words were last sent; NULL: never, or before it was kept
    ADD CONSTRAINT subscribers_left_check CHECK (NOT left_behind OR kind = 'github_check');
CREATE UNIQUE INDEX subscribers_one_place ON subscribers (cluster_id, kind) WHERE kind <> 'github_check';
CREATE UNIQUE INDEX subscribers_one_check ON subscribers (cluster_id, head) WHERE kind = 'github_check';
CREATE INDEX subscribers_cluster ON subscribers (cluster_id);
CREATE INDEX subscribers_head ON subscribers (head, repo) WHERE kind = 'github_check' AND NOT left_behind;
CREATE INDEX cluster_requests_refused ON cluster_requests (created_at) WHERE NOT allowed;
DROP INDEX subscribers_behind;
CREATE INDEX subscribers_behind ON subscribers (nudge_at) WHERE shown_version < wanted_version AND NOT muted;

-- Changes on GitHub beside the places that show a cluster, one per cause, written before they are made.
CREATE TABLE effects (
    id           text PRIMARY KEY CHECK (id LIKE 'eff\_%'),
    cause        text NOT NULL UNIQUE CHECK (cause <> ''),
    kind         text NOT NULL CHECK (kind IN ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels')),
    installation bigint NOT NULL,
    repo         text NOT NULL CHECK (repo <> ''),
    number       integer NOT NULL CHECK (number >= 0), -- 0: of the repository itself
    target       bigint NOT NULL,                      -- react: the comment's id
    content      text NOT NULL,                        -- the reaction, the label or the head
    created_at   timestamptz NOT NULL,
    nudge_at     timestamptz NOT NULL,
    done_at      timestamptz,
    note         text NOT NULL DEFAULT '', -- what came of it
    CONSTRAINT effects_target CHECK ((kind = 'react') = (target <> 0)),
    CONSTRAINT effects_content CHECK ((kind = 'ensure_labels') = (content = '')),
    CONSTRAINT effects_number CHECK (kind = 'ensure_labels' OR number > 0)
);
CREATE INDEX effects_undone ON effects (nudge_at) WHERE done_at IS NULL;
CREATE INDEX effects_done ON effects (done_at) WHERE done_at IS NOT NULL;

-- Deliveries that GitHub was asked to send again.
CREATE TABLE redeliveries (
    guid     text PRIMARY KEY CHECK (guid <> ''),
    asked    integer NOT NULL CHECK (asked > 0), -- how often
    asked_at timestamptz NOT NULL
);
CREATE INDEX redeliveries_asked ON redeliveries (asked_at);

-- How far a periodic reading came.
CREATE TABLE marks (
    name   text PRIMARY KEY CHECK (name <> ''),
    at     timestamptz NOT NULL,
    set_at timestamptz NOT NULL
);

-- Leave to write on GitHub, one row for each installation of the App. Of the two allowances it is written when they will be
-- full again, as if what was taken from them had flowed back evenly.
CREATE TABLE paces (
    installation bigint PRIMARY KEY,
    next_at      timestamptz NOT NULL DEFAULT '-infinity', -- no write before
    held_until   timestamptz NOT NULL DEFAULT '-infinity', -- GitHub said so
    minute_full  timestamptz NOT NULL DEFAULT '-infinity',
    hour_full    timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50); -- one row, written every second, finds room on its page

-- What is answered to the lines of one comment stands in one comment, in the order of the lines.
ALTER TABLE replies ADD COLUMN thread text NOT NULL DEFAULT '';
CREATE INDEX replies_thread ON replies (thread, created_at, id) WHERE thread <> '';

-- +goose Down
DROP INDEX replies_thread;
ALTER TABLE replies DROP COLUMN thread;
DROP TABLE paces;
DROP TABLE marks;
DROP TABLE redeliveries;
DROP TABLE effects;
-- The release before knows one check for each cluster: the newest stays.
DELETE FROM subscribers WHERE kind IN ('github_deployment', 'github_label');
DELETE FROM subscribers s WHERE kind = 'github_check' AND EXISTS (
    SELECT 1 FROM subscribers o WHERE o.kind = s.kind AND o.cluster_id = s.cluster_id AND (s.left_behind, o.id) > (o.left_behind, s.id));
DROP INDEX subscribers_behind;
DROP INDEX cluster_requests_refused;
DROP INDEX subscribers_head;
DROP INDEX subscribers_cluster;
DROP INDEX subscribers_one_check;
DROP INDEX subscribers_one_place;
ALTER TABLE subscribers
    DROP CONSTRAINT subscribers_left_check,
    DROP CONSTRAINT subscribers_kind_check,
    DROP COLUMN muted, DROP COLUMN left_behind, DROP COLUMN shown_at,
    ADD CONSTRAINT subscribers_kind_check CHECK (kind IN ('github_comment', 'github_check')),
    ADD CONSTRAINT subscribers_cluster_id_kind_repo_number_key UNIQUE (cluster_id, kind, repo, number);
CREATE INDEX subscribers_behind ON subscribers (nudge_at) WHERE shown_version < wanted_version;
DROP INDEX pull_requests_repo_id;
ALTER TABLE pull_requests
    DROP CONSTRAINT pull_requests_merged_is_closed,
    DROP COLUMN draft, DROP COLUMN merged, DROP COLUMN association, DROP COLUMN head_ref, DROP COLUMN repo_id;
DROP TABLE looks;
DROP INDEX clusters_wanted_pulls;
DROP TRIGGER clusters_origin_guard ON clusters;
DROP FUNCTION clusters_origin_guard;
ALTER TABLE clusters DROP COLUMN pr_end_why, DROP COLUMN repo_id;

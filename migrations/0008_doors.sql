-- +goose Up

-- What a cluster is made of, for quotas and for scaling its workers.
ALTER TABLE clusters
    ADD COLUMN nodes integer NOT NULL DEFAULT 0 CHECK (nodes >= 0),  -- machines at acceptance; 0: of before they were counted
    ADD COLUMN workers_base integer CHECK (workers_base >= 0),       -- the profile's; NULL: of before it was kept
    ADD COLUMN workers_least integer CHECK (workers_least >= 0),     -- bounds of scaling, frozen; NULL: cannot be scaled
    ADD COLUMN workers_most integer CHECK (workers_most >= workers_least),
    ADD COLUMN workers integer CHECK (workers >= 0),                 -- as last seen; NULL: as the profile's
    ADD COLUMN workers_wanted integer CHECK (workers_wanted >= 0),   -- what somebody asked for; NULL: nothing was asked
    ADD COLUMN scale_failures integer NOT NULL DEFAULT 0 CHECK (scale_failures >= 0),
    ADD COLUMN end_hold timestamptz,                                 -- no end but the maximum comes before it
    ADD COLUMN hold_why text NOT NULL DEFAULT '',
    ADD COLUMN approve_by timestamptz,                               -- while an approval is awaited: nobody did by then
    ADD COLUMN needs_turn boolean NOT NULL DEFAULT false,            -- a quota was full; nothing runs before its turn
    ADD CONSTRAINT clusters_scaling CHECK (workers_wanted IS NULL OR workers_wanted BETWEEN workers_least AND workers_most),
    ADD CONSTRAINT clusters_hold CHECK ((end_hold IS NULL) = (hold_why = '') AND end_hold <= end_max);
UPDATE clusters SET approve_by = end_ttl WHERE needs_approval; -- of before there was a time
ALTER TABLE clusters ADD CONSTRAINT clusters_approve_by CHECK (NOT needs_approval OR approve_by IS NOT NULL);

-- A hold is a floor under every end but the maximum.
ALTER TABLE clusters DROP CONSTRAINT clusters_end_within_max;
ALTER TABLE clusters DROP COLUMN destroy_at;
ALTER TABLE clusters ADD COLUMN destroy_at timestamptz NOT NULL GENERATED ALWAYS AS
    (least(end_max, greatest(end_hold, least(end_ttl, end_pr_closed, end_label_removed, end_run_finished, end_claim)))) STORED;
ALTER TABLE clusters ADD CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at);

-- A meter on every cluster, turned by each of its usage samples: what is counted for a quota is read from one row, however
-- often it changed. The samples stay what reports are made from.
ALTER TABLE clusters
    ADD COLUMN meter_since timestamptz,                       -- since when its present rate runs; NULL: it never cost anything
    ADD COLUMN meter_cents integer NOT NULL DEFAULT 0,        -- that rate, US cents an hour
    ADD COLUMN meter_nodes integer NOT NULL DEFAULT 0,        -- and the machines
    ADD COLUMN meter_month timestamptz,                       -- first moment (UTC) of the calendar month of meter_since
    ADD COLUMN month_cents double precision NOT NULL DEFAULT 0,      -- in that month, before meter_since
    ADD COLUMN month_node_hours double precision NOT NULL DEFAULT 0;
WITH samples AS (
    SELECT cluster_id, sample_time, estimated_hourly_cost AS cents,
        lead(sample_time) OVER w AS until, date_trunc('month', last_value(sample_time) OVER (w RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), 'UTC') AS month
    FROM usage_samples WINDOW w AS (PARTITION BY cluster_id ORDER BY sample_time)
), metered AS (
    SELECT cluster_id, max(sample_time) AS since, max(month) AS month, max(cents) FILTER (WHERE until IS NULL) AS cents,
        sum(cents * greatest(0, extract(epoch FROM until - greatest(sample_time, month)) / 3600)) AS spent
    FROM samples GROUP BY cluster_id
)
UPDATE clusters c SET meter_since = m.since, meter_cents = m.cents, meter_month = m.month, month_cents = coalesce(m.spent, 0)
FROM metered m WHERE m.cluster_id = c.id;

-- Who has what now, and had what this month, is counted from these alone.
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, wish, status, needs_turn, needs_approval, destroy_at, hourly_cents, nodes,
    workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_cents, month_node_hours) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_ended ON clusters (destroyed_at) INCLUDE (requested_by, team, repo, meter_month, month_cents, month_node_hours);

-- Scaling is a job like the others: its attempts run beside a ready cluster and record nothing.
ALTER TABLE attempts DROP CONSTRAINT attempts_kind_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale'));
ALTER TABLE attempts DROP CONSTRAINT attempts_phase_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
    'configuring', 'restoring', 'destroying', 'verifying', 'scaling'));
ALTER TABLE attempts ADD COLUMN workers_wanted integer CHECK (workers_wanted >= 0); -- of a scale attempt
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET workers_wanted = 0 WHERE kind = 'scale'; -- there only after a step down, which forgot it
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts ADD CONSTRAINT attempts_scale CHECK ((kind = 'scale') = (workers_wanted IS NOT NULL));
ALTER TABLE attempts ADD COLUMN workers_seen integer CHECK (workers_seen >= 0);

-- Who waits for a full quota, with the limits that held when it was accepted. Rows stay until their cluster had its turn
-- or is no longer wanted.
CREATE TABLE turns (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    team       text NOT NULL,
    weight     integer NOT NULL CHECK (weight > 0), -- a team with twice the weight gets twice the turns
    limits     jsonb NOT NULL CHECK (jsonb_typeof(limits) = 'array'), -- [{"quota","scope","key","what","most"}]
    since      timestamptz NOT NULL,
    place      integer NOT NULL CHECK (place > 0),
    words      text NOT NULL CHECK (words <> ''), -- which limit is full
    eta        timestamptz                        -- NULL: not known
);

-- What waits for a person's word, and what was said.
CREATE TABLE approvals (
    id           text PRIMARY KEY CHECK (id LIKE 'apr\_%'),
    kind         text NOT NULL CHECK (kind IN ('create', 'kubeadmin')),
    cluster_id   text NOT NULL REFERENCES clusters,
    team         text NOT NULL,
    requested_by text NOT NULL CHECK (requested_by <> ''), -- principal id
    why          text[] NOT NULL CHECK (cardinality(why) > 0), -- what made it necessary, in words
    asked        text NOT NULL CHECK (asked ~ '^[0-9a-f]{64}$'), -- SHA-256 of what was asked: a vote is for exactly that
    head         text NOT NULL DEFAULT '',     -- of the pull request; a push makes the approval void
    needs        integer NOT NULL CHECK (needs BETWEEN 1 AND 2),
    by_role      text NOT NULL CHECK (by_role IN ('requester', 'platform_admin')),
    state        text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'refused', 'expired', 'void', 'used')),
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    decided_at   timestamptz,
    decided_why  text NOT NULL DEFAULT '',
    CHECK ((state = 'pending') = (decided_at IS NULL)),
    CHECK (expires_at > created_at)
);
CREATE UNIQUE INDEX approvals_one_pending ON approvals (cluster_id, kind) WHERE state = 'pending';
CREATE INDEX approvals_state ON approvals (state, id DESC);
CREATE INDEX approvals_cluster ON approvals (cluster_id, id DESC);

-- Whoever votes for an approval's id votes for what it was asked for: that never changes, and a decision is final.
-- +goose StatementBegin
CREATE FUNCTION approvals_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER approvals_guard BEFORE UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_guard();

CREATE TABLE approval_votes (
    approval_id text NOT NULL REFERENCES approvals,
    principal   text NOT NULL CHECK (principal <> ''),
    approves    boolean NOT NULL,
    reason      text NOT NULL,
    door        text NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (approval_id, principal)
);

-- Whom a cluster is shown to beside its team.
CREATE TABLE shares (
    cluster_id text NOT NULL REFERENCES clusters,
    kind       text NOT NULL CHECK (kind IN ('team', 'principal')),
    grantee    text NOT NULL CHECK (grantee <> ''),
    access     text NOT NULL CHECK (access IN ('see', 'use')), -- use: the kubeconfig too
    granted_by text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (cluster_id, kind, grantee)
);
CREATE INDEX shares_grantee ON shares (kind, grantee);

-- Links that work once, for one principal, for minutes. The link itself is kept as its SHA-256.
CREATE TABLE links (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    kind       text NOT NULL CHECK (kind IN ('kubeconfig', 'kubeadmin', 'account')),
    principal  text NOT NULL DEFAULT '' CHECK (kind = 'account' OR principal <> ''), -- who alone may use it; account: whoever signs in
    cluster_id text REFERENCES clusters,
    account    text NOT NULL DEFAULT '' CHECK ((kind = 'account') = (account <> '')), -- e.g. github:maya
    number     text NOT NULL DEFAULT '',       -- of the account where it is, which no renaming changes
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    CHECK ((kind = 'account') = (cluster_id IS NULL))
);
CREATE INDEX links_expired ON links (expires_at);

-- Accounts elsewhere whose owner signed in and said that they are theirs. No seats are kept: they follow from what the owner
-- proved, by the identities that are in force when somebody acts.
CREATE TABLE accounts (
    account   text PRIMARY KEY CHECK (account ~ '^(github|slack):.+$'),
    number    text NOT NULL DEFAULT '', -- the account's own, which no renaming changes: a name can come to be another's
    principal text NOT NULL CHECK (principal <> ''),
    name      text NOT NULL,
    proof     jsonb NOT NULL CHECK (jsonb_typeof(proof) = 'object'), -- what its owner proved at their last sign-in
    linked_at timestamptz NOT NULL,
    seen_at   timestamptz NOT NULL      -- of that sign-in
);
CREATE INDEX accounts_principal ON accounts (principal);

-- Answers to requests that may be sent again: the same key and body get the same answer.
CREATE TABLE answers (
    principal  text NOT NULL CHECK (principal <> ''),
    key        text NOT NULL CHECK (key <> ''),
    request    text NOT NULL CHECK (request ~ '^[0-9a-f]{64}$'), -- SHA-256 of method, path and body
    status     integer NOT NULL CHECK (status BETWEEN 200 AND 499),
    headers    jsonb NOT NULL DEFAULT '{}',
    body       bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX answers_expired ON answers (expires_at);

-- Signatures that were accepted once and are not accepted again.
CREATE TABLE signatures (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    expires_at timestamptz NOT NULL
);
CREATE INDEX signatures_expired ON signatures (expires_at);

-- The audit trail becomes a chain: a line carries the hash of the one before. The head is locked by each line until its
-- transaction ends, so that the order of the lines is the order of the commits.
ALTER TABLE audit_events
    ADD COLUMN door text NOT NULL DEFAULT '',
    ADD COLUMN seq bigint,
    ADD COLUMN previous text,
    ADD COLUMN hash text;
CREATE TABLE audit_head (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    seq  bigint NOT NULL,
    hash text NOT NULL
);
INSERT INTO audit_head (seq, hash) VALUES (0, repeat('0', 64));

-- What a line's hash is taken over: its texts in this order, each as its length in bytes, a colon and itself.
-- +goose StatementBegin
CREATE FUNCTION audit_hash(seq bigint, previous text, actor text, action text, door text, cluster text, metadata jsonb, created_at timestamptz)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(convert_to(string_agg(octet_length(part) || ':' || part, '' ORDER BY nr), 'UTF8')), 'hex')
    FROM unnest(ARRAY[seq::text, previous, actor, action, door, coalesce(cluster, ''), metadata::text,
        to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')]) WITH ORDINALITY AS t(part, nr)
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION audit_events_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT h.seq + 1, h.hash INTO new.seq, new.previous FROM audit_head h FOR UPDATE;
    new.hash := audit_hash(new.seq, new.previous, new.actor, new.action, new.door, new.target_cluster_id, new.metadata, new.created_at);
    UPDATE audit_head SET seq = new.seq, hash = new.hash;
    RETURN new;
END $$;
-- +goose StatementEnd
ALTER TABLE audit_events DISABLE TRIGGER audit_events_guard;
-- +goose StatementBegin
DO $$
DECLARE line record; n bigint := 0; before text := repeat('0', 64); own text;
BEGIN
    FOR line IN SELECT * FROM audit_events ORDER BY id LOOP
        n := n + 1;
        own := audit_hash(n, before, line.actor, line.action, line.door, line.target_cluster_id, line.metadata, line.created_at);
        UPDATE audit_events SET seq = n, previous = before, hash = own WHERE id = line.id;
        before := own;
    END LOOP;
    UPDATE audit_head SET seq = n, hash = before; -- once: a row updated in one transaction a million times is slow to find
END $$;
-- +goose StatementEnd
ALTER TABLE audit_events ENABLE TRIGGER audit_events_guard;
ALTER TABLE audit_events
    ALTER COLUMN seq SET NOT NULL, ALTER COLUMN previous SET NOT NULL, ALTER COLUMN hash SET NOT NULL,
    ADD CONSTRAINT audit_events_seq UNIQUE (seq);
CREATE TRIGGER audit_events_chain BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_events_chain();
DROP INDEX audit_events_cluster;
CREATE INDEX audit_events_cluster ON audit_events (target_cluster_id, seq);
CREATE INDEX audit_events_actor ON audit_events (actor, seq);
CREATE INDEX audit_events_action ON audit_events (action, seq);
CREATE INDEX audit_events_time ON audit_events (created_at);

-- Whoever watches is told which cluster changed; what changed is read. What a runner logs is told after its commit, by the
-- store: commits with a notification wait for each other's disk, and reports are many.
-- +goose StatementBegin
CREATE FUNCTION clusters_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('ocpctl_changes', 'cluster ' || new.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_changed AFTER INSERT OR UPDATE OF row_version, progress_percent, progress_step ON clusters
    FOR EACH ROW EXECUTE FUNCTION clusters_changed();

-- +goose Down
DROP TRIGGER clusters_changed ON clusters;
DROP FUNCTION clusters_changed;
DROP TRIGGER audit_events_chain ON audit_events;
DROP FUNCTION audit_events_chain;
ALTER TABLE audit_events DROP COLUMN door, DROP COLUMN seq, DROP COLUMN previous, DROP COLUMN hash; -- and their indexes
DROP INDEX audit_events_time;
CREATE INDEX audit_events_cluster ON audit_events (target_cluster_id, id);
DROP FUNCTION audit_hash;
DROP TABLE audit_head;
DROP TABLE signatures;
DROP TABLE answers;
DROP TABLE accounts;
DROP TABLE links;
DROP TABLE shares;
DROP TABLE approval_votes;
DROP TABLE approvals;
DROP FUNCTION approvals_guard;
DROP TABLE turns;
-- The release before knows no scaling: an open one would be taken for a teardown, and its running job keep a teardown's from
-- running. A runner that still scales is told that its attempt is closed.
UPDATE clusters c SET seen = a.number, retry_at = NULL FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'scale' AND a.closed_at IS NULL;
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that cannot scale'
WHERE kind = 'scale' AND closed_at IS NULL;
UPDATE jobs SET status = 'FAILED', ended_at = clock_timestamp(), error_code = 'Cancelled', error_message = 'this installation went back to a release that cannot scale'
WHERE job_type = 'SCALE_WORKERS' AND ended_at IS NULL;
ALTER TABLE attempts DROP CONSTRAINT attempts_scale, DROP COLUMN workers_wanted, DROP COLUMN workers_seen;
ALTER TABLE attempts DROP CONSTRAINT attempts_phase_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
    'configuring', 'restoring', 'destroying', 'verifying')) NOT VALID;
ALTER TABLE attempts DROP CONSTRAINT attempts_kind_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy')) NOT VALID;
DROP INDEX clusters_counted;
DROP INDEX clusters_ended;
ALTER TABLE clusters DROP COLUMN meter_since, DROP COLUMN meter_cents, DROP COLUMN meter_nodes, DROP COLUMN meter_month,
    DROP COLUMN month_cents, DROP COLUMN month_node_hours;
ALTER TABLE clusters DROP CONSTRAINT clusters_end_within_max;
ALTER TABLE clusters DROP COLUMN destroy_at;
ALTER TABLE clusters
    DROP CONSTRAINT clusters_scaling,
    DROP CONSTRAINT clusters_hold,
    DROP CONSTRAINT clusters_approve_by,
    DROP COLUMN nodes, DROP COLUMN workers_base, DROP COLUMN workers_least, DROP COLUMN workers_most, DROP COLUMN workers,
    DROP COLUMN workers_wanted, DROP COLUMN scale_failures, DROP COLUMN end_hold, DROP COLUMN hold_why, DROP COLUMN approve_by, DROP COLUMN needs_turn;
ALTER TABLE clusters ADD COLUMN destroy_at timestamptz NOT NULL GENERATED ALWAYS AS
    (least(end_ttl, end_max, end_pr_closed, end_label_removed, end_run_finished, end_claim)) STORED;
ALTER TABLE clusters ADD CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at);

-- The whole schema as of 0.1.0. It stands for the migrations 1 to 71 of the versions before: a database that has the last of them has exactly
-- this schema (store/testdata/schema.golden), and goes on from here.
--
-- The constraints state the invariants again that lifecycle and store keep, so that no fault in the programs and no edit by hand breaks them
-- unnoticed. No table holds a secret. Times are UTC, money is cents of a US dollar where nothing else is said.

-- +goose Up

--
-- People: who is whom
--

-- The form in which principals are compared: GitHub logins and SAML names ignore case.
-- +goose StatementBegin
CREATE FUNCTION principal_key(id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN id LIKE 'github:%' OR id LIKE 'saml:%' THEN lower(id) ELSE id END
$$;
-- +goose StatementEnd

-- Accounts elsewhere whose owner signed in and said that they are theirs. No roles are kept: they follow from what the owner proved, by
-- the identities that are in force when somebody acts.
CREATE TABLE accounts (
    account   text PRIMARY KEY CHECK (account ~ '^(github|slack):.+$'),
    number    text NOT NULL DEFAULT '', -- the account's own, which no renaming changes: a name can come to be another's
    principal text NOT NULL CHECK (principal <> ''),
    name      text NOT NULL,
    proof     jsonb NOT NULL CHECK (jsonb_typeof(proof) = 'object'), -- what its owner proved at their last sign-in
    linked_at timestamptz NOT NULL,
    seen_at   timestamptz NOT NULL -- of that sign-in
);
CREATE INDEX accounts_principal ON accounts (principal);
CREATE INDEX accounts_key ON accounts (principal_key(account));
CREATE INDEX accounts_principal_key ON accounts (principal_key(principal));

-- Accounts on GitHub that did something here. GitHub's number of an account never changes and is never given again; its login may.
CREATE TABLE github_accounts (
    id        bigint PRIMARY KEY CHECK (id > 0),
    login     text NOT NULL CHECK (login <> ''), -- as it was seen last, to show
    seen_at   timestamptz NOT NULL,
    principal text NOT NULL GENERATED ALWAYS AS ('github:id/' || id::text) STORED
);
CREATE UNIQUE INDEX github_accounts_principal ON github_accounts (principal);
-- Who else was seen with an account's login since.
CREATE INDEX github_accounts_login ON github_accounts (lower(login));

-- Whose a login is: the first account that is seen with it keeps it, also after it was renamed. The next account with the login is nobody
-- known. NULL: several accounts had it before this was written down, so it is nobody's.
CREATE TABLE github_logins (
    login     text PRIMARY KEY CHECK (login <> '' AND login = lower(login)),
    account   bigint REFERENCES github_accounts,
    principal text GENERATED ALWAYS AS ('github:id/' || account::text) STORED
);
CREATE INDEX github_logins_principal ON github_logins (principal);

-- How an owner may be written who is one of these people; in lower case.
CREATE TABLE person_spellings (
    spelling text PRIMARY KEY CHECK (spelling <> ''),
    person   text NOT NULL CHECK (person LIKE 'person:%'),
    name     text NOT NULL CHECK (name <> '')
);
CREATE INDEX person_spellings_person ON person_spellings (person);

-- The people of the catalogue in force, as the servers last read it. Rows elsewhere keep the principal who acted; whom they count for is
-- asked here at each reading, so linking and unlinking also move what was there before.
CREATE TABLE person_identities (
    identity text PRIMARY KEY CHECK (identity <> ''), -- as principal_key gives it
    person   text NOT NULL CHECK (person LIKE 'person:%'),
    name     text NOT NULL CHECK (name <> '') -- to show
);
CREATE INDEX person_identities_person ON person_identities (person);

-- Whom a principal counts for: the catalogue's person, else the owner of the linked account, else the catalogue's person with the
-- account's e-mail in Slack, else itself. The catalogue may name an account on GitHub by its number, which comes first, or by a login.
-- +goose StatementBegin
CREATE FUNCTION person_of(id text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    key text := account_of(principal_key(id));
    known text;
BEGIN
    SELECT p.person INTO known FROM person_identities p WHERE p.identity = key;
    IF known IS NULL AND key LIKE 'github:id/%' THEN
        SELECT p.person INTO known FROM github_logins l JOIN person_identities p ON p.identity = 'github:' || l.login WHERE l.principal = key ORDER BY 1 LIMIT 1;
    END IF;
    IF known IS NULL THEN
        SELECT coalesce(p.person, principal_key(a.principal)) INTO known FROM accounts a
            LEFT JOIN person_identities p ON p.identity = principal_key(a.principal) WHERE principal_key(a.account) = key LIMIT 1;
    END IF;
    IF known IS NULL AND key LIKE 'slack:%' THEN
        SELECT p.person INTO known FROM slack_people s JOIN person_identities p ON p.identity = s.mapped WHERE s.account = key AND s.mapped <> '';
    END IF;
    RETURN coalesce(known, key);
END $$;
-- +goose StatementEnd

-- The principal of an account on GitHub by a login that is its alone; another key as it is.
-- +goose StatementBegin
CREATE FUNCTION account_of(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN key LIKE 'github:%' AND key NOT LIKE 'github:id/%'
        THEN coalesce((SELECT l.principal FROM github_logins l WHERE l.login = substr(key, length('github:') + 1)), key) ELSE key END
$$;
-- +goose StatementEnd

-- Every identity of the person whom a principal counts for, as principal_key gives them. Old rows
-- name logins on GitHub.
-- +goose StatementBegin
CREATE FUNCTION identities_of(id text) RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    whole text := person_of(id);
    own text[];
BEGIN
    own := ARRAY[account_of(principal_key(id)), whole] || ARRAY(SELECT p.identity FROM person_identities p WHERE p.person = whole);
    own := own || ARRAY(SELECT account_of(o) FROM unnest(own) AS o WHERE person_of(o) = whole);
    own := own || ARRAY(SELECT principal_key(a.account) FROM accounts a WHERE principal_key(a.principal) = ANY (own) AND person_of(a.account) = whole)
        || ARRAY(SELECT s.account FROM slack_people s WHERE s.mapped = ANY (own) AND s.mapped <> '' AND person_of(s.account) = whole);
    RETURN ARRAY(SELECT unnest(own) UNION SELECT 'github:' || l.login FROM github_logins l WHERE l.principal = ANY (own) ORDER BY 1);
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

-- Signatures that were accepted once and are not accepted again.
CREATE TABLE signatures (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    expires_at timestamptz NOT NULL
);
CREATE INDEX signatures_expired ON signatures (expires_at);

-- The permission that GitHub last reported for a person in a repository. While GitHub gives no answer, it counts for an hour, and only
-- for ending a cluster.
CREATE TABLE seen_permissions (
    installation bigint NOT NULL,
    repo         text NOT NULL CHECK (repo = lower(repo) AND repo <> ''), -- owner/name
    account      bigint NOT NULL CHECK (account > 0), -- GitHub's own number of the person
    login        text NOT NULL CHECK (login <> ''),
    permission   text NOT NULL CHECK (permission <> ''),
    teams        text[] NOT NULL DEFAULT '{}', -- of those the catalogue names, the ones the person is in
    seen_at      timestamptz NOT NULL,
    PRIMARY KEY (installation, repo, account)
);
CREATE INDEX seen_permissions_seen_at ON seen_permissions (seen_at);

--
-- Clusters
--

-- A cluster, from its acceptance until nothing of it is left. The row stays. Only store.Apply writes status and phase.
CREATE TABLE clusters (
    id                text PRIMARY KEY CHECK (id LIKE 'clu\_%'),
    row_version       bigint NOT NULL DEFAULT 1 CHECK (row_version > 0), -- guards store.Apply
    pokes             bigint NOT NULL DEFAULT 1, -- counts facts and requests; names the reconcile job

    -- What was accepted.
    name              text NOT NULL CHECK (name ~ '^[a-z]([-a-z0-9]*[a-z0-9])?$' AND length(name) <= 21),
    generation        integer NOT NULL DEFAULT 1 CHECK (generation > 0),
    retry_of          text REFERENCES clusters, -- the one that failed or ended and was requested again
    platform          text NOT NULL CHECK (platform IN ('aws', 'ibmcloud')),
    version           text NOT NULL CHECK (version <> ''), -- of OpenShift
    profile           text NOT NULL CHECK (profile <> ''),
    region            text NOT NULL CHECK (region <> ''),
    base_domain       text NOT NULL CHECK (base_domain <> ''),
    owner             text NOT NULL,
    team              text NOT NULL,
    cost_center       text NOT NULL,
    environment       text NOT NULL,
    requested_by      text NOT NULL CHECK (requested_by <> ''), -- principal id
    source            text NOT NULL,
    ttl               interval NOT NULL CHECK (ttl > interval '0'),
    ttl_hours         numeric NOT NULL GENERATED ALWAYS AS (round(extract(epoch FROM ttl) / 3600, 6)) STORED,
    hourly_cents      integer NOT NULL CHECK (hourly_cents >= 0), -- list price, US cents
    coming_cents      integer CHECK (coming_cents >= 0), -- list price of an hour to come, with the workers asked for; NULL: hourly_cents
    asleep_cents      integer CHECK (asleep_cents >= 0), -- list price of an hour asleep; NULL: its profile names none
    -- What each worker adds to the list price of an hour, in millionths of a US dollar. NULL: not known; each machine has the same share.
    worker_micros     integer CHECK (worker_micros >= 0),
    nodes             integer NOT NULL DEFAULT 0 CHECK (nodes >= 0), -- machines at acceptance; 0: not counted
    weight            integer NOT NULL DEFAULT 1 CHECK (weight > 0), -- the team's share of what clusters wait for
    request_tags      jsonb NOT NULL,
    effective_tags    jsonb NOT NULL,
    spec              jsonb NOT NULL, -- frozen
    addons            text[] NOT NULL DEFAULT '{}', -- names, in the order they are brought; never changes
    sleep_mode        text CHECK (sleep_mode IN ('workers', 'stopped')), -- how it sleeps, frozen at acceptance; NULL: it cannot
    off_hours         boolean NOT NULL DEFAULT false, -- it sleeps outside working hours, frozen at acceptance
    use_extends       boolean NOT NULL DEFAULT false, -- its time to live begins anew with each use, frozen at acceptance
    -- Its people are told, it sleeps, it ends after so long without use; zero: never.
    idle_tell         interval NOT NULL DEFAULT '0' CHECK (idle_tell >= interval '0'),
    idle_sleep        interval NOT NULL DEFAULT '0' CHECK (idle_sleep >= interval '0'),
    idle_end          interval NOT NULL DEFAULT '0' CHECK (idle_end >= interval '0'),
    warn_before       interval[], -- how long before the end, frozen at acceptance; NULL: the limit's
    workers_base      integer CHECK (workers_base >= 0), -- the profile's; NULL: not known
    workers_least     integer CHECK (workers_least >= 0), -- bounds of scaling, frozen; NULL: cannot be scaled
    workers_most      integer,

    -- The pull request that asked for it.
    installation      bigint, -- of the GitHub App
    repo              text, -- owner/name
    repo_id           bigint NOT NULL DEFAULT 0, -- GitHub's number of the repository, which no renaming changes; 0: not known
    pr_number         integer,
    pr_head           text,

    -- What was decided last.
    status            text NOT NULL,
    phase             text NOT NULL,
    why               text NOT NULL CHECK (why <> ''),
    desired           text NOT NULL DEFAULT 'present',
    desired_why       text NOT NULL DEFAULT '',
    teardown          text NOT NULL DEFAULT '' CHECK (teardown IN ('', 'DESTROY', 'JANITOR_DESTROY')),
    needs_approval    boolean NOT NULL DEFAULT false,
    approve_by        timestamptz, -- while an approval is awaited: nobody did by then
    needs_turn        boolean NOT NULL DEFAULT false, -- a quota was full; nothing runs before its turn
    position          integer NOT NULL DEFAULT 0 CHECK (position >= 0), -- in line for room
    abandoned         boolean NOT NULL DEFAULT false,
    max_tries         integer NOT NULL CHECK (max_tries > 0),
    tries             integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    destroy_failures  integer NOT NULL DEFAULT 0 CHECK (destroy_failures >= 0),
    seen              integer NOT NULL DEFAULT 0, -- newest closed attempt that is accounted for
    retry_at          timestamptz,
    wake_at           timestamptz, -- look again then
    nudged_at         timestamptz, -- when a look was last asked for because that time had come
    ready_at          timestamptz,
    -- A leak opens the teardown of a released cluster again. The audit trail has the earlier release.
    reopened_at       timestamptz,
    reopened          integer NOT NULL DEFAULT 0 CHECK (reopened >= 0), -- how often

    -- Progress and failures.
    progress_percent  integer NOT NULL DEFAULT 0 CHECK (progress_percent BETWEEN 0 AND 100),
    progress_step     text NOT NULL DEFAULT '',
    progress_eta      timestamptz,
    progress_late     timestamptz,
    fail_reason       text NOT NULL DEFAULT '',
    fail_message      text NOT NULL DEFAULT '',
    fail_whose        text NOT NULL DEFAULT '' CHECK (fail_whose IN ('', 'user', 'quota', 'cloud', 'installer', 'ocpctl')),
    fail_next         text NOT NULL DEFAULT '',
    blockers          text[] NOT NULL DEFAULT '{}',
    -- Why the last teardown left something, who has to act, and what to do about it; empty: none did, or it is not known.
    stuck_reason      text NOT NULL DEFAULT '',
    stuck_whose       text NOT NULL DEFAULT '' CHECK (stuck_whose IN ('', 'user', 'quota', 'cloud', 'installer', 'ocpctl')),
    stuck_next        text NOT NULL DEFAULT '',
    degraded          text NOT NULL DEFAULT '', -- what its control plane lacks since it woke last, for people; empty: nothing

    -- Work on a living cluster. How each kind stands, by kind: number of the newest request (wanted), of the newest that was met or
    -- given up (done), tries in a row that failed (failures), no new try before (retry_at), last done (done_at), newest attempt that was
    -- accounted for (seen). What is zero may be left out. It is part of the cluster's row because a lock reads that row again when it
    -- waited, but not rows that are joined to it.
    work              jsonb NOT NULL DEFAULT '{}',
    workers           integer CHECK (workers >= 0), -- as last seen; NULL: as the profile's
    workers_wanted    integer CHECK (workers_wanted >= 0), -- what somebody asked for; NULL: nothing was asked

    -- Sleep and use.
    sleep_wanted      boolean NOT NULL DEFAULT false,
    sleep_until       timestamptz, -- it is woken at this time; NULL: somebody has to
    sleep_why         text NOT NULL DEFAULT '',
    power             text NOT NULL DEFAULT '' CHECK (power IN ('', 'changing', 'asleep')), -- as last seen; empty: awake
    power_by          text NOT NULL DEFAULT '' CHECK (power_by IN ('', 'hours', 'idle')), -- who said last whether it sleeps; empty: a person
    awake_since       timestamptz, -- when it was last seen awake after it had slept
    awake_until       timestamptz, -- no schedule puts it to sleep before this
    hours_at          timestamptz, -- when to look at the schedule again
    rest_at           timestamptz, -- when its schedule puts it to sleep next, as of the last look at it
    rest_warned       timestamptz, -- the time to fall asleep that the newest warning was about
    active_at         timestamptz, -- when it was last used, as far as ocpctl knows
    active_what       text NOT NULL DEFAULT '', -- what that was, for people
    idle_told         timestamptz, -- when its people were last told that nobody uses it

    -- The ends. The earliest counts, and none but the maximum comes before a hold.
    end_ttl           timestamptz NOT NULL,
    end_max           timestamptz NOT NULL,
    end_pr_closed     timestamptz,
    -- Why the pull request counts as closed, where it is not because somebody closed it.
    pr_end_why        text NOT NULL DEFAULT '',
    end_label_removed timestamptz,
    end_run_finished  timestamptz,
    run_end_why       text NOT NULL DEFAULT '', -- why end_run_finished is set; empty: the run finished
    end_claim         timestamptz,
    end_idle          timestamptz, -- nobody used it for too long
    end_hold          timestamptz, -- no end but the maximum comes before it
    hold_why          text NOT NULL DEFAULT '',
    destroy_at        timestamptz NOT NULL GENERATED ALWAYS AS (least(end_max, greatest(end_hold, least(end_ttl, end_pr_closed, end_label_removed,
        end_run_finished, end_claim, end_idle)))) STORED,
    warned_end        timestamptz, -- the end that the newest warning was about; NULL: there was none
    warned_before     interval NOT NULL DEFAULT '0', -- which of that end's warnings it was

    -- The meter, moved on by each usage sample: quotas read one row, however often the cluster changed.
    meter_since       timestamptz, -- since when the present rate runs; NULL: it never cost anything
    meter_cents       integer NOT NULL DEFAULT 0, -- that rate, US cents an hour
    meter_nodes       integer NOT NULL DEFAULT 0, -- and the machines
    meter_month       timestamptz, -- first moment (UTC) of the calendar month of meter_since
    -- What it cost in the month of meter_month before meter_since. An amount is exact: cents an hour x milliseconds (package price).
    month_amount      bigint NOT NULL DEFAULT 0 CHECK (month_amount >= 0),
    month_node_hours  double precision NOT NULL DEFAULT 0,
    month_cents       double precision NOT NULL DEFAULT 0, -- no longer read or written

    created_at        timestamptz NOT NULL, -- accepted
    updated_at        timestamptz NOT NULL,
    destroyed_at      timestamptz, -- released

    CONSTRAINT clusters_wish_check CHECK (desired IN ('present', 'absent')),
    CONSTRAINT clusters_released CHECK ((status = 'DESTROYED') = (destroyed_at IS NOT NULL)),
    CONSTRAINT clusters_released_unwanted CHECK (status <> 'DESTROYED' OR desired = 'absent'),
    CONSTRAINT clusters_never_sleep CHECK (status = 'DESTROYED' OR wake_at IS NOT NULL),
    CONSTRAINT clusters_absent_says_why CHECK (
        (desired = 'present' AND desired_why = '') OR (desired = 'absent' AND desired_why <> '' AND teardown <> '')),
    CONSTRAINT clusters_pull_request CHECK (num_nonnulls(installation, repo, pr_number, pr_head) IN (0, 4)),
    CONSTRAINT clusters_spec_no_secret CHECK (coalesce(spec ->> 'installConfig', '') !~ '(^|\n)\s*(pullSecret|secretAccessKey|password)\s*:'),
    CHECK (workers_most >= workers_least),
    CONSTRAINT clusters_scaling CHECK (workers_wanted IS NULL OR workers_wanted BETWEEN workers_least AND workers_most),
    CONSTRAINT clusters_hold CHECK ((end_hold IS NULL) = (hold_why = '') AND end_hold <= end_max),
    CONSTRAINT clusters_approve_by CHECK (NOT needs_approval OR approve_by IS NOT NULL),
    CONSTRAINT clusters_check1 CHECK (retry_of <> id),
    CONSTRAINT clusters_reopened CHECK ((reopened = 0) = (reopened_at IS NULL)),
    CONSTRAINT clusters_sleep_wanted CHECK (sleep_mode IS NOT NULL OR (NOT sleep_wanted AND power = '')),
    CONSTRAINT clusters_sleep_until CHECK (sleep_wanted OR sleep_until IS NULL),
    CONSTRAINT clusters_status_phase CHECK (
        (status = 'PENDING'    AND phase IN ('queued', 'awaiting_approval', 'awaiting_capacity')) OR
        (status = 'CREATING'   AND phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring', 'cleaning')) OR
        (status = 'READY'      AND phase IN ('ready', 'degraded', 'scaled_down', 'expiring', 'going_to_sleep', 'asleep', 'waking')) OR
        (status = 'DESTROYING' AND phase IN ('stopping', 'restoring', 'destroying', 'verifying')) OR
        (status = 'DESTROYED'  AND phase = 'released') OR
        (status = 'FAILED'     AND phase IN ('create_failed', 'destroy_blocked', 'abandoned'))),
    CONSTRAINT clusters_off_hours CHECK (sleep_mode IS NOT NULL OR NOT off_hours),
    CONSTRAINT clusters_idle_told CHECK (idle_tell > interval '0' OR (idle_sleep = interval '0' AND idle_end = interval '0')),
    CONSTRAINT clusters_idle_end CHECK (end_idle IS NULL OR idle_end > interval '0'),
    CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at),
    CONSTRAINT clusters_work CHECK (jsonb_typeof(work) = 'object' AND NOT jsonb_path_exists(work,
        '$.*?((@."done" > @."wanted" || @."done" > 0 && !(exists (@."wanted"))) || @."failures" < 0)'))
);
-- A name is taken until its cluster is released, whatever its status.
CREATE UNIQUE INDEX clusters_live_name ON clusters (platform, base_domain, name) WHERE destroyed_at IS NULL;
-- One wanted cluster per pull request and profile; an older generation may still be going.
CREATE UNIQUE INDEX clusters_one_wanted_per_pr ON clusters (repo, pr_number, profile) WHERE desired = 'present' AND repo IS NOT NULL;
CREATE UNIQUE INDEX clusters_generation ON clusters (repo, pr_number, profile, generation) WHERE repo IS NOT NULL;
CREATE INDEX clusters_live ON clusters (id DESC) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_status ON clusters (status, id DESC);
CREATE INDEX clusters_team ON clusters (team, id DESC);
CREATE INDEX clusters_wake ON clusters (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX clusters_wanted_pulls ON clusters (installation, repo, pr_number) WHERE desired = 'present' AND repo IS NOT NULL;
CREATE INDEX clusters_ended ON clusters (destroyed_at) INCLUDE (requested_by, team, repo, meter_month, month_amount, month_node_hours);
-- A cluster that is gone can still be read by its name: the newest of that name answers. Names of clusters that are gone repeat.
CREATE INDEX clusters_name ON clusters (name, id DESC);
-- A request counts what its person, its team and its repository use: each finds its own clusters, however many others there are. Of the
-- released ones, only those of this month count.
CREATE INDEX clusters_counted_person ON clusters (principal_key(requested_by), destroyed_at);
CREATE INDEX clusters_counted_team ON clusters (team, destroyed_at);
CREATE INDEX clusters_counted_repo ON clusters (repo, destroyed_at) WHERE repo IS NOT NULL;
CREATE INDEX clusters_retry_of ON clusters (retry_of, id) WHERE retry_of IS NOT NULL;
CREATE INDEX clusters_reopened_at ON clusters (reopened_at) WHERE reopened_at IS NOT NULL;
-- Who has what now, and had what this month, is counted from these alone.
CREATE INDEX clusters_counted ON clusters (team) INCLUDE (id, requested_by, repo, desired, status, needs_turn, needs_approval, destroy_at,
    hourly_cents, coming_cents, nodes, workers, workers_base, workers_wanted, meter_since, meter_cents, meter_nodes, meter_month, month_amount,
    month_node_hours) WHERE destroyed_at IS NULL;
-- The controller decides the ready clusters whose next look or end has come; the others are as they should be.
CREATE INDEX clusters_due ON clusters (least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at))
    WHERE destroyed_at IS NULL AND status = 'READY';

-- What was accepted never changes, absent and released are final, and only an orphan whose removal was approved opens a teardown again.
-- +goose StatementBegin
CREATE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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
        IF new.status <> 'DESTROYING' OR new.reopened <> old.reopened + 1 OR NOT EXISTS (
            SELECT FROM orphans o WHERE o.cleanup_cluster = old.id AND o.state = 'approved') THEN
            RAISE EXCEPTION 'cluster % is released; only a leak whose removal is allowed opens its teardown again', old.id USING ERRCODE = 'check_violation';
        END IF;
    ELSIF (new.reopened, new.reopened_at) IS DISTINCT FROM (old.reopened, old.reopened_at) THEN
        RAISE EXCEPTION 'cluster % is not released, so its teardown cannot be opened again', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_guard BEFORE UPDATE ON clusters FOR EACH ROW EXECUTE FUNCTION clusters_guard();

-- A release needs its proof: two clean counts of the newest attempt since the teardown was last opened, or that none was ever opened.
-- +goose StatementBegin
CREATE FUNCTION clusters_release_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id AND a.closed_at IS NULL) THEN
        RAISE EXCEPTION 'cluster % has an open attempt', new.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.reopened > 0 OR EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id)) AND 2 > (
        SELECT count(*) FROM verifications v
        WHERE v.clean AND v.attempt_id = (SELECT a.id FROM attempts a WHERE a.cluster_id = new.id
            AND (new.reopened_at IS NULL OR a.opened_at >= new.reopened_at) ORDER BY a.number DESC LIMIT 1)) THEN
        RAISE EXCEPTION 'cluster % has no proof of zero', new.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_release_guard BEFORE UPDATE OF status ON clusters FOR EACH ROW
    WHEN (new.status = 'DESTROYED' AND old.status <> 'DESTROYED') EXECUTE FUNCTION clusters_release_guard();

-- Whoever watches is told which cluster changed; what changed is read. What a runner logs is told after its commit, by the store: commits
-- with a notification wait for each other's disk, and reports are many.
-- +goose StatementBegin
CREATE FUNCTION clusters_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('ocpctl_changes', 'cluster ' || new.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_changed AFTER INSERT OR UPDATE OF row_version, progress_percent, progress_step ON clusters
    FOR EACH ROW EXECUTE FUNCTION clusters_changed();

-- Where a cluster came from never changes. What its repository is called, and which installation reaches it, may, by a transaction that
-- says that it renames.
-- +goose StatementBegin
CREATE FUNCTION clusters_origin_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER clusters_origin_guard BEFORE UPDATE OF repo, installation, repo_id, pr_number, pr_head, generation, source, requested_by ON clusters
    FOR EACH ROW EXECUTE FUNCTION clusters_origin_guard();

-- The add-ons of a cluster never change.
-- +goose StatementBegin
CREATE FUNCTION addons_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'clusters' THEN
        IF new.addons IS DISTINCT FROM old.addons THEN
            RAISE EXCEPTION 'the add-ons of cluster % never change', old.id USING ERRCODE = 'check_violation';
        END IF;
        RETURN new;
    END IF;
    RAISE EXCEPTION 'the add-ons of cluster % never change', old.cluster_id USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_addons_guard BEFORE UPDATE OF addons ON clusters FOR EACH ROW EXECUTE FUNCTION addons_guard();

-- Where a ready cluster is reached, and where its credentials are. No secret.
CREATE TABLE cluster_outputs (
    cluster_id           text PRIMARY KEY REFERENCES clusters,
    api_url              text NOT NULL,
    console_url          text NOT NULL,
    kubeconfig_s3_uri    text NOT NULL CHECK (kubeconfig_s3_uri ~ '^(s3://.+)?$'),
    kubeadmin_secret_ref text NOT NULL CHECK (kubeadmin_secret_ref ~ '^([a-z0-9]+:.+)?$'), -- a reference, never the password
    metadata_s3_uri      text NOT NULL CHECK (metadata_s3_uri ~ '^(s3://.+)?$')
);

-- What the add-ons were made of when the cluster was accepted: a later catalogue changes no cluster that is there. No secret.
CREATE TABLE cluster_addons (
    cluster_id text NOT NULL REFERENCES clusters,
    position   integer NOT NULL CHECK (position > 0),
    name       text NOT NULL CHECK (name ~ '^[a-z][-a-z0-9]{0,39}$'),
    manifests  text NOT NULL CHECK (octet_length(manifests) BETWEEN 1 AND 131072), -- a JSON List of Kubernetes objects
    waits      jsonb NOT NULL CHECK (jsonb_typeof(waits) = 'array'), -- [{"kind","name","namespace","condition","timeout"}]
    PRIMARY KEY (cluster_id, position),
    UNIQUE (cluster_id, name)
);
CREATE TRIGGER cluster_addons_guard BEFORE UPDATE OR DELETE ON cluster_addons FOR EACH ROW EXECUTE FUNCTION addons_guard();

-- What is true of a cluster at present, in the shape of Kubernetes' conditions.
CREATE TABLE conditions (
    cluster_id text NOT NULL REFERENCES clusters,
    type       text NOT NULL,
    status     text NOT NULL CHECK (status IN ('True', 'False', 'Unknown')),
    reason     text NOT NULL,
    message    text NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (cluster_id, type)
);

-- Every request for a cluster with its verdict, refused ones too.
CREATE TABLE cluster_requests (
    id           text PRIMARY KEY CHECK (id LIKE 'req\_%'),
    principal_id text NOT NULL CHECK (principal_id <> ''),
    source       text NOT NULL,
    allowed      boolean NOT NULL,
    verdict      jsonb NOT NULL,
    request      jsonb NOT NULL,
    cluster_id   text REFERENCES clusters DEFERRABLE INITIALLY DEFERRED,
    created_at   timestamptz NOT NULL,
    correlation  text NOT NULL DEFAULT '',
    CHECK (allowed = (cluster_id IS NOT NULL))
);
CREATE INDEX cluster_requests_cluster ON cluster_requests (cluster_id);
CREATE INDEX cluster_requests_refused ON cluster_requests (created_at) WHERE NOT allowed;

-- What came of requests that may come twice: the same key has the same result, and the answer is rendered again.
CREATE TABLE request_keys (
    principal  text NOT NULL CHECK (principal <> ''),
    key        text NOT NULL CHECK (key <> ''),
    content    text NOT NULL DEFAULT '' CHECK (content ~ '^([0-9a-f]{64})?$'), -- SHA-256 of what was asked; empty: the key alone says it
    request_id text REFERENCES cluster_requests ON DELETE CASCADE, -- null: it got a cluster that was there
    cluster_id text REFERENCES clusters, -- null: it was refused
    created_at timestamptz NOT NULL,
    expires_at timestamptz, -- null: never
    CHECK (request_id IS NOT NULL OR cluster_id IS NOT NULL),
    PRIMARY KEY (principal, key)
);
CREATE INDEX request_keys_expired ON request_keys (expires_at);
CREATE INDEX request_keys_cluster ON request_keys (cluster_id);
CREATE INDEX request_keys_request ON request_keys (request_id);

-- Offers of a cluster to a person, who becomes its owner by accepting. A cluster is offered to one person at a time.
CREATE TABLE handovers (
    id             text PRIMARY KEY CHECK (id LIKE 'hnd\_%'),
    cluster_id     text NOT NULL REFERENCES clusters,
    team           text NOT NULL CHECK (team <> ''), -- the cluster's when it was offered
    from_principal text NOT NULL CHECK (from_principal <> ''),
    from_name      text NOT NULL,
    to_account     text NOT NULL CHECK (to_account <> ''), -- e.g. slack:T012AB3CD/U023BECGF
    to_name        text NOT NULL,
    state          text NOT NULL DEFAULT 'offered' CHECK (state IN ('offered', 'accepted', 'declined', 'withdrawn', 'expired')),
    cause          text NOT NULL UNIQUE CHECK (cause <> ''), -- the same request offers once
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    decided_at     timestamptz,
    decided_by     text NOT NULL DEFAULT '', -- principal
    note           text NOT NULL DEFAULT '', -- why it ended; empty: no reason was given
    -- What the person who offers it had proved, so that their roles are judged again when the offer is accepted.
    from_claims    jsonb,
    CONSTRAINT handovers_last CHECK (expires_at > created_at),
    CONSTRAINT handovers_decided CHECK ((state = 'offered') = (decided_at IS NULL) AND (state = 'offered') = (decided_by = ''))
);
CREATE UNIQUE INDEX handovers_offered ON handovers (cluster_id) WHERE state = 'offered';

-- What is to be deleted of a cluster that is gone. The rows are written with the cluster's end, so before anything is deleted, and stay
-- as the record that it was.
CREATE TABLE removals (
    cluster_id text NOT NULL REFERENCES clusters,
    kind       text NOT NULL CHECK (kind IN ('access', 'access_again', 'state')),
    done_at    timestamptz, -- NULL: not yet
    objects    bigint NOT NULL DEFAULT 0 CHECK (objects >= 0), -- deleted, each version and delete marker counted
    tries      integer NOT NULL DEFAULT 0 CHECK (tries >= 0), -- that failed
    problem    text NOT NULL DEFAULT '', -- of the last try; empty: none
    PRIMARY KEY (cluster_id, kind)
);
CREATE INDEX removals_open ON removals (kind, cluster_id) WHERE done_at IS NULL;

--
-- Work: jobs, their attempts, and what runners reported
--

-- The public record of work. River's rows are delivery only.
CREATE TABLE jobs (
    id            text PRIMARY KEY CHECK (id LIKE 'job\_%'),
    cluster_id    text NOT NULL REFERENCES clusters,
    job_type      text NOT NULL CHECK (job_type ~ '^[A-Z_]{1,40}$'),
    status        text NOT NULL CHECK (status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'RETRYING')),
    attempt       integer NOT NULL DEFAULT 0, -- number of its newest attempt; 0: none yet
    error_code    text NOT NULL DEFAULT '',
    error_message text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL,
    started_at    timestamptz,
    ended_at      timestamptz,
    CONSTRAINT jobs_ended CHECK ((status IN ('SUCCEEDED', 'FAILED')) = (ended_at IS NOT NULL)),
    CONSTRAINT jobs_started CHECK (status <> 'RUNNING' OR started_at IS NOT NULL)
);
CREATE UNIQUE INDEX jobs_one_running ON jobs (cluster_id) WHERE status = 'RUNNING';
CREATE UNIQUE INDEX jobs_one_unfinished_per_type ON jobs (cluster_id, job_type) WHERE ended_at IS NULL;
CREATE INDEX jobs_newest ON jobs (cluster_id, created_at DESC, id DESC);
-- The metrics count the ended jobs and the released clusters since the last time.
CREATE INDEX jobs_ended ON jobs (ended_at) INCLUDE (job_type, status);

-- Tries of a job. The number is a fence: a runner reports with the number of its attempt, and only the newest one is heard. Rows stay.
CREATE TABLE attempts (
    id                text PRIMARY KEY CHECK (id LIKE 'att\_%'),
    cluster_id        text NOT NULL REFERENCES clusters,
    job_id            text NOT NULL REFERENCES jobs,
    number            integer NOT NULL CHECK (number > 0), -- the fence
    kind              text NOT NULL CHECK (kind ~ '^[a-z_]{1,40}$'),
    token_id          text NOT NULL UNIQUE CHECK (token_id <> ''), -- jti of the attempt's JWT, no secret
    opened_at         timestamptz NOT NULL,
    claimed_by        text CHECK (claimed_by <> ''), -- pod
    claimed_at        timestamptz,
    lease_until       timestamptz,
    stop_asked        boolean NOT NULL DEFAULT false,
    stop_why          text NOT NULL DEFAULT '',
    phase             text NOT NULL CHECK (phase ~ '^[a-z_]{1,40}$'),
    progress_percent  integer NOT NULL DEFAULT 0 CHECK (progress_percent BETWEEN 0 AND 100),
    progress_step     text NOT NULL DEFAULT '',
    seen_account      text NOT NULL DEFAULT '', -- as preflight saw it
    tool_exited_at    timestamptz, -- when it was told, on our clock
    tool_exit_code    integer,
    -- what was acknowledged before anything was made under it; each written once
    recorded_at       timestamptz,
    infra_id          text CHECK (infra_id <> ''),
    cluster_uuid      text CHECK (cluster_uuid <> ''),
    cco_name          text CHECK (cco_name <> '' AND length(cco_name) <= 20 AND cco_name = lower(cco_name)),
    account           text CHECK (account <> ''),
    region            text CHECK (region <> ''),
    release_digest    text CHECK (release_digest <> ''),
    metadata          text CHECK (metadata <> ''),
    closed_at         timestamptz,
    outcome           text CHECK (outcome IN ('succeeded', 'failed', 'stopped', 'waiting', 'lost', 'cancelled')),
    reason            text NOT NULL DEFAULT '',
    message           text NOT NULL DEFAULT '',
    retryable         boolean NOT NULL DEFAULT false,
    -- How long attempts of its kind and profile took, as known when it was opened; null: none succeeded before.
    expected_seconds  integer CHECK (expected_seconds > 0),
    -- Whose problem a failure is, and what to do about it, in the runner's words.
    whose             text NOT NULL DEFAULT '' CHECK (whose IN ('', 'user', 'quota', 'cloud', 'installer', 'ocpctl')),
    next              text NOT NULL DEFAULT '',
    installer_sha256  text CHECK (installer_sha256 ~ '^[0-9a-f]{64}$'), -- written once
    late_seconds      integer CHECK (late_seconds > 0), -- beside expected_seconds: nine of ten took no longer
    workers_wanted    integer CHECK (workers_wanted >= 0), -- of a scale attempt
    workers_seen      integer CHECK (workers_seen >= 0),
    addons_seen       integer CHECK (addons_seen >= 0), -- how many were there at its end
    -- When the dispatcher confirmed that the runner was started (started and nowhere means deleted), and why the last try was refused.
    launched_at       timestamptz,
    launch_trouble    jsonb CHECK (jsonb_typeof(launch_trouble) = 'object'),
    correlation       text NOT NULL DEFAULT '',
    traceparent       text NOT NULL DEFAULT '',
    asleep_seen       boolean, -- sleep, wake: whether it was asleep at the end; NULL: neither asleep nor awake
    use_seen          timestamptz, -- observe: newest hour in which a person sent requests; NULL: nothing was seen
    -- What the cloud calls the resource group of cco_name. A count asks for it: a list that leaves the group out does not prove that it
    -- is gone.
    resource_group_id text CHECK (resource_group_id ~ '^[0-9a-f]{32}$'),
    request           integer NOT NULL DEFAULT 0 CHECK (request >= 0), -- number of the newest request for its work when it was opened
    CONSTRAINT attempts_claimed CHECK (num_nonnulls(claimed_by, claimed_at, lease_until) IN (0, 3)),
    CONSTRAINT attempts_recorded CHECK ((recorded_at IS NOT NULL) = (num_nonnulls(infra_id, cco_name) > 0)),
    CONSTRAINT attempts_recorded_claimed CHECK (recorded_at IS NULL OR claimed_at IS NOT NULL),
    CONSTRAINT attempts_closed CHECK ((closed_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT attempts_cancelled_unclaimed CHECK (outcome <> 'cancelled' OR claimed_at IS NULL),
    UNIQUE (cluster_id, number),
    CONSTRAINT attempts_asleep CHECK (asleep_seen IS NULL OR kind IN ('sleep', 'wake')),
    CONSTRAINT attempts_use CHECK (use_seen IS NULL OR kind = 'observe'),
    -- What identifies an attempt is written once, the resource group too.
    CONSTRAINT attempts_resource_group CHECK (resource_group_id IS NULL OR cco_name IS NOT NULL)
);
CREATE UNIQUE INDEX attempts_one_open ON attempts (cluster_id) WHERE closed_at IS NULL;
-- Two clusters never share one.
CREATE UNIQUE INDEX attempts_infra_id ON attempts (infra_id) WHERE infra_id IS NOT NULL;
CREATE INDEX attempts_job ON attempts (job_id, number);
CREATE INDEX attempts_succeeded ON attempts (kind, closed_at DESC) WHERE outcome = 'succeeded';
-- A runner that reports another cluster's identity is refused by the server; these keep it out whatever the server does. The installer's
-- clusterID is random and ccoctl's name is derived from the attempt, so neither ever repeats.
CREATE UNIQUE INDEX attempts_cluster_uuid ON attempts (cluster_uuid) WHERE cluster_uuid IS NOT NULL;
CREATE UNIQUE INDEX attempts_cco_name ON attempts (cco_name) WHERE cco_name IS NOT NULL;
-- Metrics read the attempts that were claimed or closed since the last time.
CREATE INDEX attempts_claimed_at ON attempts (claimed_at) WHERE claimed_at IS NOT NULL;
CREATE INDEX attempts_closed_at ON attempts (closed_at) WHERE closed_at IS NOT NULL;

-- An attempt is a fence: it is never deleted, numbers only rise, what identifies it is written once, and closed is final.
-- +goose StatementBegin
CREATE FUNCTION attempts_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'attempt % is a fence and stays', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.cluster_id AND a.number >= new.number) THEN
            RAISE EXCEPTION 'attempt numbers of cluster % only rise', new.cluster_id USING ERRCODE = 'unique_violation';
        END IF;
        RETURN new;
    END IF;
    IF old.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'attempt % is closed, which is final', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF (new.id, new.cluster_id, new.job_id, new.number, new.kind, new.token_id, new.opened_at) IS DISTINCT FROM
       (old.id, old.cluster_id, old.job_id, old.number, old.kind, old.token_id, old.opened_at)
        OR (old.claimed_by     IS NOT NULL AND new.claimed_by     IS DISTINCT FROM old.claimed_by)
        OR (old.claimed_at     IS NOT NULL AND new.claimed_at     IS DISTINCT FROM old.claimed_at)
        OR (old.recorded_at    IS NOT NULL AND new.recorded_at    IS DISTINCT FROM old.recorded_at)
        OR (old.infra_id       IS NOT NULL AND new.infra_id       IS DISTINCT FROM old.infra_id)
        OR (old.cluster_uuid   IS NOT NULL AND new.cluster_uuid   IS DISTINCT FROM old.cluster_uuid)
        OR (old.cco_name       IS NOT NULL AND new.cco_name       IS DISTINCT FROM old.cco_name)
        OR (old.account        IS NOT NULL AND new.account        IS DISTINCT FROM old.account)
        OR (old.region         IS NOT NULL AND new.region         IS DISTINCT FROM old.region)
        OR (old.release_digest IS NOT NULL AND new.release_digest IS DISTINCT FROM old.release_digest)
        OR (old.metadata       IS NOT NULL AND new.metadata       IS DISTINCT FROM old.metadata) THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.stop_asked AND NOT new.stop_asked THEN
        RAISE EXCEPTION 'the stop of attempt % is never taken back', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_guard BEFORE INSERT OR UPDATE OR DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION attempts_guard();

-- Recording is a gate: nothing is made before everything a teardown needs is written down.
-- +goose StatementBegin
CREATE FUNCTION attempts_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.installer_sha256 IS NOT NULL AND new.installer_sha256 IS DISTINCT FROM old.installer_sha256 THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.cco_name IS NULL AND new.cco_name IS NOT NULL AND num_nulls(new.account, new.region) > 0 THEN
        RAISE EXCEPTION 'a ccoctl name of attempt % is recorded with its account and region', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.infra_id IS NOT NULL OR new.infra_id IS NULL THEN
        RETURN new;
    END IF;
    IF num_nulls(new.cluster_uuid, new.account, new.region, new.release_digest, new.metadata) > 0 THEN
        RAISE EXCEPTION 'an infraID of attempt % is recorded with everything a teardown needs', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM artifacts s WHERE s.attempt_id = new.id AND s.infra_id = new.infra_id
                   AND s.artifact_type = 'INSTALL_DIR_SNAPSHOT') THEN
        RAISE EXCEPTION 'an infraID of attempt % is recorded with a snapshot of its install directory', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_gate BEFORE UPDATE OF infra_id, cco_name, installer_sha256 ON attempts FOR EACH ROW EXECUTE FUNCTION attempts_gate();

-- What identifies an attempt is written once, the resource group too.
-- +goose StatementBegin
CREATE FUNCTION attempts_resource_group() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.resource_group_id IS NOT NULL AND new.resource_group_id IS DISTINCT FROM old.resource_group_id THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_resource_group BEFORE UPDATE OF resource_group_id ON attempts FOR EACH ROW EXECUTE FUNCTION attempts_resource_group();

-- Clusters that wait for a free runner. How many run is counted from the open attempts.
CREATE TABLE runner_queue (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    kind       text NOT NULL,
    account    text NOT NULL, -- the cluster's cloud account; '': that of the runners' own identity
    since      timestamptz NOT NULL,
    position   integer NOT NULL, -- as shown
    words      text NOT NULL CHECK (words <> ''), -- which cap is full
    eta        timestamptz, -- NULL: not known
    next_at    timestamptz, -- since when its runner may start; NULL: not yet
    CONSTRAINT runner_queue_place_check CHECK (position > 0)
);

-- Requests to bring a cluster's add-ons again, each once: the cause names what it came of, such as a push.
CREATE TABLE refreshes (
    cluster_id text NOT NULL REFERENCES clusters,
    cause      text NOT NULL CHECK (cause <> ''),
    number     integer NOT NULL CHECK (number > 0), -- the request's
    job_id     text NOT NULL REFERENCES jobs,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (cluster_id, cause)
);

-- What runners reported, numbered by them, so that a repeated report changes nothing.
CREATE TABLE reports (
    attempt_id  text NOT NULL REFERENCES attempts,
    seq         integer NOT NULL CHECK (seq > 0),
    phase       text NOT NULL,
    percent     integer NOT NULL,
    step        text NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (attempt_id, seq)
);

-- The lines that came with a report.
CREATE TABLE log_chunks (
    attempt_id  text NOT NULL,
    seq         integer NOT NULL,
    body        text NOT NULL, -- redacted lines
    received_at timestamptz NOT NULL,
    PRIMARY KEY (attempt_id, seq),
    FOREIGN KEY (attempt_id, seq) REFERENCES reports
);

-- Archives in the bucket. One counts only when a fenced report told of it.
CREATE TABLE artifacts (
    cluster_id    text NOT NULL REFERENCES clusters,
    attempt_id    text NOT NULL REFERENCES attempts,
    artifact_type text NOT NULL CHECK (artifact_type IN ('INSTALL_DIR_SNAPSHOT', 'LOG', 'AUTH_BUNDLE', 'METADATA')),
    s3_key        text PRIMARY KEY CHECK (s3_key <> ''), -- in the installation's bucket
    manifest_key  text NOT NULL,
    checksum      text NOT NULL CHECK (checksum ~ '^[0-9a-f]{64}$'), -- sha256 of the archive
    size          bigint NOT NULL CHECK (size >= 0),
    infra_id      text NOT NULL,
    taken_at      timestamptz NOT NULL,
    created_at    timestamptz NOT NULL
);
CREATE INDEX artifacts_cluster ON artifacts (cluster_id, taken_at DESC);

-- Counts of what is left of a cluster. A cluster is released after two clean ones of its newest attempt.
CREATE TABLE verifications (
    attempt_id  text NOT NULL REFERENCES attempts,
    number      integer NOT NULL CHECK (number > 0),
    received_at timestamptz NOT NULL,
    account     text NOT NULL,
    identities  text[] NOT NULL,
    control     text NOT NULL, -- what the positive control saw
    queries     jsonb NOT NULL, -- what was asked and what came back
    leftovers   jsonb NOT NULL,
    words       text[] NOT NULL,
    clean       boolean NOT NULL,
    CONSTRAINT verifications_clean CHECK (NOT clean OR (control <> '' AND leftovers = '[]' AND words = '{}')),
    PRIMARY KEY (attempt_id, number)
);

-- A proof is never changed, and goes with the state that it is about, once that is recorded as deleted.
-- +goose StatementBegin
CREATE FUNCTION verifications_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'DELETE' AND EXISTS (
        SELECT 1 FROM attempts a JOIN removals r ON r.cluster_id = a.cluster_id
        WHERE a.id = old.attempt_id AND r.kind = 'state' AND r.done_at IS NOT NULL) THEN
        RETURN old;
    END IF;
    RAISE EXCEPTION 'a proof is never changed' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER verifications_guard BEFORE UPDATE OR DELETE ON verifications FOR EACH ROW EXECUTE FUNCTION verifications_guard();

-- Names in tokens of jobs, of which the platform also tells a number that it never gives again: of repositories and projects, their
-- owners, enterprises, and people. The first number that is seen with a name keeps it; a later one with the name is nobody known.
CREATE TABLE job_names (
    site     text NOT NULL CHECK (site <> ''), -- the platform's address, or its issuer's
    kind     text NOT NULL CHECK (kind <> ''),
    name     text NOT NULL CHECK (name <> '' AND name = lower(name)),
    number   text NOT NULL CHECK (number <> ''),
    is_first boolean NOT NULL,
    seen_at  timestamptz NOT NULL,
    PRIMARY KEY (site, kind, name, number)
);
CREATE UNIQUE INDEX job_names_first ON job_names (site, kind, name) WHERE is_first;

--
-- Room, quotas and approvals
--

-- Room in a cloud account and region: what was set aside for a cluster, or what it waits for. One row per cluster, its newest demand.
-- Whether it holds anything is not written here but follows from the attempt and the cluster.
CREATE TABLE reservations (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    attempt_id text NOT NULL REFERENCES attempts, -- which asked
    account    text NOT NULL CHECK (account <> ''),
    region     text NOT NULL CHECK (region <> ''),
    state      text NOT NULL CHECK (state IN ('granted', 'waiting')),
    items      jsonb NOT NULL CHECK (jsonb_typeof(items) = 'array'), -- the quotas, as measured and needed
    words      text NOT NULL DEFAULT '', -- what it waits for
    position   integer NOT NULL DEFAULT 0, -- in line, when it asked
    since      timestamptz NOT NULL, -- it is in this state
    asked_at   timestamptz NOT NULL,
    freed_at   timestamptz, -- when it last gave room back or left the line; NULL: it did neither
    -- When room was given to a cluster although others had waited for longer; NULL: it was in turn.
    passed_at  timestamptz,
    CONSTRAINT reservations_place_check CHECK (position >= 0),
    CHECK ((state = 'waiting') = (position > 0))
);
CREATE INDEX reservations_room ON reservations (account, region, state);
CREATE INDEX reservations_freed ON reservations (account, region, freed_at DESC) WHERE freed_at IS NOT NULL;

-- Who waits for a full quota, with the limits that held when it was accepted. A row stays until its cluster had its turn or is no longer
-- wanted.
CREATE TABLE turns (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    team       text NOT NULL,
    weight     integer NOT NULL CHECK (weight > 0), -- a team with twice the weight gets twice the turns
    limits     jsonb NOT NULL CHECK (jsonb_typeof(limits) = 'array'), -- [{"quota","scope","key","what","most"}]
    since      timestamptz NOT NULL,
    position   integer NOT NULL,
    words      text NOT NULL CHECK (words <> ''), -- which limit is full
    eta        timestamptz, -- NULL: not known
    CONSTRAINT turns_place_check CHECK (position > 0)
);

-- What waits for a person's approval, and what was decided.
CREATE TABLE approvals (
    id            text PRIMARY KEY CHECK (id LIKE 'apr\_%'),
    kind          text NOT NULL CHECK (kind IN ('create', 'kubeadmin', 'kubeconfig')),
    cluster_id    text NOT NULL REFERENCES clusters,
    team          text NOT NULL,
    requested_by  text NOT NULL CHECK (requested_by <> ''), -- principal id
    why           text[] NOT NULL CHECK (cardinality(why) > 0), -- what made it necessary, in words
    asked         text NOT NULL CHECK (asked ~ '^[0-9a-f]{64}$'), -- SHA-256 of what was asked: a vote is for exactly that
    head          text NOT NULL DEFAULT '', -- of the pull request; a push makes the approval void
    needs         integer NOT NULL CHECK (needs BETWEEN 1 AND 2),
    by_role       text NOT NULL CHECK (by_role IN ('requester', 'platform_admin')),
    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'refused', 'expired', 'void', 'used')),
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    decided_why   text NOT NULL DEFAULT '',
    -- When it was asked for, by GitHub's clock and no later than that. NULL: GitHub tells no time for it.
    asked_at      timestamptz,
    -- Whether the one who asked may give the approval, where one is enough. The policy says so when it is asked for.
    self_approval boolean NOT NULL DEFAULT false,
    CHECK ((state = 'pending') = (decided_at IS NULL)),
    CONSTRAINT approvals_check1 CHECK (expires_at > created_at),
    CONSTRAINT approvals_self_is_one CHECK (NOT self_approval OR (needs = 1 AND kind = 'create'))
);
CREATE UNIQUE INDEX approvals_one_pending ON approvals (cluster_id, kind) WHERE state = 'pending';
CREATE INDEX approvals_state ON approvals (state, id DESC);
CREATE INDEX approvals_cluster ON approvals (cluster_id, id DESC);

-- Whoever votes for an approval's id votes for what it was asked for: that never changes, and a decision is final.
-- +goose StatementBegin
CREATE FUNCTION approvals_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER approvals_guard BEFORE UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION approvals_guard();

-- Who approved or refused, each person once.
CREATE TABLE approval_votes (
    approval_id text NOT NULL REFERENCES approvals,
    principal   text NOT NULL CHECK (principal <> ''),
    approves    boolean NOT NULL,
    reason      text NOT NULL,
    source      text NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (approval_id, principal)
);

--
-- Access to a cluster
--

-- Whom a cluster is shown to beside its team.
CREATE TABLE shares (
    cluster_id text NOT NULL REFERENCES clusters,
    kind       text NOT NULL CHECK (kind IN ('team', 'principal')),
    grantee    text NOT NULL CHECK (grantee <> ''),
    access     text NOT NULL CHECK (access IN ('see', 'use')), -- use: the kubeconfig too
    granted_by text NOT NULL,
    created_at timestamptz NOT NULL,
    -- Its role in the cluster, for a share to use it. Empty: the installer's kubeconfig, as older shares have.
    role       text NOT NULL DEFAULT '',
    PRIMARY KEY (cluster_id, kind, grantee),
    CONSTRAINT shares_role CHECK (role IN ('', 'view', 'edit', 'admin') AND (access = 'use' OR role = ''))
);
CREATE INDEX shares_grantee ON shares (kind, grantee);

--
-- Workflow runs and pipelines
--

-- Executions of a pipeline that the server knows of, as their tokens and the platform's API say.
CREATE TABLE runs (
    id           text PRIMARY KEY CHECK (id LIKE 'run\_%'),
    platform     text NOT NULL CHECK (platform IN ('github', 'tekton', 'gitlab')),
    issuer       text NOT NULL CHECK (issuer <> ''), -- of its tokens
    scope        text NOT NULL CHECK (scope <> ''), -- GitHub: the repository's id; Tekton: the namespace; GitLab: the project's id
    key          text NOT NULL CHECK (key <> ''), -- GitHub: the run's id; Tekton: the PipelineRun's name/uid; GitLab: the pipeline's id
    installation bigint NOT NULL DEFAULT 0, -- of the App, through which it is asked about; 0: not known yet
    repo         text NOT NULL DEFAULT '',
    name         text NOT NULL DEFAULT '', -- of the workflow or the PipelineRun
    url          text NOT NULL DEFAULT '',
    event        text NOT NULL DEFAULT '', -- what triggered it
    ref          text NOT NULL DEFAULT '',
    head         text NOT NULL DEFAULT '', -- SHA
    number       integer NOT NULL DEFAULT 0, -- its pull request; 0: none
    actor        text NOT NULL DEFAULT '',
    attempt      integer NOT NULL CHECK (attempt > 0), -- the newest known
    state        text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished')), -- of that attempt
    conclusion   text NOT NULL DEFAULT '',
    finished_at  timestamptz, -- when this server learned it; graces are counted from here
    confirmed    boolean NOT NULL DEFAULT true, -- false: only a webhook says so
    updated_at   timestamptz, -- the platform's time of the state; NULL: it was not asked yet
    seen_at      timestamptz NOT NULL, -- when a token or the platform named it last
    look_at      timestamptz, -- when to ask the platform; NULL: nothing depends on it, or it cannot be asked
    missed_at    timestamptz, -- since when the platform does not have it; NULL: it has
    unwatched    text NOT NULL DEFAULT '', -- why its end cannot be noticed; empty: it can
    created_at   timestamptz NOT NULL,
    head_sha     text NOT NULL DEFAULT '', -- the commit at which the platform shows the run; empty: it was not asked
    CONSTRAINT runs_finished CHECK ((state = 'finished') = (finished_at IS NOT NULL) AND (state = 'finished' OR conclusion = '')),
    UNIQUE (platform, scope, key, issuer)
);
CREATE INDEX runs_url ON runs (url);
CREATE INDEX runs_look ON runs (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX runs_head ON runs (head_sha) WHERE head_sha <> '';

-- The clusters that end with a run or with one of its jobs.
CREATE TABLE run_clusters (
    cluster_id      text PRIMARY KEY REFERENCES clusters,
    run_id          text NOT NULL REFERENCES runs,
    attempt         integer NOT NULL CHECK (attempt > 0), -- that requested it, or took it over
    slot            text NOT NULL, -- which of the run's clusters it is
    lifetime        text NOT NULL CHECK (lifetime IN ('run', 'job')),
    job             text NOT NULL DEFAULT '', -- check_run_id; empty: the token named none
    job_conclusion  text NOT NULL DEFAULT '',
    job_finished_at timestamptz, -- when this server learned it; NULL: it runs, or nothing depends on it
    job_confirmed   boolean NOT NULL DEFAULT true, -- false: only a webhook says so
    newest          boolean NOT NULL DEFAULT true, -- of its slot
    bound_at        timestamptz NOT NULL,
    CONSTRAINT run_clusters_job CHECK (lifetime = 'run' OR job <> '')
);
CREATE UNIQUE INDEX run_clusters_slot ON run_clusters (run_id, slot) WHERE newest;
CREATE INDEX run_clusters_run ON run_clusters (run_id);

-- Which run asked for a cluster that does not end with it. Clusters that do are in run_clusters.
CREATE TABLE run_requests (
    cluster_id text PRIMARY KEY REFERENCES clusters,
    run_id     text NOT NULL REFERENCES runs
);
CREATE INDEX run_requests_run ON run_requests (run_id);

-- Jobs of runs that wait for a cluster before they start, because they name an environment with the App's protection rule.
CREATE TABLE waits (
    id          text PRIMARY KEY CHECK (id LIKE 'wai\_%'),
    run_id      text NOT NULL REFERENCES runs,
    attempt     integer NOT NULL CHECK (attempt > 0),
    environment text NOT NULL CHECK (environment <> ''),
    cluster_id  text REFERENCES clusters, -- null: there is none, and refusal says why
    refusal     text NOT NULL DEFAULT '',
    asked_at    timestamptz NOT NULL,
    asks        integer NOT NULL DEFAULT 1 CHECK (asks > 0), -- how often jobs began to wait
    said        text NOT NULL DEFAULT '', -- the progress that was posted last
    notes       integer NOT NULL DEFAULT 0 CHECK (notes >= 0), -- posts without a decision: GitHub takes ten
    decision    text NOT NULL DEFAULT '' CHECK (decision IN ('', 'approved', 'rejected', 'over')),
    decided_at  timestamptz,
    problem     text NOT NULL DEFAULT '', -- why GitHub could not be told
    CONSTRAINT waits_answer CHECK ((cluster_id IS NULL) = (refusal <> '')),
    CONSTRAINT waits_decided CHECK ((decision = '') = (decided_at IS NULL)),
    UNIQUE (run_id, attempt, environment)
);
CREATE INDEX waits_cluster ON waits (cluster_id);

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

-- Exclusive turns of runs on clusters that several of them share, granted one after the other.
CREATE TABLE uses (
    id          text PRIMARY KEY CHECK (id LIKE 'use\_%'),
    cluster_id  text NOT NULL REFERENCES clusters,
    run_id      text NOT NULL REFERENCES runs,
    attempt     integer NOT NULL CHECK (attempt > 0),
    job         text NOT NULL DEFAULT '', -- check_run_id; empty: it lasts as long as the attempt
    principal   text NOT NULL CHECK (principal <> ''),
    asked_at    timestamptz NOT NULL,
    granted_at  timestamptz,
    released_at timestamptz,
    why         text NOT NULL DEFAULT '', -- it was released
    CONSTRAINT uses_released CHECK ((released_at IS NULL) = (why = ''))
);
CREATE UNIQUE INDEX uses_granted ON uses (cluster_id) WHERE granted_at IS NOT NULL AND released_at IS NULL;
CREATE UNIQUE INDEX uses_open ON uses (cluster_id, run_id, attempt, job) WHERE released_at IS NULL;
CREATE INDEX uses_cluster ON uses (cluster_id);
CREATE INDEX uses_run ON uses (run_id) WHERE released_at IS NULL;

-- The results of test jobs on clusters.
CREATE TABLE test_reports (
    id          text PRIMARY KEY CHECK (id LIKE 'tst\_%'),
    cluster_id  text NOT NULL REFERENCES clusters,
    run_id      text NOT NULL REFERENCES runs,
    attempt     integer NOT NULL CHECK (attempt > 0),
    job         text NOT NULL DEFAULT '', -- check_run_id; empty: the token named none
    name        text NOT NULL CHECK (name <> ''),
    total       integer NOT NULL,
    passed      integer NOT NULL CHECK (passed >= 0),
    failed      integer NOT NULL CHECK (failed >= 0),
    skipped     integer NOT NULL CHECK (skipped >= 0),
    duration    bigint NOT NULL DEFAULT 0, -- nanoseconds
    failures    jsonb NOT NULL DEFAULT '[]', -- the first ones
    slowest     jsonb NOT NULL DEFAULT '[]',
    url         text NOT NULL DEFAULT '', -- where the whole report is
    head        text NOT NULL DEFAULT '', -- the tested commit; empty: that of the run
    principal   text NOT NULL CHECK (principal <> ''),
    reported_at timestamptz NOT NULL,
    -- Tests that passed after they had failed, and suites that crashed before they reported all their tests.
    flaky       integer NOT NULL DEFAULT 0,
    crashed     integer NOT NULL DEFAULT 0 CHECK (crashed >= 0),
    flaky_tests jsonb NOT NULL DEFAULT '[]', -- the first ones
    crashes     jsonb NOT NULL DEFAULT '[]', -- the first ones
    CONSTRAINT test_reports_total CHECK (total = passed + failed + skipped),
    UNIQUE (cluster_id, run_id, attempt, job, name),
    CHECK (flaky BETWEEN 0 AND passed),
    CONSTRAINT test_reports_some CHECK (total > 0 OR crashed > 0)
);
CREATE INDEX test_reports_run ON test_reports (run_id);

-- The checks that branch rules require: one for each commit and profile, for all pull requests whose head the commit is.
CREATE TABLE gates (
    id           text PRIMARY KEY CHECK (id LIKE 'gat\_%'),
    installation bigint NOT NULL,
    repo         text NOT NULL CHECK (repo <> ''),
    head         text NOT NULL CHECK (head <> ''),
    profile      text NOT NULL CHECK (profile <> ''),
    external_id  bigint NOT NULL DEFAULT 0, -- of the check run; 0: not posted yet, or unknown
    shown        text NOT NULL DEFAULT '', -- hash of what it shows
    completed    boolean NOT NULL DEFAULT false,
    asked_at     timestamptz NOT NULL, -- when it was last to be brought up to date
    refused      text NOT NULL DEFAULT '', -- why a merge queue's commit gets no cluster; Markdown
    -- A post is under way, or its answer was lost: only then GitHub is asked what stands there.
    posting_at   timestamptz,
    UNIQUE (repo, head, profile)
);
CREATE INDEX gates_asked ON gates (asked_at);

-- Who has, had or asked for access to a cluster: one row for each credential, made for one reader. A row is written before a runner makes
-- the service account, and revoked rows stay. No secret: the credential is in the bucket, below operate/.
CREATE TABLE access (
    id          text PRIMARY KEY CHECK (id LIKE 'acc\_%'),
    cluster_id  text NOT NULL REFERENCES clusters,
    number      integer NOT NULL CHECK (number > 0), -- of the request
    reader      text NOT NULL CHECK (reader <> ''), -- principal id
    reader_name text NOT NULL CHECK (reader_name <> ''),
    role        text NOT NULL CHECK (role IN ('view', 'edit', 'admin')),
    -- the reader's role in the cluster's team, or the share
    by_right    text NOT NULL CHECK (by_right = 'role' OR by_right LIKE 'principal:_%' OR by_right LIKE 'team:_%'),
    run_id      text REFERENCES runs, -- the run whose token asked for it; NULL: none
    run_attempt integer CHECK (run_attempt > 0),
    run_job     text NOT NULL DEFAULT '', -- check_run_id; empty: the token named none
    lifetime    interval NOT NULL CHECK (lifetime >= interval '10 minutes'), -- Kubernetes makes no token for less
    account     text NOT NULL CHECK (account ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'), -- the service account's name in the cluster
    asked_at    timestamptz NOT NULL,
    attempt     integer CHECK (attempt > 0), -- number of the newest one that was told to make it; NULL: none, so there is nothing in the cluster
    minted_at   timestamptz,
    expires_at  timestamptz, -- of the token
    ref         text NOT NULL DEFAULT '' CHECK (ref ~ '^(s3://.+)?$'),
    trouble     text NOT NULL DEFAULT '', -- why the newest try to make or to remove it failed
    revoked_at  timestamptz,
    revoked_by  text NOT NULL DEFAULT '',
    revoke_why  text NOT NULL DEFAULT '',
    removed_at  timestamptz, -- from the cluster
    CONSTRAINT access_minted CHECK ((minted_at IS NULL) = (expires_at IS NULL) AND (minted_at IS NULL) = (ref = '') AND (minted_at IS NULL OR
        attempt IS NOT NULL)),
    CONSTRAINT access_of_run CHECK ((run_id IS NULL) = (run_attempt IS NULL) AND (run_id IS NOT NULL OR run_job = '')),
    CONSTRAINT access_revoked CHECK ((revoked_at IS NULL) = (revoke_why = '')),
    UNIQUE (cluster_id, account)
);
CREATE INDEX access_reader ON access (cluster_id, reader);
CREATE INDEX access_run ON access (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX access_open ON access (cluster_id) WHERE removed_at IS NULL;

-- What a row was made for never changes, a revoked row is never valid again, and what is gone from the cluster does not come back.
-- +goose StatementBegin
CREATE FUNCTION access_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (new.id, new.cluster_id, new.number, new.reader, new.role, new.by_right, new.run_id, new.run_attempt, new.run_job, new.lifetime, new.account, new.asked_at)
        IS DISTINCT FROM (old.id, old.cluster_id, old.number, old.reader, old.role, old.by_right, old.run_id, old.run_attempt, old.run_job, old.lifetime, old.account, old.asked_at) THEN
        RAISE EXCEPTION 'access % was made for something else', old.id USING ERRCODE = 'check_violation';
    END IF;
    IF old.revoked_at IS NOT NULL AND new.revoked_at IS DISTINCT FROM old.revoked_at OR old.removed_at IS NOT NULL AND new.removed_at IS DISTINCT FROM old.removed_at THEN
        RAISE EXCEPTION 'access % is revoked for good', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER access_guard BEFORE UPDATE ON access FOR EACH ROW EXECUTE FUNCTION access_guard();

-- Links that work once, for one principal, for minutes. The link itself is kept as its SHA-256.
CREATE TABLE links (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    kind       text NOT NULL CHECK (kind IN ('kubeconfig', 'kubeadmin', 'account', 'admin-kubeconfig')),
    principal  text NOT NULL DEFAULT '', -- who alone may use it; account: whoever signs in
    cluster_id text REFERENCES clusters,
    account    text NOT NULL DEFAULT '', -- e.g. github:maya
    number     text NOT NULL DEFAULT '', -- of the account where it is, which no renaming changes
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    access_id  text REFERENCES access, -- what a kubeconfig link hands out
    CHECK (kind = 'account' OR principal <> ''),
    CONSTRAINT links_check1 CHECK ((kind = 'account') = (account <> '')),
    CONSTRAINT links_check2 CHECK ((kind = 'account') = (cluster_id IS NULL)),
    CONSTRAINT links_check3 CHECK (access_id IS NULL OR kind = 'kubeconfig')
);
CREATE INDEX links_expired ON links (expires_at);

-- Links of accounts that the signed-in person confirmed and the account itself did not yet.
CREATE TABLE pending_links (
    account    text PRIMARY KEY CHECK (account ~ '^(github|slack):.+$'),
    number     text NOT NULL DEFAULT '',
    principal  text NOT NULL CHECK (principal <> ''),
    name       text NOT NULL DEFAULT '',
    proof      jsonb NOT NULL DEFAULT '{}',
    code       text NOT NULL CHECK (code ~ '^[0-9a-f]{64}$'), -- SHA-256 of the account and the code
    tries      integer NOT NULL DEFAULT 0, -- wrong ones
    expires_at timestamptz NOT NULL
);
CREATE INDEX pending_links_expired ON pending_links (expires_at);

--
-- What came in
--

-- Webhooks and commands that were acknowledged, each once, and worked later.
CREATE TABLE deliveries (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source        text NOT NULL CHECK (source <> ''),
    delivery_id   text NOT NULL CHECK (delivery_id <> ''),
    event         text NOT NULL,
    topic         text NOT NULL DEFAULT '', -- what it is about, e.g. owner/name#41; deliveries of one topic are worked in order
    body          bytea NOT NULL,
    state         text NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'done', 'failed')),
    note          text NOT NULL DEFAULT '',
    received_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    nudge_at      timestamptz NOT NULL DEFAULT clock_timestamp() + interval '30 seconds', -- asked for again then
    finished_at   timestamptz,
    -- The App's installation; 0: none. Order is kept within one installation: what another one sends holds nobody up.
    installation  bigint NOT NULL DEFAULT 0,
    -- How often it was tried without success, since when it has been failing, and when it is tried next. NULL: it did not fail.
    tries         integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    failing_since timestamptz,
    try_at        timestamptz,
    traceparent   text NOT NULL DEFAULT '', -- its correlation id is its delivery_id
    -- Since when GitHub refuses what a delivery needs (401, 403, 404), without another answer in between. One refusal is often only for a
    -- moment.
    refused_since timestamptz,
    -- Why a failed delivery was not worked, as a code. Empty: somebody got an answer.
    reason        text NOT NULL DEFAULT '' CHECK (reason IN ('', 'given_up', 'refused_by_github', 'duplicate_field', 'wrong_event', 'unreadable')),
    CHECK ((state = 'received') = (finished_at IS NULL)),
    UNIQUE (source, delivery_id)
);
CREATE INDEX deliveries_undone ON deliveries (nudge_at) WHERE state = 'received';
CREATE INDEX deliveries_done ON deliveries (finished_at) WHERE state <> 'received';
CREATE INDEX deliveries_topic ON deliveries (topic, id) WHERE state = 'received';
CREATE INDEX deliveries_failing ON deliveries (failing_since) WHERE state = 'received' AND failing_since IS NOT NULL;
CREATE INDEX deliveries_lost ON deliveries (finished_at) WHERE state = 'failed' AND reason <> '';

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

-- When GitHub was asked how a pull request is without having told that anything happened. Rows are made with a cluster, and removed when
-- they come up and no cluster is wanted there any more.
CREATE TABLE looks (
    repo      text NOT NULL,
    number    integer NOT NULL,
    looked_at timestamptz NOT NULL,
    PRIMARY KEY (repo, number)
);
CREATE INDEX looks_looked_at ON looks (looked_at);

-- Pull requests as GitHub last described them.
CREATE TABLE pull_requests (
    repo         text NOT NULL,
    number       integer NOT NULL CHECK (number > 0),
    installation bigint NOT NULL,
    open         boolean NOT NULL,
    fork         boolean NOT NULL,
    labels       text[] NOT NULL,
    author       text NOT NULL,
    head         text NOT NULL,
    base         text NOT NULL,
    updated_at   timestamptz NOT NULL, -- GitHub's
    seen_at      timestamptz NOT NULL,
    -- Empty and 0: not known.
    draft        boolean NOT NULL DEFAULT false,
    merged       boolean NOT NULL DEFAULT false,
    association  text NOT NULL DEFAULT '', -- of the author with the repository, in GitHub's spelling
    head_ref     text NOT NULL DEFAULT '',
    repo_id      bigint NOT NULL DEFAULT 0,
    -- Since when it has this head, by GitHub's clock and no later than that; NULL: not known.
    head_at      timestamptz,
    author_id    bigint NOT NULL DEFAULT 0, -- GitHub's number of the author; 0: not known
    PRIMARY KEY (repo, number),
    CONSTRAINT pull_requests_merged_is_closed CHECK (NOT (merged AND open))
);
CREATE INDEX pull_requests_repo_id ON pull_requests (repo_id, number) WHERE repo_id <> 0;
CREATE INDEX pull_requests_head ON pull_requests (repo, head) WHERE open;

-- The commits that GitHub's merge queues ask checks for. The gates on them have the result that the repository's file says.
CREATE TABLE merge_groups (
    repo         text NOT NULL CHECK (repo <> ''),
    head         text NOT NULL CHECK (head <> ''), -- the queue's commit
    installation bigint NOT NULL,
    number       integer NOT NULL CHECK (number > 0), -- the pull request whose turn it is
    pull_head    text NOT NULL, -- its head; empty: the group ended before it was known
    mode         text NOT NULL CHECK (mode IN ('reuse', 'cluster')),
    asked_at     timestamptz NOT NULL,
    ended_at     timestamptz,
    ended_why    text NOT NULL DEFAULT '' CHECK (ended_why IN ('', 'merged', 'invalidated', 'dequeued', 'gone')),
    PRIMARY KEY (repo, head)
);
CREATE INDEX merge_groups_ended ON merge_groups (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX merge_groups_open ON merge_groups (repo, pull_head) WHERE ended_at IS NULL;

--
-- What is written on GitHub
--

-- The places that show a cluster.
CREATE TABLE subscribers (
    id             text PRIMARY KEY CHECK (id LIKE 'sub\_%'),
    cluster_id     text NOT NULL REFERENCES clusters,
    kind           text NOT NULL CHECK (kind IN ('github_comment', 'github_check', 'github_deployment', 'github_label', 'slack_message',
        'slack_thread')),
    installation   bigint NOT NULL DEFAULT 0,
    repo           text NOT NULL DEFAULT '',
    number         integer NOT NULL DEFAULT 0,
    head           text NOT NULL DEFAULT '',
    external_id    bigint NOT NULL DEFAULT 0, -- 0: not posted yet
    wanted_version bigint NOT NULL, -- the cluster's row_version
    shown_version  bigint NOT NULL DEFAULT 0,
    shown_body     text NOT NULL DEFAULT '',
    nudge_at       timestamptz NOT NULL,
    muted          boolean NOT NULL DEFAULT false, -- somebody took it away: it is left alone
    left_behind    boolean NOT NULL DEFAULT false, -- a check on a commit that the pull request moved on from
    shown_at       timestamptz, -- when its words were last sent; NULL: never, or before it was kept
    -- A post is under way, or its answer was lost: then GitHub is searched for what may have been posted.
    posting_at     timestamptz,
    workspace      text NOT NULL DEFAULT '', -- not in Slack: empty, like the channel and the person
    channel        text NOT NULL DEFAULT '',
    person         text NOT NULL DEFAULT '', -- who asked for it there
    told_to        bigint NOT NULL DEFAULT 0, -- a thread: the newest event of the cluster's timeline that stands in it
    CONSTRAINT subscribers_left_check CHECK (NOT left_behind OR kind = 'github_check'),
    CONSTRAINT subscribers_slack_check CHECK ((kind IN ('slack_message', 'slack_thread')) = (workspace <> '' AND channel <> '' AND person <> ''))
);
CREATE UNIQUE INDEX subscribers_one_place ON subscribers (cluster_id, kind) WHERE kind <> 'github_check';
CREATE UNIQUE INDEX subscribers_one_check ON subscribers (cluster_id, head) WHERE kind = 'github_check';
CREATE INDEX subscribers_cluster ON subscribers (cluster_id);
CREATE INDEX subscribers_head ON subscribers (head, repo) WHERE kind = 'github_check' AND NOT left_behind;
CREATE INDEX subscribers_behind ON subscribers (nudge_at) WHERE shown_version < wanted_version AND NOT muted;

-- Answers without a cluster's own comment, one per cause.
CREATE TABLE replies (
    id           text PRIMARY KEY CHECK (id LIKE 'rep\_%'),
    cause        text NOT NULL UNIQUE CHECK (cause <> ''),
    installation bigint,
    repo         text,
    number       integer,
    body         text NOT NULL CHECK (body <> ''),
    external_id  bigint NOT NULL DEFAULT 0, -- 0: not posted yet
    created_at   timestamptz NOT NULL,
    nudge_at     timestamptz NOT NULL,
    -- An answer goes to one place: a pull request on GitHub, or a person in a channel of Slack, where external_id is its timestamp in
    -- microseconds.
    workspace    text CHECK (workspace <> ''),
    channel      text CHECK (channel <> ''),
    person       text CHECK (person <> ''),
    -- The answers to the lines of one comment are one comment, in the order of the lines.
    thread       text NOT NULL DEFAULT '',
    blocks       jsonb, -- its blocks, as Slack takes them, such as buttons; no secret
    CONSTRAINT replies_one_place CHECK (
        (num_nonnulls(installation, repo, number) = 3 AND num_nonnulls(workspace, channel, person) = 0) OR
        (num_nonnulls(installation, repo, number) = 0 AND num_nonnulls(workspace, channel, person) = 3))
);
CREATE INDEX replies_unposted ON replies (nudge_at) WHERE external_id = 0;
CREATE INDEX replies_thread ON replies (thread, created_at, id) WHERE thread <> '';

-- Changes on GitHub beside the places that show a cluster, one per cause, written before they are made.
CREATE TABLE effects (
    id            text PRIMARY KEY CHECK (id LIKE 'eff\_%'),
    cause         text NOT NULL UNIQUE CHECK (cause <> ''),
    kind          text NOT NULL CHECK (kind IN ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal',
        'review', 'reject', 'remove_deployments', 'gate')),
    installation  bigint NOT NULL,
    repo          text NOT NULL CHECK (repo <> ''),
    number        integer NOT NULL CHECK (number >= 0), -- 0: of the repository itself
    target        bigint NOT NULL, -- react: the comment's id
    content       text NOT NULL, -- the reaction, the label or the head
    created_at    timestamptz NOT NULL,
    nudge_at      timestamptz NOT NULL,
    done_at       timestamptz,
    note          text NOT NULL DEFAULT '', -- what came of it
    refused_since timestamptz, -- since when GitHub has refused it, without another answer in between
    CONSTRAINT effects_target CHECK ((kind = 'react') = (target <> 0)),
    CONSTRAINT effects_content CHECK ((kind = 'ensure_labels') = (content = '')),
    CONSTRAINT effects_number CHECK (
        kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate') OR number > 0)
);
CREATE INDEX effects_undone ON effects (nudge_at) WHERE done_at IS NULL;
CREATE INDEX effects_done ON effects (done_at) WHERE done_at IS NOT NULL;

-- Permission to write on GitHub, one row for each installation of the App. Of each of the two allowances the row has the time when it is
-- full again, as if what was taken from it came back evenly. The rows are written every second: free space on their page keeps them
-- there.
CREATE TABLE paces (
    installation bigint PRIMARY KEY,
    next_at      timestamptz NOT NULL DEFAULT '-infinity', -- no write before
    held_until   timestamptz NOT NULL DEFAULT '-infinity', -- GitHub said so
    minute_full  timestamptz NOT NULL DEFAULT '-infinity',
    hour_full    timestamptz NOT NULL DEFAULT '-infinity',
    -- Since when GitHub has not answered calls of an installation. NULL: the last call was answered.
    away_since   timestamptz
) WITH (fillfactor = 50);

-- What GitHub last reported as left of an installation's primary rate limits.
CREATE TABLE github_budgets (
    installation bigint NOT NULL, -- 0: the App itself
    resource     text NOT NULL CHECK (resource IN ('core', 'graphql')),
    allowed      integer NOT NULL CHECK (allowed > 0), -- calls an hour
    remaining    integer NOT NULL CHECK (remaining >= 0),
    resets_at    timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL,
    PRIMARY KEY (installation, resource)
) WITH (fillfactor = 50);

-- The environments on GitHub of clusters from the time when each cluster had one of its own. The deployments in one are removed with the
-- cluster.
CREATE TABLE own_environments (
    cluster_id   text NOT NULL REFERENCES clusters,
    repo         text NOT NULL,
    installation bigint NOT NULL, -- 0: it is looked up
    environment  text NOT NULL CHECK (environment LIKE 'ocp/%'),
    PRIMARY KEY (cluster_id, repo)
);

--
-- What is written in Slack
--

-- What happened that somebody may want to hear of, written in the transaction in which it happened. A job finds out who.
CREATE TABLE announcements (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cause      text NOT NULL UNIQUE CHECK (cause <> ''), -- the same cause is announced once
    event      text NOT NULL CHECK (event <> ''), -- ready, failed, expiring …
    cluster_id text REFERENCES clusters, -- NULL: it concerns no cluster
    facts      jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    done_at    timestamptz, -- its notices were written
    nudge_at   timestamptz NOT NULL
);
CREATE INDEX announcements_open ON announcements (nudge_at) WHERE done_at IS NULL;
CREATE INDEX announcements_done ON announcements (done_at) WHERE done_at IS NOT NULL;

-- One message in Slack about something that happened, in a channel or to a person, until it is posted; later its buttons change it.
CREATE TABLE notices (
    id             text PRIMARY KEY CHECK (id LIKE 'not\_%'),
    cause          text NOT NULL CHECK (cause <> ''),
    kind           text NOT NULL CHECK (kind <> ''),
    cluster_id     text REFERENCES clusters,
    workspace      text NOT NULL CHECK (workspace <> ''),
    channel        text NOT NULL DEFAULT '',
    person         text NOT NULL DEFAULT '', -- a direct message
    thread         text REFERENCES subscribers, -- the message whose thread it stands in; NULL: it stands alone
    mention        text NOT NULL DEFAULT '', -- the person in Slack who is mentioned in it
    facts          jsonb NOT NULL DEFAULT '{}',
    wanted_version integer NOT NULL DEFAULT 1,
    shown_version  integer NOT NULL DEFAULT 0,
    posted_in      text NOT NULL DEFAULT '', -- the channel in which it stands, once posted
    external_id    bigint NOT NULL DEFAULT 0, -- its timestamp in microseconds; 0: not posted yet
    posting_at     timestamptz, -- a post is under way, or its answer was lost
    given_up       text NOT NULL DEFAULT '', -- why it is not posted
    created_at     timestamptz NOT NULL,
    nudge_at       timestamptz NOT NULL,
    CHECK ((channel = '') <> (person = '')),
    UNIQUE (cause, workspace, channel, person)
);
CREATE INDEX notices_behind ON notices (nudge_at) WHERE shown_version < wanted_version AND given_up = '';
CREATE INDEX notices_cluster ON notices (cluster_id) WHERE cluster_id IS NOT NULL;

-- Which channel wants to hear of which events: of a team, of a repository, or of everything.
CREATE TABLE channel_subscriptions (
    id         text PRIMARY KEY CHECK (id LIKE 'sbn\_%'),
    workspace  text NOT NULL CHECK (workspace <> ''),
    channel    text NOT NULL CHECK (channel <> ''),
    team       text NOT NULL DEFAULT '', -- empty: of every team
    repo       text NOT NULL DEFAULT '', -- empty: of every repository
    events     text[] NOT NULL CHECK (cardinality(events) > 0),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    -- What the subscriber had proved, so that their roles are judged again. NULL: an account in Slack, which is judged itself.
    claims     jsonb,
    UNIQUE (workspace, channel, team, repo)
);

-- Channels, and with an empty channel whole workspaces: when the next message may be written there, and what is wrong there.
CREATE TABLE slack_channels (
    workspace     text NOT NULL CHECK (workspace <> ''),
    channel       text NOT NULL,
    next_at       timestamptz NOT NULL DEFAULT '-infinity', -- no message before this
    problem       text NOT NULL DEFAULT '', -- Slack's error code, e.g. is_archived; empty: none
    problem_since timestamptz,
    CHECK ((problem = '') = (problem_since IS NULL)),
    PRIMARY KEY (workspace, channel)
);

-- Who opened the app's Home in Slack, and what it shows: when a cluster changes that somebody sees there, it is shown again.
CREATE TABLE slack_homes (
    workspace text NOT NULL CHECK (workspace <> ''),
    person    text NOT NULL CHECK (person <> ''),
    opened_at timestamptz NOT NULL,
    shown_at  timestamptz NOT NULL DEFAULT '-infinity', -- it shows what was so then
    principal text NOT NULL DEFAULT '', -- who that was, when it was shown; empty: nobody ocpctl knows
    teams     text[] NOT NULL DEFAULT '{}', -- whose clusters it shows
    every     boolean NOT NULL DEFAULT false, -- it shows every team's
    content   text NOT NULL DEFAULT '', -- SHA-256 of what it shows, hex
    PRIMARY KEY (workspace, person)
);
CREATE INDEX slack_homes_opened ON slack_homes (opened_at);

-- What Slack said of people who did something there. It is asked again after a while, and used for a day if Slack does not answer.
CREATE TABLE slack_people (
    workspace   text NOT NULL CHECK (workspace <> ''),
    id          text NOT NULL CHECK (id <> ''),
    home        text NOT NULL DEFAULT '', -- whose member they are
    org         text NOT NULL DEFAULT '', -- the Enterprise Grid organization; empty: none
    name        text NOT NULL DEFAULT '',
    email       text NOT NULL DEFAULT '', -- in lower case; empty: Slack did not say, or did not confirm it
    mapped      text NOT NULL DEFAULT '' CHECK (mapped = '' OR mapped LIKE 'email:%'), -- the identity that the e-mail stands for; empty: none
    bot         boolean NOT NULL,
    deactivated boolean NOT NULL,
    guest       boolean NOT NULL,
    stranger    boolean NOT NULL,
    asked_at    timestamptz NOT NULL, -- Slack, the last time
    changed     boolean NOT NULL DEFAULT false, -- Slack said since that something changed
    account     text NOT NULL GENERATED ALWAYS AS ('slack:' || workspace || '/' || id) STORED,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX slack_people_account ON slack_people (account) WHERE mapped <> '';
CREATE INDEX slack_people_mapped ON slack_people (mapped) WHERE mapped <> '';

--
-- Scans of the clouds, and findings
--

-- A look through a whole cloud account for what may belong to clusters. It only reads. A row is written before a runner is started.
-- People see it as a job of type ORPHAN_SCAN, whose id has the same last part.
CREATE TABLE scans (
    id             text PRIMARY KEY CHECK (id LIKE 'scn\_%'),
    platform       text NOT NULL CHECK (platform <> ''),
    account        text NOT NULL CHECK (account <> ''),
    round          integer NOT NULL CHECK (round > 0), -- of this account
    asked_by       text NOT NULL CHECK (asked_by <> ''), -- a principal's id, or the schedule
    spec           jsonb NOT NULL, -- what its runner is told, as configured when it was opened; no secret
    opened_at      timestamptz NOT NULL,
    runner         integer NOT NULL DEFAULT 1 CHECK (runner > 0), -- number of the newest runner: another follows one that was lost
    runner_since   timestamptz NOT NULL, -- since when there is that runner
    token_id       text NOT NULL UNIQUE CHECK (token_id <> ''), -- jti of that runner's token, no secret
    launched_at    timestamptz,
    launch_trouble jsonb, -- why it cannot be started
    claimed_by     text CHECK (claimed_by <> ''), -- pod
    claimed_at     timestamptz,
    lease_until    timestamptz,
    regions        text[] NOT NULL DEFAULT '{}', -- that were looked through
    calls          jsonb NOT NULL DEFAULT '{}', -- by service
    slowed         integer NOT NULL DEFAULT 0 CHECK (slowed >= 0), -- calls that the cloud throttled
    resources      integer NOT NULL DEFAULT 0 CHECK (resources >= 0), -- that it saw
    closed_at      timestamptz,
    outcome        text CHECK (outcome IN ('succeeded', 'failed', 'stopped', 'lost')),
    reason         text NOT NULL DEFAULT '',
    message        text NOT NULL DEFAULT '',
    next           text NOT NULL DEFAULT '',
    judged_at      timestamptz, -- when what it saw was compared with what is known
    CONSTRAINT scans_claimed CHECK (num_nonnulls(claimed_by, claimed_at, lease_until) IN (0, 3)),
    CONSTRAINT scans_closed CHECK ((closed_at IS NULL) = (outcome IS NULL) AND (judged_at IS NULL OR closed_at IS NOT NULL)),
    UNIQUE (platform, account, round)
);
CREATE UNIQUE INDEX scans_one_open ON scans (platform, account) WHERE closed_at IS NULL;

-- One service in one region of a scan. Only a part that was answered completely, which has done_at and no err, says that something is
-- gone.
CREATE TABLE scan_parts (
    scan_id   text NOT NULL REFERENCES scans ON DELETE CASCADE,
    name      text NOT NULL CHECK (name <> ''), -- <region>/<service>
    runner    integer NOT NULL, -- that reported it last
    resources integer NOT NULL DEFAULT 0,
    calls     integer NOT NULL DEFAULT 0,
    done_at   timestamptz, -- NULL: pages are missing
    err       text NOT NULL DEFAULT '', -- why it is incomplete
    CONSTRAINT scan_parts_err CHECK (err = '' OR done_at IS NOT NULL),
    PRIMARY KEY (scan_id, name)
);

-- The reports of open scans, so that a repeated one changes nothing.
CREATE TABLE scan_reports (
    scan_id text NOT NULL REFERENCES scans ON DELETE CASCADE,
    runner  integer NOT NULL,
    seq     integer NOT NULL CHECK (seq > 0),
    PRIMARY KEY (scan_id, runner, seq)
);

-- What a scan found not to be as it should, one row for each thing, kept after it was put right. A finding alone deletes nothing.
CREATE TABLE findings (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind          text NOT NULL CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed',
        'slack_channel', 'slack_refused', 'access_not_revoked', 'scan_failing', 'cloud_gone', 'archive_missing', 'archive_unknown',
        'shown_behind', 'delivery_lost')),
    cluster_id    text REFERENCES clusters, -- NULL: no cluster is known for it
    identity      text NOT NULL DEFAULT '', -- of an orphan
    since         timestamptz NOT NULL, -- since when it is so, this time
    why           text NOT NULL CHECK (why <> ''),
    evidence      text[] NOT NULL,
    first_seen_at timestamptz NOT NULL, -- by any scan ever
    last_seen_at  timestamptz NOT NULL,
    times_seen    integer NOT NULL DEFAULT 1 CHECK (times_seen > 0), -- in a row
    resolved_at   timestamptz, -- a scan looked and did not find it any more
    UNIQUE NULLS NOT DISTINCT (kind, cluster_id, identity)
);
CREATE INDEX findings_open ON findings (kind) WHERE resolved_at IS NULL;

-- What scans found that belongs to no living cluster of ours, one row for each owner, as its tags and names tell. Rows stay.
CREATE TABLE orphans (
    id              text PRIMARY KEY CHECK (id LIKE 'orp\_%'),
    platform        text NOT NULL,
    account         text NOT NULL,
    installation    text NOT NULL, -- the InstallationId tag; empty: none
    cluster_tag     text NOT NULL, -- the ClusterId tag; empty: none
    identity        text NOT NULL, -- infraID or ccoctl name; empty: unknown
    place           text NOT NULL, -- what it is in, or the resource itself; only without a cluster and an identity
    cluster_id      text REFERENCES clusters, -- the known cluster that it is or was of
    class           text NOT NULL CHECK (class IN ('released', 'unrecorded', 'unknown', 'foreign', 'owned', 'nobody')),
    why             text NOT NULL CHECK (why <> ''),
    regions         text[] NOT NULL,
    managed_by      boolean NOT NULL DEFAULT false, -- each of its resources that has tags has ocpctl's ManagedBy and cluster_tag
    owner           text NOT NULL DEFAULT '', -- whom to ask: the Owner tag, or the known cluster's
    team            text NOT NULL DEFAULT '',
    name            text NOT NULL DEFAULT '', -- of the cluster, as tagged or known
    resources       integer NOT NULL CHECK (resources >= 0), -- how many; the rows of seen tell which
    evidence        text[] NOT NULL, -- the first of them, for people
    hourly_cents    double precision CHECK (hourly_cents >= 0), -- of those whose price is known; NULL: of none
    unpriced        integer NOT NULL DEFAULT 0 CHECK (unpriced >= 0), -- resources whose price is unknown
    first_seen_at   timestamptz NOT NULL, -- by a scan, this time
    last_seen_at    timestamptz NOT NULL,
    sights          integer NOT NULL CHECK (sights >= 0), -- scans in a row that saw it
    state           text NOT NULL CHECK (state IN ('seen', 'reported', 'exempt', 'approved', 'removing', 'gone', 'kept')),
    state_at        timestamptz NOT NULL,
    tried_at        timestamptz, -- when the beginning of its approved removal was last tried
    state_why       text NOT NULL,
    decided_by      text NOT NULL DEFAULT '', -- a principal's id; empty: no person decided the state
    reported_at     timestamptz, -- when it was first reported, this time
    gone_at         timestamptz,
    cleanup_cluster text REFERENCES clusters, -- whose teardown removes it
    -- Why it is to be removed or stays, as a person or the setting said. state_why says what is happening about it.
    decided_why     text NOT NULL DEFAULT '',
    CONSTRAINT orphans_gone CHECK ((state = 'gone') = (gone_at IS NOT NULL)),
    CONSTRAINT orphans_foreign CHECK (class <> 'foreign' OR state NOT IN ('approved', 'removing')),
    CONSTRAINT orphans_platform_account_installation_cluster_tag_identity__key UNIQUE (platform, account, installation, cluster_tag, identity,
        place)
);
CREATE INDEX orphans_present ON orphans (state, class) WHERE gone_at IS NULL;
CREATE INDEX orphans_cleanup ON orphans (cleanup_cluster) WHERE cleanup_cluster IS NOT NULL;

-- Every resource that scans saw.
CREATE TABLE seen (
    platform      text NOT NULL,
    account       text NOT NULL,
    id            text NOT NULL CHECK (id <> ''), -- ARN, or type/id
    parts         text[] NOT NULL, -- of scans, that showed it
    resource      jsonb NOT NULL, -- contract.SeenResource
    first_seen_at timestamptz NOT NULL, -- this time: a name can be used again
    last_seen_at  timestamptz NOT NULL,
    last_scan     text NOT NULL, -- id of the last one that saw it
    sights        integer NOT NULL CHECK (sights >= 0), -- scans in a row that saw it
    missed        integer NOT NULL DEFAULT 0 CHECK (missed >= 0), -- scans in a row that looked completely where it was and did not see it
    gone_at       timestamptz,
    orphan_id     text REFERENCES orphans, -- what it is a part of; NULL: of a living cluster, or not judged yet
    untagged_of   text REFERENCES clusters, -- the living cluster whose tags it lacks; NULL: it has them, or gets none
    untagged      integer NOT NULL DEFAULT 0 CHECK (untagged >= 0), -- scans in a row that saw it so
    CONSTRAINT seen_row CHECK (missed = 0 OR sights = 0),
    PRIMARY KEY (platform, account, id),
    CONSTRAINT seen_untagged CHECK ((untagged = 0) = (untagged_of IS NULL))
);
CREATE INDEX seen_orphan ON seen (orphan_id) WHERE orphan_id IS NOT NULL;
CREATE INDEX seen_untagged_of ON seen (untagged_of) WHERE untagged_of IS NOT NULL;

--
-- Costs
--

-- What a cluster costs an hour from a moment on, until the next row. Reports are made from these.
CREATE TABLE usage_samples (
    cluster_id            text NOT NULL REFERENCES clusters,
    sample_time           timestamptz NOT NULL,
    state                 text NOT NULL,
    worker_replicas       integer, -- NULL: not known
    estimated_hourly_cost integer NOT NULL, -- US cents, list price
    saved_hourly          integer NOT NULL DEFAULT 0 CHECK (saved_hourly >= 0), -- what an hour costs less because the cluster is asleep
    stopped               boolean NOT NULL DEFAULT false, -- no machine runs
    PRIMARY KEY (cluster_id, sample_time)
);

-- Which delivery of a billing export was read last, for each billing period. A delivery replaces everything that the one before said
-- about its period.
CREATE TABLE cost_exports (
    export   text NOT NULL CHECK (export <> ''), -- s3://bucket/prefix/name
    period   date NOT NULL CHECK (extract(day FROM period) = 1),
    delivery text NOT NULL CHECK (delivery <> ''), -- changes whenever the cloud writes the period again
    lines    bigint NOT NULL CHECK (lines >= 0), -- of its files
    read_at  timestamptz NOT NULL,
    PRIMARY KEY (export, period)
);

-- What the cloud billed for a cluster in a day. The id is what the tag ClusterId says: no foreign key, because a bill can name clusters
-- of which this database knows nothing.
CREATE TABLE actual_costs (
    export     text NOT NULL,
    period     date NOT NULL,
    day        date NOT NULL,
    cluster_id text NOT NULL DEFAULT '', -- empty: the lines have no such tag
    nanos      bigint NOT NULL, -- billionths of a US dollar; credits are negative
    PRIMARY KEY (export, period, day, cluster_id),
    FOREIGN KEY (export, period) REFERENCES cost_exports ON DELETE CASCADE
);
CREATE INDEX actual_costs_cluster ON actual_costs (cluster_id, day);

--
-- The audit trail, and the schema itself
--

-- The newest line of the audit trail. Each new line locks the row until its transaction ends, so that the order of the lines is the order
-- of the commits.
CREATE TABLE audit_head (
    single boolean DEFAULT true PRIMARY KEY CHECK (single),
    seq    bigint NOT NULL,
    hash   text NOT NULL
);

-- The hash of a line: over its texts in this order, each as its length in bytes, a colon and itself. PL/pgSQL keeps its plan, and an SQL
-- function that cannot be inlined is planned at each call; the trail's lock is held meanwhile.
-- +goose StatementBegin
CREATE FUNCTION audit_hash(seq bigint, previous text, actor text, action text, door text, cluster text, metadata jsonb, created_at timestamptz)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    part text;
    line text := '';
BEGIN
    FOREACH part IN ARRAY ARRAY[seq::text, previous, actor, action, door, coalesce(cluster, ''), metadata::text,
        to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')] LOOP
        line := line || coalesce(octet_length(part) || ':' || part, '');
    END LOOP;
    RETURN encode(sha256(convert_to(line, 'UTF8')), 'hex');
END $$;
-- +goose StatementEnd

-- The audit trail, a chain: each line carries the hash of the one before.
CREATE TABLE audit_events (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor             text NOT NULL CHECK (actor <> ''),
    action            text NOT NULL CHECK (action <> ''),
    target_cluster_id text, -- no foreign key: an audit line outlives everything
    metadata          jsonb NOT NULL DEFAULT '{}',
    created_at        timestamptz NOT NULL,
    source            text NOT NULL DEFAULT '',
    seq               bigint NOT NULL,
    previous          text NOT NULL,
    hash              text NOT NULL,
    CONSTRAINT audit_events_seq UNIQUE (seq)
);
CREATE INDEX audit_events_cluster ON audit_events (target_cluster_id, seq);
CREATE INDEX audit_events_actor ON audit_events (actor, seq);
CREATE INDEX audit_events_action ON audit_events (action, seq);
CREATE INDEX audit_events_time ON audit_events (created_at);
CREATE INDEX audit_events_actor_key ON audit_events (principal_key(actor), seq);

-- A line of the trail is never changed or deleted.
-- +goose StatementBegin
CREATE FUNCTION audit_events_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION audit_events_guard();

-- A new line gets its number and its hash.
-- +goose StatementBegin
CREATE FUNCTION audit_events_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT h.seq + 1, h.hash INTO new.seq, new.previous FROM audit_head h FOR UPDATE;
    new.hash := audit_hash(new.seq, new.previous, new.actor, new.action, new.source, new.target_cluster_id, new.metadata, new.created_at);
    UPDATE audit_head SET seq = new.seq, hash = new.hash;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_chain BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_events_chain();

-- The oldest server that works on this schema, by the newest migration that it knows. Servers of the release before run beside new ones
-- during an upgrade, and alone after a rollback. A migration that takes away or renames what they use raises the number.
CREATE TABLE schema_support (
    only_row boolean DEFAULT true PRIMARY KEY CHECK (only_row),
    oldest   integer NOT NULL CHECK (oldest > 0)
);

INSERT INTO audit_head (seq, hash) VALUES (0, repeat('0', 64));
INSERT INTO schema_support (oldest) VALUES (71);

-- +goose Down
DROP TABLE schema_support, audit_events, audit_head, actual_costs, cost_exports, usage_samples, seen, orphans, findings, scan_reports,
    scan_parts, scans, slack_people, slack_homes, slack_channels, channel_subscriptions, notices, announcements, own_environments,
    github_budgets, paces, effects, replies, subscribers, merge_groups, pull_requests, looks, marks, redeliveries, deliveries,
    pending_links, links, access, gates, test_reports, uses, signals, waits, run_requests, run_clusters, runs, shares, approval_votes,
    approvals, turns, reservations, job_names, verifications, artifacts, log_chunks, reports, refreshes, runner_queue, attempts, jobs,
    removals, handovers, request_keys, cluster_requests, conditions, cluster_addons, cluster_outputs, clusters, seen_permissions,
    signatures, ended_sessions, person_identities, person_spellings, github_logins, github_accounts, accounts;
DROP FUNCTION account_of, attempts_resource_group, access_guard, identities_of, person_of, principal_key, addons_guard,
    clusters_origin_guard, clusters_changed, audit_events_chain, audit_hash, approvals_guard, attempts_gate, audit_events_guard,
    clusters_release_guard, verifications_guard, attempts_guard, clusters_guard;
-- A database that the migrations before 0.1.0 made has their numbers, too.
DELETE FROM goose_db_version WHERE version_id BETWEEN 1 AND 70;

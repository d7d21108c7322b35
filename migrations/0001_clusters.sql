-- +goose Up

CREATE TABLE clusters (
    id              text PRIMARY KEY CHECK (id LIKE 'clu\_%'),
    row_version     bigint NOT NULL DEFAULT 1 CHECK (row_version > 0), -- guards store.Apply
    pokes           bigint NOT NULL DEFAULT 1,                         -- counts facts and wishes; names the reconcile job

    -- what was accepted
    name            text NOT NULL CHECK (name ~ '^[a-z]([-a-z0-9]*[a-z0-9])?$' AND length(name) <= 21),
    generation      integer NOT NULL DEFAULT 1 CHECK (generation > 0),
    platform        text NOT NULL CHECK (platform IN ('aws', 'ibmcloud')),
    version         text NOT NULL CHECK (version <> ''), -- of OpenShift
    profile         text NOT NULL CHECK (profile <> ''),
    region          text NOT NULL CHECK (region <> ''),
    base_domain     text NOT NULL CHECK (base_domain <> ''),
    owner           text NOT NULL,
    team            text NOT NULL,
    cost_center     text NOT NULL,
    environment     text NOT NULL,
    requested_by    text NOT NULL CHECK (requested_by <> ''), -- principal id
    door            text NOT NULL,
    ttl             interval NOT NULL CHECK (ttl > interval '0'),
    ttl_hours       numeric NOT NULL GENERATED ALWAYS AS (round(extract(epoch FROM ttl) / 3600, 6)) STORED,
    hourly_cents    integer NOT NULL CHECK (hourly_cents >= 0), -- list price, US cents
    request_tags    jsonb NOT NULL,
    effective_tags  jsonb NOT NULL,
    spec            jsonb NOT NULL, -- frozen
    installation    bigint,         -- of the GitHub App
    repo            text,           -- owner/name
    pr_number       integer,
    pr_head         text,

    -- the heart's part
    status           text NOT NULL,
    phase            text NOT NULL,
    why              text NOT NULL CHECK (why <> ''),
    wish             text NOT NULL DEFAULT 'present' CHECK (wish IN ('present', 'absent')),
    wish_why         text NOT NULL DEFAULT '',
    teardown         text NOT NULL DEFAULT '' CHECK (teardown IN ('', 'DESTROY', 'JANITOR_DESTROY')),
    needs_approval   boolean NOT NULL DEFAULT false,
    abandoned        boolean NOT NULL DEFAULT false,
    max_tries        integer NOT NULL CHECK (max_tries > 0),
    tries            integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    destroy_failures integer NOT NULL DEFAULT 0 CHECK (destroy_failures >= 0),
    seen             integer NOT NULL DEFAULT 0, -- newest closed attempt that is accounted for
    retry_at         timestamptz,
    wake_at          timestamptz, -- look again then
    nudged_at        timestamptz, -- when a look was last asked for because that time had come
    ready_at         timestamptz,
    fail_reason      text NOT NULL DEFAULT '',
    fail_message     text NOT NULL DEFAULT '',
    blockers         text[] NOT NULL DEFAULT '{}',
    progress_percent integer NOT NULL DEFAULT 0 CHECK (progress_percent BETWEEN 0 AND 100),
    progress_step    text NOT NULL DEFAULT '',
    progress_eta     timestamptz,

    -- the ends, each with its grace; the earliest counts
    end_ttl           timestamptz NOT NULL,
    end_max           timestamptz NOT NULL,
    end_pr_closed     timestamptz,
    end_label_removed timestamptz,
    end_run_finished  timestamptz,
    end_claim         timestamptz,
    destroy_at        timestamptz NOT NULL GENERATED ALWAYS AS
        (least(end_ttl, end_max, end_pr_closed, end_label_removed, end_run_finished, end_claim)) STORED,

    created_at   timestamptz NOT NULL, -- accepted
    updated_at   timestamptz NOT NULL,
    destroyed_at timestamptz,          -- released

    CONSTRAINT clusters_status_phase CHECK (
        (status = 'PENDING'    AND phase IN ('queued', 'awaiting_approval', 'awaiting_capacity')) OR
        (status = 'CREATING'   AND phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring', 'cleaning')) OR
        (status = 'READY'      AND phase IN ('ready', 'degraded', 'scaled_down', 'expiring')) OR
        (status = 'DESTROYING' AND phase IN ('stopping', 'restoring', 'destroying', 'verifying')) OR
        (status = 'DESTROYED'  AND phase = 'released') OR
        (status = 'FAILED'     AND phase IN ('create_failed', 'destroy_blocked', 'abandoned'))),
    CONSTRAINT clusters_released CHECK ((status = 'DESTROYED') = (destroyed_at IS NOT NULL)),
    CONSTRAINT clusters_released_unwanted CHECK (status <> 'DESTROYED' OR wish = 'absent'),
    CONSTRAINT clusters_never_sleep CHECK (status = 'DESTROYED' OR wake_at IS NOT NULL),
    CONSTRAINT clusters_end_within_max CHECK (end_ttl <= end_max AND destroy_at <= end_max AND end_max > created_at),
    CONSTRAINT clusters_absent_says_why CHECK (
        (wish = 'present' AND wish_why = '') OR (wish = 'absent' AND wish_why <> '' AND teardown <> '')),
    CONSTRAINT clusters_pull_request CHECK (num_nonnulls(installation, repo, pr_number, pr_head) IN (0, 4)),
    CONSTRAINT clusters_spec_no_secret CHECK (coalesce(spec ->> 'installConfig', '') !~ '(^|\n)\s*(pullSecret|secretAccessKey|password)\s*:')
);

-- A name is taken until its cluster is released, whatever its status.
CREATE UNIQUE INDEX clusters_live_name ON clusters (platform, base_domain, name) WHERE destroyed_at IS NULL;
-- One wanted cluster per pull request and profile; an older generation may still be going.
CREATE UNIQUE INDEX clusters_one_wanted_per_pr ON clusters (repo, pr_number, profile) WHERE wish = 'present' AND repo IS NOT NULL;
CREATE UNIQUE INDEX clusters_generation ON clusters (repo, pr_number, profile, generation) WHERE repo IS NOT NULL;
CREATE INDEX clusters_live ON clusters (id DESC) WHERE destroyed_at IS NULL;
CREATE INDEX clusters_status ON clusters (status, id DESC);
CREATE INDEX clusters_team ON clusters (team, id DESC);
CREATE INDEX clusters_wake ON clusters (wake_at) WHERE wake_at IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION clusters_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER clusters_guard BEFORE UPDATE ON clusters FOR EACH ROW EXECUTE FUNCTION clusters_guard();

CREATE TABLE cluster_outputs (
    cluster_id           text PRIMARY KEY REFERENCES clusters,
    api_url              text NOT NULL,
    console_url          text NOT NULL,
    kubeconfig_s3_uri    text NOT NULL CHECK (kubeconfig_s3_uri ~ '^(s3://.+)?$'),
    kubeadmin_secret_ref text NOT NULL CHECK (kubeadmin_secret_ref ~ '^([a-z0-9]+:.+)?$'), -- a reference, never the password
    metadata_s3_uri      text NOT NULL CHECK (metadata_s3_uri ~ '^(s3://.+)?$')
);

-- Every wish with its verdict, refused ones too.
CREATE TABLE cluster_requests (
    id              text PRIMARY KEY CHECK (id LIKE 'req\_%'),
    principal_id    text NOT NULL CHECK (principal_id <> ''),
    door            text NOT NULL,
    idempotency_key text CHECK (idempotency_key <> ''),
    allowed         boolean NOT NULL,
    verdict         jsonb NOT NULL,
    request         jsonb NOT NULL,
    cluster_id      text REFERENCES clusters DEFERRABLE INITIALLY DEFERRED,
    created_at      timestamptz NOT NULL,
    CHECK (allowed = (cluster_id IS NOT NULL))
);
CREATE UNIQUE INDEX cluster_requests_idempotency ON cluster_requests (principal_id, idempotency_key);
CREATE INDEX cluster_requests_cluster ON cluster_requests (cluster_id);

CREATE TABLE conditions (
    cluster_id text NOT NULL REFERENCES clusters,
    type       text NOT NULL,
    status     text NOT NULL CHECK (status IN ('True', 'False', 'Unknown')),
    reason     text NOT NULL,
    message    text NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (cluster_id, type)
);

CREATE TABLE usage_samples (
    cluster_id            text NOT NULL REFERENCES clusters,
    sample_time           timestamptz NOT NULL,
    state                 text NOT NULL,
    worker_replicas       integer,          -- NULL: not known
    estimated_hourly_cost integer NOT NULL, -- US cents, list price
    PRIMARY KEY (cluster_id, sample_time)
);

-- +goose Down
DROP TABLE usage_samples;
DROP TABLE conditions;
DROP TABLE cluster_requests;
DROP TABLE cluster_outputs;
DROP TABLE clusters;
DROP FUNCTION clusters_guard;

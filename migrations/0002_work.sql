-- +goose Up

-- The public record of work. River's rows are delivery only.
CREATE TABLE jobs (
    id            text PRIMARY KEY CHECK (id LIKE 'job\_%'),
    cluster_id    text NOT NULL REFERENCES clusters,
    job_type      text NOT NULL CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP')),
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

CREATE TABLE attempts (
    id           text PRIMARY KEY CHECK (id LIKE 'att\_%'),
    cluster_id   text NOT NULL REFERENCES clusters,
    job_id       text NOT NULL REFERENCES jobs,
    number       integer NOT NULL CHECK (number > 0), -- the fence
    kind         text NOT NULL CHECK (kind IN ('create', 'destroy')),
    token_id     text NOT NULL UNIQUE CHECK (token_id <> ''), -- jti of the attempt's JWT, no secret
    opened_at    timestamptz NOT NULL,
    claimed_by   text CHECK (claimed_by <> ''), -- pod
    claimed_at   timestamptz,
    lease_until  timestamptz,
    stop_asked   boolean NOT NULL DEFAULT false,
    stop_why     text NOT NULL DEFAULT '',

    phase            text NOT NULL CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing', 'configuring',
                                                    'restoring', 'destroying', 'verifying')),
    progress_percent integer NOT NULL DEFAULT 0 CHECK (progress_percent BETWEEN 0 AND 100),
    progress_step    text NOT NULL DEFAULT '',
    seen_account     text NOT NULL DEFAULT '', -- as preflight saw it
    tool_exited_at   timestamptz,              -- when it was told, on our clock
    tool_exit_code   integer,

    -- what was acknowledged before anything was made under it; each written once
    recorded_at    timestamptz,
    infra_id       text CHECK (infra_id <> ''),
    cluster_uuid   text CHECK (cluster_uuid <> ''),
    cco_name       text CHECK (cco_name <> '' AND length(cco_name) <= 20 AND cco_name = lower(cco_name)),
    account        text CHECK (account <> ''),
    region         text CHECK (region <> ''),
    release_digest text CHECK (release_digest <> ''),
    metadata       text CHECK (metadata <> ''),

    closed_at timestamptz,
    outcome   text CHECK (outcome IN ('succeeded', 'failed', 'stopped', 'waiting', 'lost', 'cancelled')),
    reason    text NOT NULL DEFAULT '',
    message   text NOT NULL DEFAULT '',
    retryable boolean NOT NULL DEFAULT false,

    UNIQUE (cluster_id, number),
    CONSTRAINT attempts_claimed CHECK (num_nonnulls(claimed_by, claimed_at, lease_until) IN (0, 3)),
    CONSTRAINT attempts_recorded CHECK ((recorded_at IS NOT NULL) = (num_nonnulls(infra_id, cco_name) > 0)),
    CONSTRAINT attempts_recorded_claimed CHECK (recorded_at IS NULL OR claimed_at IS NOT NULL),
    CONSTRAINT attempts_closed CHECK ((closed_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT attempts_cancelled_unclaimed CHECK (outcome <> 'cancelled' OR claimed_at IS NULL)
);
CREATE UNIQUE INDEX attempts_one_open ON attempts (cluster_id) WHERE closed_at IS NULL;
CREATE UNIQUE INDEX attempts_infra_id ON attempts (infra_id) WHERE infra_id IS NOT NULL; -- two clusters never share one
CREATE INDEX attempts_cco_name ON attempts (cco_name) WHERE cco_name IS NOT NULL;
CREATE INDEX attempts_job ON attempts (job_id, number);

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

CREATE TABLE reports (
    attempt_id  text NOT NULL REFERENCES attempts,
    seq         integer NOT NULL CHECK (seq > 0),
    phase       text NOT NULL,
    percent     integer NOT NULL,
    step        text NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (attempt_id, seq)
);

CREATE TABLE log_chunks (
    attempt_id  text NOT NULL,
    seq         integer NOT NULL,
    body        text NOT NULL, -- redacted lines
    received_at timestamptz NOT NULL,
    PRIMARY KEY (attempt_id, seq),
    FOREIGN KEY (attempt_id, seq) REFERENCES reports
);

-- Archives count only when a fenced report told of them.
CREATE TABLE artifacts (
    cluster_id    text NOT NULL REFERENCES clusters,
    attempt_id    text NOT NULL REFERENCES attempts,
    artifact_type text NOT NULL CHECK (artifact_type IN ('INSTALL_DIR_SNAPSHOT', 'LOG', 'AUTH_BUNDLE', 'METADATA')),
    s3_key        text NOT NULL CHECK (s3_key <> ''), -- in the installation's bucket
    manifest_key  text NOT NULL,
    checksum      text NOT NULL CHECK (checksum ~ '^[0-9a-f]{64}$'), -- sha256 of the archive
    size          bigint NOT NULL CHECK (size >= 0),
    infra_id      text NOT NULL,
    taken_at      timestamptz NOT NULL,
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (s3_key) -- an archive is never overwritten
);
CREATE INDEX artifacts_cluster ON artifacts (cluster_id, taken_at DESC);

CREATE TABLE verifications (
    attempt_id  text NOT NULL REFERENCES attempts,
    number      integer NOT NULL CHECK (number > 0),
    received_at timestamptz NOT NULL,
    account     text NOT NULL,
    identities  text[] NOT NULL,
    control     text NOT NULL,  -- what the positive control saw
    queries     jsonb NOT NULL, -- what was asked and what came back
    leftovers   jsonb NOT NULL,
    words       text[] NOT NULL,
    clean       boolean NOT NULL,
    PRIMARY KEY (attempt_id, number),
    CONSTRAINT verifications_clean CHECK (NOT clean OR (control <> '' AND leftovers = '[]' AND words = '{}'))
);

-- +goose StatementBegin
CREATE FUNCTION verifications_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a proof is never changed' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER verifications_guard BEFORE UPDATE OR DELETE ON verifications FOR EACH ROW EXECUTE FUNCTION verifications_guard();

-- A release needs its proof: two clean counts of the newest attempt, or that none was ever opened.
-- +goose StatementBegin
CREATE FUNCTION clusters_release_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id AND a.closed_at IS NULL) THEN
        RAISE EXCEPTION 'cluster % has an open attempt', new.id USING ERRCODE = 'check_violation';
    END IF;
    IF EXISTS (SELECT 1 FROM attempts a WHERE a.cluster_id = new.id) AND 2 > (
        SELECT count(*) FROM verifications v
        WHERE v.clean AND v.attempt_id = (SELECT a.id FROM attempts a WHERE a.cluster_id = new.id ORDER BY a.number DESC LIMIT 1)) THEN
        RAISE EXCEPTION 'cluster % has no proof of zero', new.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clusters_release_guard BEFORE UPDATE OF status ON clusters FOR EACH ROW
    WHEN (new.status = 'DESTROYED' AND old.status <> 'DESTROYED') EXECUTE FUNCTION clusters_release_guard();

-- +goose Down
DROP TRIGGER clusters_release_guard ON clusters;
DROP FUNCTION clusters_release_guard;
DROP TABLE verifications;
DROP FUNCTION verifications_guard;
DROP TABLE artifacts;
DROP TABLE log_chunks;
DROP TABLE reports;
DROP TABLE attempts;
DROP FUNCTION attempts_guard;
DROP TABLE jobs;

-- +goose Up

-- Who has, had or asked for access to a cluster: one row for each credential, made for one reader. A row is written before a runner makes
-- the service account, and revoked rows stay. No secret: the credential is in the bucket, below operate/.
CREATE TABLE access (
    id          text PRIMARY KEY CHECK (id LIKE 'acc\_%'),
    cluster_id  text NOT NULL REFERENCES clusters,
    number      integer NOT NULL CHECK (number > 0),  -- of the request
    reader      text NOT NULL CHECK (reader <> ''),   -- principal id
    reader_name text NOT NULL CHECK (reader_name <> ''),
    role        text NOT NULL CHECK (role IN ('view', 'edit', 'admin')),
    by_right    text NOT NULL CHECK (by_right = 'role' OR by_right LIKE 'principal:_%' OR by_right LIKE 'team:_%'), -- the reader's role in the cluster's team, or the share
    run_id      text REFERENCES runs,                 -- the run whose token asked for it; NULL: none
    run_attempt integer CHECK (run_attempt > 0),
    run_job     text NOT NULL DEFAULT '',             -- check_run_id; empty: the token named none
    lifetime    interval NOT NULL CHECK (lifetime >= interval '10 minutes'), -- Kubernetes makes no token for less
    account     text NOT NULL CHECK (account ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'), -- the service account's name in the cluster
    asked_at    timestamptz NOT NULL,
    attempt     integer CHECK (attempt > 0),          -- number of the newest one that was told to make it; NULL: none, so there is nothing in the cluster
    minted_at   timestamptz,
    expires_at  timestamptz,                          -- of the token
    ref         text NOT NULL DEFAULT '' CHECK (ref ~ '^(s3://.+)?$'),
    trouble     text NOT NULL DEFAULT '',             -- why the newest try to make or to remove it failed
    revoked_at  timestamptz,
    revoked_by  text NOT NULL DEFAULT '',
    revoke_why  text NOT NULL DEFAULT '',
    removed_at  timestamptz,                          -- from the cluster
    UNIQUE (cluster_id, account),
    CONSTRAINT access_minted CHECK ((minted_at IS NULL) = (expires_at IS NULL) AND (minted_at IS NULL) = (ref = '') AND (minted_at IS NULL OR attempt IS NOT NULL)),
    CONSTRAINT access_of_run CHECK ((run_id IS NULL) = (run_attempt IS NULL) AND (run_id IS NOT NULL OR run_job = '')),
    CONSTRAINT access_revoked CHECK ((revoked_at IS NULL) = (revoke_why = ''))
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

-- Requests for access are numbered like those for add-ons. The numbers are apart from the other work on a ready cluster.
ALTER TABLE clusters
    ADD COLUMN access_wanted integer NOT NULL DEFAULT 0,    -- number of the newest request
    ADD COLUMN access_done integer NOT NULL DEFAULT 0,      -- … of the newest that was met or given up
    ADD COLUMN access_failures integer NOT NULL DEFAULT 0 CHECK (access_failures >= 0),
    ADD COLUMN access_retry_at timestamptz,
    ADD CONSTRAINT clusters_access_done CHECK (access_done BETWEEN 0 AND access_wanted);

ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE', 'ACCESS'));
ALTER TABLE attempts DROP CONSTRAINT attempts_kind_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access'));
ALTER TABLE attempts DROP CONSTRAINT attempts_phase_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
    'configuring', 'restoring', 'destroying', 'verifying', 'scaling', 'accessing'));
ALTER TABLE attempts ADD COLUMN access_wanted integer CHECK (access_wanted >= 0); -- of an access attempt: the newest request when it was opened
ALTER TABLE attempts ADD CONSTRAINT attempts_access CHECK ((kind = 'access') = (access_wanted IS NOT NULL));
ALTER TABLE runner_queue DROP CONSTRAINT runner_queue_kind_check;
ALTER TABLE runner_queue ADD CONSTRAINT runner_queue_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure', 'access'));
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed',
    'slack_channel', 'slack_refused', 'access_not_revoked'));

-- A share to use a cluster has a role in it. Those from before gave the installer's kubeconfig.
ALTER TABLE shares ADD COLUMN role text NOT NULL DEFAULT '';
UPDATE shares SET role = 'admin' WHERE access = 'use';
ALTER TABLE shares ADD CONSTRAINT shares_role CHECK (role IN ('', 'view', 'edit', 'admin') AND (access = 'use' OR role = ''));

-- The installer's own kubeconfig is shown after a second person's approval only, like the kubeadmin password.
ALTER TABLE approvals DROP CONSTRAINT approvals_kind_check;
ALTER TABLE approvals ADD CONSTRAINT approvals_kind_check CHECK (kind IN ('create', 'kubeadmin', 'kubeconfig'));
ALTER TABLE links DROP CONSTRAINT links_kind_check;
ALTER TABLE links ADD CONSTRAINT links_kind_check CHECK (kind IN ('kubeconfig', 'kubeadmin', 'account', 'admin-kubeconfig'));
ALTER TABLE links ADD COLUMN access_id text REFERENCES access CHECK (access_id IS NULL OR kind = 'kubeconfig'); -- what a kubeconfig link hands out

-- +goose Down
-- The release before knows no such attempts: it would take one for a teardown. What is over stays as what it knows that is most alike: a
-- scaling, which records nothing either. Tokens that were made end by themselves.
UPDATE clusters c SET seen = a.number, retry_at = NULL FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'access' AND a.closed_at IS NULL;
UPDATE clusters c SET seen = greatest(c.seen, a.number) FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'access' AND a.closed_at IS NOT NULL
    AND a.number = (SELECT max(number) FROM attempts l WHERE l.cluster_id = c.id);
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that makes no kubeconfigs'
WHERE kind = 'access' AND closed_at IS NULL;
UPDATE jobs SET status = 'FAILED', ended_at = clock_timestamp(), error_code = 'Cancelled', error_message = 'this installation went back to a release that makes no kubeconfigs'
WHERE job_type = 'ACCESS' AND ended_at IS NULL;
ALTER TABLE attempts DROP CONSTRAINT attempts_access, DROP COLUMN access_wanted;
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET kind = 'scale', workers_wanted = 0 WHERE kind = 'access';
UPDATE attempts SET phase = 'scaling' WHERE phase = 'accessing';
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts DROP CONSTRAINT attempts_phase_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_phase_check CHECK (phase IN ('preflight', 'claiming', 'rendering', 'recording', 'installing',
    'configuring', 'restoring', 'destroying', 'verifying', 'scaling'));
ALTER TABLE attempts DROP CONSTRAINT attempts_kind_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE')) NOT VALID;
DELETE FROM runner_queue WHERE kind = 'access';
ALTER TABLE runner_queue DROP CONSTRAINT runner_queue_kind_check;
ALTER TABLE runner_queue ADD CONSTRAINT runner_queue_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure'));
DELETE FROM findings WHERE kind = 'access_not_revoked';
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed',
    'slack_channel', 'slack_refused'));
DELETE FROM links WHERE kind IN ('admin-kubeconfig', 'kubeconfig');
ALTER TABLE links DROP COLUMN access_id;
ALTER TABLE links DROP CONSTRAINT links_kind_check;
ALTER TABLE links ADD CONSTRAINT links_kind_check CHECK (kind IN ('kubeconfig', 'kubeadmin', 'account'));
UPDATE approvals SET state = 'void', decided_at = clock_timestamp(), decided_why = 'this installation went back to a release that makes no kubeconfigs'
WHERE kind = 'kubeconfig' AND state = 'pending';
ALTER TABLE approvals DROP CONSTRAINT approvals_kind_check;
ALTER TABLE approvals ADD CONSTRAINT approvals_kind_check CHECK (kind IN ('create', 'kubeadmin')) NOT VALID;
-- A share that gave less than the installer's kubeconfig does not give it now.
ALTER TABLE shares DROP CONSTRAINT shares_role;
UPDATE shares SET access = 'see' WHERE access = 'use' AND role NOT IN ('', 'admin');
ALTER TABLE shares DROP COLUMN role;
DROP TABLE access;
DROP FUNCTION access_guard;
ALTER TABLE clusters DROP CONSTRAINT clusters_access_done,
    DROP COLUMN access_wanted, DROP COLUMN access_done, DROP COLUMN access_failures, DROP COLUMN access_retry_at;

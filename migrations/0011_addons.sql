-- +goose Up

-- The add-ons a cluster was accepted with. Wishes to have them brought anew are numbered: the newest is the one that is met.
ALTER TABLE clusters
    ADD COLUMN addons text[] NOT NULL DEFAULT '{}',          -- names, in the order they are brought; never changes
    ADD COLUMN addons_wanted integer NOT NULL DEFAULT 0,     -- number of the newest wish; 0: nobody had one
    ADD COLUMN addons_done integer NOT NULL DEFAULT 0,       -- … of the newest that was met or given up
    ADD COLUMN addon_failures integer NOT NULL DEFAULT 0 CHECK (addon_failures >= 0),
    ADD CONSTRAINT clusters_addons_done CHECK (addons_done BETWEEN 0 AND addons_wanted);

-- What they were made of when the cluster was accepted: a later catalogue changes no cluster that is there. No secret.
CREATE TABLE cluster_addons (
    cluster_id text NOT NULL REFERENCES clusters,
    position   integer NOT NULL CHECK (position > 0),
    name       text NOT NULL CHECK (name ~ '^[a-z][-a-z0-9]{0,39}$'),
    manifests  text NOT NULL CHECK (octet_length(manifests) BETWEEN 1 AND 131072), -- a JSON List of Kubernetes objects
    waits      jsonb NOT NULL CHECK (jsonb_typeof(waits) = 'array'), -- [{"kind","name","namespace","condition","timeout"}]
    PRIMARY KEY (cluster_id, position),
    UNIQUE (cluster_id, name)
);

-- Every wish once: the cause names what it came of, such as a push.
CREATE TABLE refreshes (
    cluster_id text NOT NULL REFERENCES clusters,
    cause      text NOT NULL CHECK (cause <> ''),
    number     integer NOT NULL CHECK (number > 0), -- the wish's
    job_id     text NOT NULL REFERENCES jobs,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (cluster_id, cause)
);

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
CREATE TRIGGER cluster_addons_guard BEFORE UPDATE OR DELETE ON cluster_addons FOR EACH ROW EXECUTE FUNCTION addons_guard();

-- Bringing add-ons anew is a job like the others: its attempts run beside a ready cluster and record nothing.
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP', 'CONFIGURE'));
ALTER TABLE attempts DROP CONSTRAINT attempts_kind_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale', 'configure'));
ALTER TABLE attempts ADD COLUMN addons_wanted integer CHECK (addons_wanted > 0); -- of a configure attempt: the wish it meets
ALTER TABLE attempts ADD COLUMN addons_seen integer CHECK (addons_seen >= 0);    -- how many were there at its end
ALTER TABLE attempts ADD CONSTRAINT attempts_configure CHECK ((kind = 'configure') = (addons_wanted IS NOT NULL));

-- +goose Down
-- The release before knows no add-ons: an open attempt at them would be taken for a teardown, and its running job keep a
-- teardown's from running. A runner that still applies them is told that its attempt is closed. What is over stays as what it
-- knows that is most alike: a scaling, which records nothing either.
UPDATE clusters c SET seen = a.number, retry_at = NULL FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'configure' AND a.closed_at IS NULL;
UPDATE attempts SET closed_at = clock_timestamp(), outcome = 'lost', message = 'this installation went back to a release that knows no add-ons'
WHERE kind = 'configure' AND closed_at IS NULL;
UPDATE jobs SET status = 'FAILED', ended_at = clock_timestamp(), error_code = 'Cancelled', error_message = 'this installation went back to a release that knows no add-ons'
WHERE job_type = 'CONFIGURE' AND ended_at IS NULL;
ALTER TABLE attempts DROP CONSTRAINT attempts_configure, DROP COLUMN addons_wanted, DROP COLUMN addons_seen;
ALTER TABLE attempts DISABLE TRIGGER attempts_guard;
UPDATE attempts SET kind = 'scale', workers_wanted = 0 WHERE kind = 'configure';
ALTER TABLE attempts ENABLE TRIGGER attempts_guard;
ALTER TABLE attempts DROP CONSTRAINT attempts_kind_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_kind_check CHECK (kind IN ('create', 'destroy', 'scale'));
ALTER TABLE jobs DROP CONSTRAINT jobs_job_type_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_job_type_check
    CHECK (job_type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY', 'ORPHAN_SWEEP')) NOT VALID;
DROP TABLE refreshes;
DROP TABLE cluster_addons;
DROP TRIGGER clusters_addons_guard ON clusters;
DROP FUNCTION addons_guard;
ALTER TABLE clusters DROP CONSTRAINT clusters_addons_done,
    DROP COLUMN addons, DROP COLUMN addons_wanted, DROP COLUMN addons_done, DROP COLUMN addon_failures;

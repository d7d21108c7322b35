-- +goose Up

-- PostgreSQL plans the body of an SQL function again for each call that it cannot inline, which takes ten times as long as these
-- take to run. It keeps the plans of PL/pgSQL. The results are the same.

-- Whom a principal counts for: the catalogue's person, else the owner of the linked account, else itself.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION person_of(id text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    key text := principal_key(id);
    known text;
BEGIN
    SELECT p.person INTO known FROM person_identities p WHERE p.identity = key;
    IF known IS NULL THEN
        SELECT coalesce(p.person, principal_key(a.principal)) INTO known FROM accounts a
            LEFT JOIN person_identities p ON p.identity = principal_key(a.principal) WHERE principal_key(a.account) = key LIMIT 1;
    END IF;
    RETURN coalesce(known, key);
END $$;
-- +goose StatementEnd

-- Every identity of the person whom a principal counts for, as principal_key gives them.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION identities_of(id text) RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    whole text := person_of(id);
    own text[];
BEGIN
    own := ARRAY[principal_key(id), whole] || ARRAY(SELECT p.identity FROM person_identities p WHERE p.person = whole);
    RETURN ARRAY(
        SELECT unnest(own) UNION SELECT principal_key(a.account) FROM accounts a
            WHERE principal_key(a.principal) = ANY (own) AND person_of(a.account) = whole ORDER BY 1);
END $$;
-- +goose StatementEnd

-- The hash of a line of the audit trail, over the same bytes as before: the trail's lock is held while it is computed.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_hash(seq bigint, previous text, actor text, action text, door text, cluster text, metadata jsonb, created_at timestamptz)
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

-- A request counts what its person, its team and its repository use: each finds its own clusters, however many others there are.
-- Of the released ones, only those of this month count.
CREATE INDEX clusters_counted_person ON clusters (principal_key(requested_by), destroyed_at);
CREATE INDEX clusters_counted_team ON clusters (team, destroyed_at);
CREATE INDEX clusters_counted_repo ON clusters (repo, destroyed_at) WHERE repo IS NOT NULL;

-- A sweep judges the ready clusters whose next look or end has come; the others are as they should be.
CREATE INDEX clusters_due ON clusters (least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at)) WHERE destroyed_at IS NULL AND status = 'READY';

-- The metrics count the ended jobs and the released clusters since the last time.
CREATE INDEX jobs_ended ON jobs (ended_at) INCLUDE (job_type, status);

-- +goose Down
DROP INDEX jobs_ended;
DROP INDEX clusters_due;
DROP INDEX clusters_counted_repo;
DROP INDEX clusters_counted_team;
DROP INDEX clusters_counted_person;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_hash(seq bigint, previous text, actor text, action text, door text, cluster text, metadata jsonb, created_at timestamptz)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(convert_to(string_agg(octet_length(part) || ':' || part, '' ORDER BY nr), 'UTF8')), 'hex')
    FROM unnest(ARRAY[seq::text, previous, actor, action, door, coalesce(cluster, ''), metadata::text,
        to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')]) WITH ORDINALITY AS t(part, nr)
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION identities_of(id text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH whole AS (SELECT person_of(id) AS person),
    own AS (
        SELECT principal_key(id) AS identity UNION SELECT person FROM whole
        UNION SELECT p.identity FROM person_identities p JOIN whole w ON w.person = p.person
    )
    SELECT array_agg(DISTINCT identity) FROM (
        SELECT identity FROM own
        UNION SELECT principal_key(a.account) FROM accounts a WHERE principal_key(a.principal) IN (SELECT identity FROM own)
            AND person_of(a.account) = (SELECT person FROM whole)
    ) every
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION person_of(id text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(
        (SELECT p.person FROM person_identities p WHERE p.identity = principal_key(id)),
        (SELECT coalesce(p.person, principal_key(a.principal)) FROM accounts a
            LEFT JOIN person_identities p ON p.identity = principal_key(a.principal) WHERE principal_key(a.account) = principal_key(id) LIMIT 1),
        principal_key(id))
$$;
-- +goose StatementEnd

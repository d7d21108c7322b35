-- +goose Up

-- The people of the catalogue in force, as the servers last read it. Rows elsewhere keep the principal who acted; whom they
-- count for is asked here at each reading, so linking and unlinking also move what was there before.
CREATE TABLE person_identities (
    identity text PRIMARY KEY CHECK (identity <> ''), -- as principal_key gives it
    person   text NOT NULL CHECK (person LIKE 'person:%'),
    name     text NOT NULL CHECK (name <> '')         -- to show
);
CREATE INDEX person_identities_person ON person_identities (person);

-- How an owner may be written who is one of these people; in lower case.
CREATE TABLE person_spellings (
    spelling text PRIMARY KEY CHECK (spelling <> ''),
    person   text NOT NULL CHECK (person LIKE 'person:%'),
    name     text NOT NULL CHECK (name <> '')
);
CREATE INDEX person_spellings_person ON person_spellings (person);

-- The form in which principals are compared: GitHub logins and SAML names ignore case.
-- +goose StatementBegin
CREATE FUNCTION principal_key(id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN id LIKE 'github:%' OR id LIKE 'saml:%' THEN lower(id) ELSE id END
$$;
-- +goose StatementEnd
CREATE INDEX accounts_key ON accounts (principal_key(account));
CREATE INDEX accounts_principal_key ON accounts (principal_key(principal));

-- Whom a principal counts for: the catalogue's person, else the owner of the linked account, else itself.
-- +goose StatementBegin
CREATE FUNCTION person_of(id text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(
        (SELECT p.person FROM person_identities p WHERE p.identity = principal_key(id)),
        (SELECT coalesce(p.person, principal_key(a.principal)) FROM accounts a
            LEFT JOIN person_identities p ON p.identity = principal_key(a.principal) WHERE principal_key(a.account) = principal_key(id) LIMIT 1),
        principal_key(id))
$$;
-- +goose StatementEnd

-- Every identity of the person whom a principal counts for, as principal_key gives them.
-- +goose StatementBegin
CREATE FUNCTION identities_of(id text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
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

CREATE INDEX audit_events_actor_key ON audit_events (principal_key(actor), seq);

-- +goose Down
DROP INDEX audit_events_actor_key;
DROP FUNCTION identities_of(text);
DROP FUNCTION person_of(text);
DROP INDEX accounts_principal_key;
DROP INDEX accounts_key;
DROP FUNCTION principal_key(text);
DROP TABLE person_spellings;
DROP TABLE person_identities;

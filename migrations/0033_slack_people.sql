-- +goose Up

-- What Slack said of people who did something there. It is asked again after a while, and used for a day if Slack does not answer.
CREATE TABLE slack_people (
    workspace   text NOT NULL CHECK (workspace <> ''),
    id          text NOT NULL CHECK (id <> ''),
    home        text NOT NULL DEFAULT '',      -- whose member they are
    org         text NOT NULL DEFAULT '',      -- the Enterprise Grid organization; empty: none
    name        text NOT NULL DEFAULT '',
    email       text NOT NULL DEFAULT '',      -- in lower case; empty: Slack did not say, or did not confirm it
    mapped      text NOT NULL DEFAULT '' CHECK (mapped = '' OR mapped LIKE 'email:%'), -- the identity that the e-mail stands for; empty: none
    bot         boolean NOT NULL,
    deactivated boolean NOT NULL,
    guest       boolean NOT NULL,
    stranger    boolean NOT NULL,
    asked_at    timestamptz NOT NULL,          -- Slack, the last time
    changed     boolean NOT NULL DEFAULT false, -- Slack said since that something changed
    account     text NOT NULL GENERATED ALWAYS AS ('slack:' || workspace || '/' || id) STORED,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX slack_people_account ON slack_people (account) WHERE mapped <> '';
CREATE INDEX slack_people_mapped ON slack_people (mapped) WHERE mapped <> '';

-- Whom a principal counts for: the catalogue's person, else the owner of the linked account, else the catalogue's person with the
-- account's e-mail in Slack, else itself.
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
    IF known IS NULL AND key LIKE 'slack:%' THEN
        SELECT p.person INTO known FROM slack_people s JOIN person_identities p ON p.identity = s.mapped WHERE s.account = key AND s.mapped <> '';
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
            WHERE principal_key(a.principal) = ANY (own) AND person_of(a.account) = whole
        UNION SELECT s.account FROM slack_people s WHERE s.mapped = ANY (own) AND s.mapped <> '' AND person_of(s.account) = whole ORDER BY 1);
END $$;
-- +goose StatementEnd

-- +goose Down

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
DROP TABLE slack_people;

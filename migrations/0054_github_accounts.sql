-- +goose Up

-- Accounts on GitHub that did something here. GitHub's number of an account never changes and is never given again; its login may.
CREATE TABLE github_accounts (
    id        bigint PRIMARY KEY CHECK (id > 0),
    login     text NOT NULL CHECK (login <> ''), -- as it was seen last, to show
    seen_at   timestamptz NOT NULL,
    principal text NOT NULL GENERATED ALWAYS AS ('github:id/' || id::text) STORED
);
CREATE UNIQUE INDEX github_accounts_principal ON github_accounts (principal);

-- Whose a login is: the first account that is seen with it keeps it, also after it was renamed. The next account with the login is nobody
-- known. NULL: several accounts had it before this was written down, so it is nobody's.
CREATE TABLE github_logins (
    login     text PRIMARY KEY CHECK (login <> '' AND login = lower(login)),
    account   bigint REFERENCES github_accounts,
    principal text GENERATED ALWAYS AS ('github:id/' || account::text) STORED
);
CREATE INDEX github_logins_principal ON github_logins (principal);

-- What is known of logins and numbers: from permissions, links of accounts, and deliveries that are still kept.
-- +goose StatementBegin
CREATE FUNCTION known_sender(body bytea, field text) RETURNS TABLE (id bigint, login text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT (v.who->>'id')::bigint, v.who->>'login' FROM (SELECT convert_from(body, 'UTF8')::jsonb #> field::text[] AS who) v
        WHERE jsonb_typeof(v.who->'id') = 'number' AND v.who->>'login' <> '';
EXCEPTION WHEN data_exception THEN -- it is no JSON, or its number is none
    RETURN;
END $$;
-- +goose StatementEnd
CREATE TEMPORARY TABLE known_accounts ON COMMIT DROP AS
    SELECT account AS id, login, seen_at FROM seen_permissions
    UNION ALL SELECT number::bigint, substr(account, length('github:') + 1), linked_at FROM accounts WHERE account LIKE 'github:%' AND number ~ '^[1-9][0-9]{0,17}$'
    UNION ALL SELECT k.id, k.login, d.received_at FROM deliveries d, unnest(ARRAY['{sender}', '{comment,user}', '{pull_request,user}']) AS f (field),
        known_sender(d.body, f.field) k WHERE d.source = 'github' AND k.id > 0;
DROP FUNCTION known_sender(bytea, text);
INSERT INTO github_accounts (id, login, seen_at) SELECT DISTINCT ON (id) id, login, seen_at FROM known_accounts ORDER BY id, seen_at DESC;
INSERT INTO github_logins (login, account)
    SELECT lower(login), CASE WHEN count(DISTINCT id) = 1 THEN min(id) END FROM known_accounts GROUP BY lower(login);

-- Links of accounts name the number. Those without one can be made again.
DELETE FROM accounts WHERE account LIKE 'github:%' AND number !~ '^[1-9][0-9]{0,17}$';
DELETE FROM accounts a USING accounts b WHERE a.account LIKE 'github:%' AND b.account LIKE 'github:%' AND a.number = b.number AND (a.linked_at, a.account) < (b.linked_at, b.account);
UPDATE accounts SET account = 'github:id/' || number WHERE account LIKE 'github:%';
UPDATE links SET account = 'github:id/' || number WHERE kind = 'account' AND account LIKE 'github:%' AND number <> '';

ALTER TABLE pull_requests ADD COLUMN author_id bigint NOT NULL DEFAULT 0; -- GitHub's number of the author; 0: not known

-- The principal of an account on GitHub by a login that is its alone; another key as it is.
-- +goose StatementBegin
CREATE FUNCTION account_of(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN key LIKE 'github:%' AND key NOT LIKE 'github:id/%'
        THEN coalesce((SELECT l.principal FROM github_logins l WHERE l.login = substr(key, length('github:') + 1)), key) ELSE key END
$$;
-- +goose StatementEnd

-- Whom a principal counts for: the catalogue's person, else the owner of the linked account, else the catalogue's person with the
-- account's e-mail in Slack, else itself. The catalogue may name an account on GitHub by its number, which comes first, or by a login.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION person_of(id text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
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

-- Every identity of the person whom a principal counts for, as principal_key gives them. Rows of before accounts had numbers name logins.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION identities_of(id text) RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
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

-- +goose Down
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

DROP FUNCTION account_of(text);
ALTER TABLE pull_requests DROP COLUMN author_id;
-- The release before names accounts by their login, and knows those of which one was seen.
DELETE FROM accounts a WHERE a.account LIKE 'github:id/%' AND NOT EXISTS (SELECT FROM github_accounts g WHERE g.principal = a.account);
DELETE FROM accounts a USING github_accounts g, github_accounts h, accounts b
    WHERE g.principal = a.account AND h.principal = b.account AND lower(g.login) = lower(h.login) AND (g.seen_at, g.id) < (h.seen_at, h.id);
UPDATE accounts a SET account = 'github:' || g.login FROM github_accounts g WHERE g.principal = a.account;
UPDATE links SET used_at = clock_timestamp() WHERE kind = 'account' AND account LIKE 'github:id/%' AND used_at IS NULL;
DROP TABLE github_logins;
DROP TABLE github_accounts;

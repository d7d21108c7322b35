-- +goose Up

-- A function in SQL with a query is parsed and planned anew by each statement that calls it. These two are asked several times for each
-- request, and their plans do not depend on the person.

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION account_of(key text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    IF key LIKE 'github:%' AND key NOT LIKE 'github:id/%' THEN
        RETURN coalesce((SELECT l.principal FROM github_logins l WHERE l.login = substr(key, length('github:') + 1)), key);
    END IF;
    RETURN key;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION identities_of(id text) RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    whole text := person_of(id);
    own text[];
    each text;
BEGIN
    own := ARRAY[account_of(principal_key(id)), whole] || ARRAY(SELECT p.identity FROM person_identities p WHERE p.person = whole);
    FOREACH each IN ARRAY own LOOP
        IF account_of(each) <> each AND person_of(each) = whole THEN
            own := own || account_of(each);
        END IF;
    END LOOP;
    own := own || ARRAY(SELECT principal_key(a.account) FROM accounts a WHERE principal_key(a.principal) = ANY (own) AND person_of(a.account) = whole)
        || ARRAY(SELECT s.account FROM slack_people s WHERE s.mapped = ANY (own) AND s.mapped <> '' AND person_of(s.account) = whole);
    RETURN ARRAY(SELECT unnest(own) UNION SELECT 'github:' || l.login FROM github_logins l WHERE l.principal = ANY (own) ORDER BY 1);
END $$;
-- +goose StatementEnd

-- +goose Down
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

CREATE OR REPLACE FUNCTION account_of(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN key LIKE 'github:%' AND key NOT LIKE 'github:id/%'
        THEN coalesce((SELECT l.principal FROM github_logins l WHERE l.login = substr(key, length('github:') + 1)), key) ELSE key END
$$;

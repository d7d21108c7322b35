-- +goose Up

-- What is left of a cluster is a value: what it is, who can remove it, the command and a remark. Until now it was a sentence.
-- +goose StatementBegin
CREATE FUNCTION blocker_of(text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN m IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object('name', m[1], 'free', m[2],
            'command', regexp_replace(m[3], ' \([^()]*\)$', ''), 'remark', (regexp_match(m[3], ' \(([^()]*)\)$'))[1]))
        WHEN n IS NOT NULL THEN jsonb_build_object('name', n[1], 'free', n[2])
        ELSE jsonb_build_object('name', $1)
    END
    FROM regexp_match($1, '^(.+?): ([^:]+): ((?:aws|ibmcloud) .+)$') AS m, regexp_match($1, '^(.+?): (.+)$') AS n
$$;
CREATE FUNCTION blockers_of(text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(blocker_of(b) ORDER BY n), '[]') FROM unnest($1) WITH ORDINALITY AS _ (b, n)
$$;
-- +goose StatementEnd

ALTER TABLE clusters ALTER COLUMN blockers DROP DEFAULT;
ALTER TABLE clusters
    ALTER COLUMN blockers TYPE jsonb USING blockers_of(blockers),
    ALTER COLUMN blockers SET DEFAULT '[]';
ALTER TABLE verifications DROP CONSTRAINT verifications_clean;
ALTER TABLE verifications ALTER COLUMN words TYPE jsonb USING blockers_of(words);
ALTER TABLE verifications RENAME COLUMN words TO blockers;
ALTER TABLE verifications ADD CONSTRAINT verifications_clean CHECK (NOT clean OR (control <> '' AND leftovers = '[]' AND blockers = '[]'));
DROP FUNCTION blockers_of;
DROP FUNCTION blocker_of;

-- Older servers read and write sentences, so they must not run beside new ones.
UPDATE schema_support SET oldest = 74;

-- +goose Down
UPDATE schema_support SET oldest = 73;

-- +goose StatementBegin
CREATE FUNCTION blocker_texts(jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(concat_ws(': ', b ->> 'name', b ->> 'free', b ->> 'command') || coalesce(' (' || (b ->> 'remark') || ')', '') ORDER BY n), '{}')
    FROM jsonb_array_elements($1) WITH ORDINALITY AS _ (b, n)
$$;
-- +goose StatementEnd

ALTER TABLE clusters ALTER COLUMN blockers DROP DEFAULT;
ALTER TABLE clusters
    ALTER COLUMN blockers TYPE text[] USING blocker_texts(blockers),
    ALTER COLUMN blockers SET DEFAULT '{}';
ALTER TABLE verifications DROP CONSTRAINT verifications_clean;
ALTER TABLE verifications RENAME COLUMN blockers TO words;
ALTER TABLE verifications ALTER COLUMN words TYPE text[] USING blocker_texts(words);
ALTER TABLE verifications ADD CONSTRAINT verifications_clean CHECK (NOT clean OR (control <> '' AND leftovers = '[]' AND words = '{}'));
DROP FUNCTION blocker_texts;

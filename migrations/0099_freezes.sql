-- +goose Up

-- While a freeze holds, no create begins where it applies. An empty column stands for any.
CREATE TABLE freezes (
    id        text PRIMARY KEY,
    platform  text NOT NULL DEFAULT '',
    account   text NOT NULL DEFAULT '',
    region    text NOT NULL DEFAULT '',
    profile   text NOT NULL DEFAULT '',
    team      text NOT NULL DEFAULT '',
    words     text NOT NULL CHECK (words <> ''),
    frozen_by text NOT NULL CHECK (frozen_by <> ''), -- as people know them
    since     timestamptz NOT NULL,
    until     timestamptz NOT NULL,
    thawed_at timestamptz, -- NULL: it holds until then
    thawed_by text NOT NULL DEFAULT '',
    CONSTRAINT freezes_bounded CHECK (until > since AND until <= since + interval '31 days'),
    CONSTRAINT freezes_thawed CHECK ((thawed_at IS NULL) = (thawed_by = '') AND thawed_at >= since)
);
CREATE INDEX freezes_held ON freezes (until) WHERE thawed_at IS NULL;

-- A freeze is thawed once, and changes in no other way.
-- +goose StatementBegin
CREATE FUNCTION freezes_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.thawed_at IS NOT NULL OR new.thawed_at IS NULL
        OR (to_jsonb(new) - 'thawed_at' - 'thawed_by') IS DISTINCT FROM (to_jsonb(old) - 'thawed_at' - 'thawed_by') THEN
        RAISE EXCEPTION 'freeze % only ends, and once', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER freezes_guard BEFORE UPDATE ON freezes FOR EACH ROW EXECUTE FUNCTION freezes_guard();

-- +goose Down
DROP TABLE freezes;
DROP FUNCTION freezes_guard();

-- +goose Up

-- A cluster that is claimed from its pool may get further add-ons. None is taken out, and after the claim they never change.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION addons_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'clusters' THEN
        IF new.addons IS DISTINCT FROM old.addons AND NOT (old.pooled AND NOT new.pooled AND old.addons <@ new.addons) THEN
            RAISE EXCEPTION 'the add-ons of cluster % never change', old.id USING ERRCODE = 'check_violation';
        END IF;
        RETURN new;
    END IF;
    RAISE EXCEPTION 'the add-ons of cluster % never change', old.cluster_id USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION addons_guard() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- +goose Up

-- What the cloud calls the resource group of cco_name. A count asks for it: a list that leaves the group out does not prove that it is gone.
ALTER TABLE attempts ADD COLUMN resource_group_id text
    CHECK (resource_group_id ~ '^[0-9a-f]{32}$'), ADD CONSTRAINT attempts_resource_group CHECK (resource_group_id IS NULL OR cco_name IS NOT NULL);

-- +goose StatementBegin
CREATE FUNCTION attempts_resource_group() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.resource_group_id IS NOT NULL AND new.resource_group_id IS DISTINCT FROM old.resource_group_id THEN
        RAISE EXCEPTION 'what identifies attempt % is written once', old.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN new;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_resource_group BEFORE UPDATE OF resource_group_id ON attempts
    FOR EACH ROW EXECUTE FUNCTION attempts_resource_group();

-- +goose Down
DROP TRIGGER attempts_resource_group ON attempts;
DROP FUNCTION attempts_resource_group;
ALTER TABLE attempts DROP COLUMN resource_group_id;

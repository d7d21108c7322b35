-- +goose Up

-- A newer answer on a pull request makes those before it outdated: they are minimized on GitHub, each once.
ALTER TABLE replies ADD COLUMN outdated_at timestamptz;
CREATE INDEX replies_of_pull ON replies (repo, number) WHERE external_id > 0 AND outdated_at IS NULL AND repo IS NOT NULL;
ALTER TABLE effects DROP CONSTRAINT effects_kind_check, DROP CONSTRAINT effects_target,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal',
        'review', 'reject', 'remove_deployments', 'gate', 'minimize')),
    ADD CONSTRAINT effects_target CHECK ((kind IN ('react', 'minimize')) = (target <> 0));

-- +goose Down
DELETE FROM effects WHERE kind = 'minimize';
ALTER TABLE effects DROP CONSTRAINT effects_kind_check, DROP CONSTRAINT effects_target,
    ADD CONSTRAINT effects_kind_check CHECK (kind IN ('react', 'add_label', 'remove_label', 'check_config', 'ensure_labels', 'test_check', 'signal',
        'review', 'reject', 'remove_deployments', 'gate')),
    ADD CONSTRAINT effects_target CHECK ((kind = 'react') = (target <> 0));
DROP INDEX replies_of_pull;
ALTER TABLE replies DROP COLUMN outdated_at;

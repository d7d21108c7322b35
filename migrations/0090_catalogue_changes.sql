-- +goose Up

-- The last request of a person, whose roles an administrator's question takes.
CREATE INDEX cluster_requests_principal ON cluster_requests (principal_id, created_at);

-- A pull request that changes the catalogue gets a check, and the pages propose changes by pull requests.
ALTER TABLE effects DROP CONSTRAINT effects_kind_check, ADD CONSTRAINT effects_kind_check CHECK (kind IN ('react', 'add_label', 'remove_label',
    'check_config', 'check_catalogue', 'propose_catalogue', 'ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate', 'minimize')),
    DROP CONSTRAINT effects_number, ADD CONSTRAINT effects_number CHECK (
        kind IN ('propose_catalogue', 'ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate') OR number > 0);

-- +goose Down
DELETE FROM effects WHERE kind IN ('check_catalogue', 'propose_catalogue');
ALTER TABLE effects DROP CONSTRAINT effects_kind_check, ADD CONSTRAINT effects_kind_check CHECK (kind IN ('react', 'add_label', 'remove_label',
    'check_config', 'ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate', 'minimize')),
    DROP CONSTRAINT effects_number, ADD CONSTRAINT effects_number CHECK (
        kind IN ('ensure_labels', 'test_check', 'signal', 'review', 'reject', 'remove_deployments', 'gate') OR number > 0);
DROP INDEX cluster_requests_principal;

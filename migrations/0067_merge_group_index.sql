-- +goose Up

-- Groups are looked for by the commit of their pull request.
DROP INDEX merge_groups_open;
CREATE INDEX merge_groups_open ON merge_groups (repo, pull_head) WHERE ended_at IS NULL;

-- Older servers name people on GitHub by their logins, give checks of clusters the name of the required check, let jobs act on every cluster of
-- their team, and do not know the phase degraded, so they must not run beside new ones.
UPDATE schema_support SET oldest = 66;

-- +goose Down
UPDATE schema_support SET oldest = 49;
DROP INDEX merge_groups_open;
CREATE INDEX merge_groups_open ON merge_groups (repo, number) WHERE ended_at IS NULL;

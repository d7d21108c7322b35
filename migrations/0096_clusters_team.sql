-- +goose Up

-- A team's page of living clusters is found without reading those that ended.
DROP INDEX clusters_team;
CREATE INDEX clusters_team ON clusters (team, id DESC) INCLUDE (destroyed_at);

-- +goose Down
DROP INDEX clusters_team;
CREATE INDEX clusters_team ON clusters (team, id DESC);

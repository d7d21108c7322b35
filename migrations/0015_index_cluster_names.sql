-- +goose Up

-- A cluster that is gone can still be read by its name: the newest of that name answers. Names of clusters that are gone repeat.
CREATE INDEX clusters_name ON clusters (name, id DESC);

-- +goose Down
DROP INDEX clusters_name;

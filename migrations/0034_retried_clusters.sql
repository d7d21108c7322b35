-- +goose Up

-- In place of which cluster that failed or ended a cluster was requested again; NULL: of none.
ALTER TABLE clusters ADD COLUMN retry_of text REFERENCES clusters CHECK (retry_of <> id);
CREATE INDEX clusters_retry_of ON clusters (retry_of, id) WHERE retry_of IS NOT NULL;

-- +goose Down
DROP INDEX clusters_retry_of;
ALTER TABLE clusters DROP COLUMN retry_of;

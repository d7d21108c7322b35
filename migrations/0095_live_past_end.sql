-- +goose Up

-- The gauges look for what is past its end also among clusters that are being torn down.
DROP INDEX clusters_past_end;
CREATE INDEX clusters_past_end ON clusters (destroy_at) WHERE destroyed_at IS NULL;

-- +goose Down
DROP INDEX clusters_past_end;
CREATE INDEX clusters_past_end ON clusters (destroy_at) WHERE desired = 'present' AND destroyed_at IS NULL;

-- +goose Up

-- The newest clusters of a profile, for what is shown of each profile.
CREATE INDEX clusters_profile ON clusters (profile, id DESC);

-- +goose Down
DROP INDEX clusters_profile;

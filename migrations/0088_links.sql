-- +goose Up

-- What runs in a cluster and is to be shown: its addresses, as last seen in it.
ALTER TABLE cluster_outputs ADD COLUMN links jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(links) = 'array');

-- +goose Down
ALTER TABLE cluster_outputs DROP COLUMN links;

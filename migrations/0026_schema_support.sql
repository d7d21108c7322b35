-- +goose Up

-- The oldest server that works on this schema, by the newest migration that it knows. Servers of the release before run beside new ones
-- during an upgrade, and alone after a rollback. A migration that takes away or renames what they use raises the number.
CREATE TABLE schema_support (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    oldest   integer NOT NULL CHECK (oldest > 0)
);

INSERT INTO schema_support (oldest) VALUES (22);

-- +goose Down

DROP TABLE schema_support;

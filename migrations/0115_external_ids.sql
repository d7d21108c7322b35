-- +goose Up

-- The id with which the role of somebody else's account is assumed (AWS's external id). The account's owner writes it down in the role, so that no other
-- installation can use the role by naming it.
CREATE TABLE external_ids (
    platform text NOT NULL CHECK (platform <> ''),
    account text NOT NULL CHECK (account <> ''),
    id text NOT NULL UNIQUE DEFAULT gen_random_uuid()::text,
    PRIMARY KEY (platform, account)
);

-- +goose Down
DROP TABLE external_ids;

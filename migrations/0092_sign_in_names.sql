-- +goose Up

-- What the sign-in of somebody outside the catalogue calls them. It is shown for them while nobody else has that name.
CREATE TABLE sign_in_names (
    principal text PRIMARY KEY CHECK (principal ~ '^(oidc|saml):.+$'), -- as principal_key gives it
    name      text NOT NULL CHECK (name <> ''),
    since     timestamptz NOT NULL
);
CREATE INDEX sign_in_names_name ON sign_in_names (lower(name));

-- +goose Down
DROP TABLE sign_in_names;

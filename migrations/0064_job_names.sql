-- +goose Up

-- Names in tokens of jobs, of which the platform also tells a number that it never gives again: of repositories and projects, their owners,
-- enterprises, and people. The first number that is seen with a name keeps it; a later one with the name is nobody known.
CREATE TABLE job_names (
    site     text NOT NULL CHECK (site <> ''), -- the platform's address, or its issuer's
    kind     text NOT NULL CHECK (kind <> ''),
    name     text NOT NULL CHECK (name <> '' AND name = lower(name)),
    number   text NOT NULL CHECK (number <> ''),
    is_first boolean NOT NULL,
    seen_at  timestamptz NOT NULL,
    PRIMARY KEY (site, kind, name, number)
);
CREATE UNIQUE INDEX job_names_first ON job_names (site, kind, name) WHERE is_first;

-- Who else was seen with an account's login since.
CREATE INDEX github_accounts_login ON github_accounts (lower(login));

-- +goose Down
DROP INDEX github_accounts_login;
DROP TABLE job_names;

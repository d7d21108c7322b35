-- +goose Up

-- Who opened the app's Home in Slack, and what it shows: when a cluster changes that somebody sees there, it is shown again.
CREATE TABLE slack_homes (
    workspace text NOT NULL CHECK (workspace <> ''),
    person    text NOT NULL CHECK (person <> ''),
    opened_at timestamptz NOT NULL,
    shown_at  timestamptz NOT NULL DEFAULT '-infinity', -- it shows what was so then
    principal text NOT NULL DEFAULT '',                 -- who that was, when it was shown; empty: nobody ocpctl knows
    teams     text[] NOT NULL DEFAULT '{}',             -- whose clusters it shows
    every     boolean NOT NULL DEFAULT false,           -- it shows every team's
    content   text NOT NULL DEFAULT '',                 -- SHA-256 of what it shows, hex
    PRIMARY KEY (workspace, person)
);
CREATE INDEX slack_homes_opened ON slack_homes (opened_at);

-- +goose Down
DROP TABLE slack_homes;

-- +goose Up

-- A place that shows a cluster may be in Slack: a message in the channel in which the cluster was asked for, and the thread below it.
ALTER TABLE subscribers
    DROP CONSTRAINT subscribers_kind_check,
    ALTER COLUMN installation SET DEFAULT 0, -- not on GitHub: 0 and empty
    ALTER COLUMN repo SET DEFAULT '',
    ALTER COLUMN number SET DEFAULT 0,
    ALTER COLUMN head SET DEFAULT '',
    ADD COLUMN workspace text NOT NULL DEFAULT '', -- not in Slack: empty, like the channel and the person
    ADD COLUMN channel text NOT NULL DEFAULT '',
    ADD COLUMN person text NOT NULL DEFAULT '',    -- who asked for it there
    ADD COLUMN told_to bigint NOT NULL DEFAULT 0,  -- a thread: the newest event of the cluster's timeline that stands in it
    ADD CONSTRAINT subscribers_kind_check CHECK (kind IN
        ('github_comment', 'github_check', 'github_deployment', 'github_label', 'slack_message', 'slack_thread')),
    ADD CONSTRAINT subscribers_slack_check CHECK ((kind IN ('slack_message', 'slack_thread')) = (workspace <> '' AND channel <> '' AND person <> ''));

-- An answer in Slack may have buttons: its blocks, as Slack takes them. They hold no secret.
ALTER TABLE replies ADD COLUMN blocks jsonb;

-- What happened that somebody may want to hear of, written in the transaction in which it happened. A job finds out who.
CREATE TABLE announcements (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cause      text NOT NULL UNIQUE CHECK (cause <> ''), -- the same cause is announced once
    event      text NOT NULL CHECK (event <> ''),        -- ready, failed, expiring …
    cluster_id text REFERENCES clusters,                 -- NULL: it concerns no cluster
    facts      jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    done_at    timestamptz,                              -- its notices were written
    nudge_at   timestamptz NOT NULL
);
CREATE INDEX announcements_open ON announcements (nudge_at) WHERE done_at IS NULL;
CREATE INDEX announcements_done ON announcements (done_at) WHERE done_at IS NOT NULL;

-- One message in Slack about something that happened, in a channel or to a person, until it is posted; later its buttons change it.
CREATE TABLE notices (
    id             text PRIMARY KEY CHECK (id LIKE 'not\_%'),
    cause          text NOT NULL CHECK (cause <> ''),
    kind           text NOT NULL CHECK (kind <> ''),
    cluster_id     text REFERENCES clusters,
    workspace      text NOT NULL CHECK (workspace <> ''),
    channel        text NOT NULL DEFAULT '',
    person         text NOT NULL DEFAULT '',           -- a direct message
    thread         text REFERENCES subscribers,        -- the message whose thread it stands in; NULL: it stands alone
    mention        text NOT NULL DEFAULT '',           -- the person in Slack who is mentioned in it
    facts          jsonb NOT NULL DEFAULT '{}',
    wanted_version integer NOT NULL DEFAULT 1,
    shown_version  integer NOT NULL DEFAULT 0,
    posted_in      text NOT NULL DEFAULT '',           -- the channel in which it stands, once posted
    external_id    bigint NOT NULL DEFAULT 0,          -- its timestamp in microseconds; 0: not posted yet
    posting_at     timestamptz,                        -- a post is under way, or its answer was lost
    given_up       text NOT NULL DEFAULT '',           -- why it is not posted
    created_at     timestamptz NOT NULL,
    nudge_at       timestamptz NOT NULL,
    CHECK ((channel = '') <> (person = '')),
    UNIQUE (cause, workspace, channel, person)
);
CREATE INDEX notices_behind ON notices (nudge_at) WHERE shown_version < wanted_version AND given_up = '';
CREATE INDEX notices_cluster ON notices (cluster_id) WHERE cluster_id IS NOT NULL;

-- Which channel wants to hear of which events: of a team, of a repository, or of everything.
CREATE TABLE channel_subscriptions (
    id         text PRIMARY KEY CHECK (id LIKE 'sbn\_%'),
    workspace  text NOT NULL CHECK (workspace <> ''),
    channel    text NOT NULL CHECK (channel <> ''),
    team       text NOT NULL DEFAULT '', -- empty: of every team
    repo       text NOT NULL DEFAULT '', -- empty: of every repository
    events     text[] NOT NULL CHECK (cardinality(events) > 0),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    UNIQUE (workspace, channel, team, repo)
);

-- Channels, and with an empty channel whole workspaces: when the next message may be written there, and what is wrong there.
CREATE TABLE slack_channels (
    workspace     text NOT NULL CHECK (workspace <> ''),
    channel       text NOT NULL,
    next_at       timestamptz NOT NULL DEFAULT '-infinity', -- no message before this
    problem       text NOT NULL DEFAULT '',                 -- Slack's error code, e.g. is_archived; empty: none
    problem_since timestamptz,
    CHECK ((problem = '') = (problem_since IS NULL)),
    PRIMARY KEY (workspace, channel)
);

-- +goose Down
DROP TABLE slack_channels;
DROP TABLE channel_subscriptions;
DROP TABLE notices;
DROP TABLE announcements;
ALTER TABLE replies DROP COLUMN blocks;
DELETE FROM subscribers WHERE kind IN ('slack_message', 'slack_thread'); -- the release before knows no such place
ALTER TABLE subscribers
    DROP CONSTRAINT subscribers_slack_check,
    DROP CONSTRAINT subscribers_kind_check,
    DROP COLUMN told_to, DROP COLUMN person, DROP COLUMN channel, DROP COLUMN workspace,
    ALTER COLUMN installation DROP DEFAULT,
    ALTER COLUMN repo DROP DEFAULT,
    ALTER COLUMN number DROP DEFAULT,
    ALTER COLUMN head DROP DEFAULT,
    ADD CONSTRAINT subscribers_kind_check CHECK (kind IN ('github_comment', 'github_check', 'github_deployment', 'github_label'));

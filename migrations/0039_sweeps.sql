-- +goose Up

-- A look through a whole cloud account for what may belong to clusters. It only reads. A row is written before a runner is started. People
-- see it as a job of type ORPHAN_SWEEP, whose id has the same last part.
CREATE TABLE sweeps (
    id             text PRIMARY KEY CHECK (id LIKE 'swp\_%'),
    platform       text NOT NULL CHECK (platform <> ''),
    account        text NOT NULL CHECK (account <> ''),
    round          integer NOT NULL CHECK (round > 0),     -- of this account
    asked_by       text NOT NULL CHECK (asked_by <> ''),   -- a principal's id, or the schedule
    spec           jsonb NOT NULL,                         -- what its runner is told, as configured when it was opened; no secret
    opened_at      timestamptz NOT NULL,
    runner         integer NOT NULL DEFAULT 1 CHECK (runner > 0), -- number of the newest runner: another follows one that was lost
    runner_since   timestamptz NOT NULL,                   -- since when there is that runner
    token_id       text NOT NULL UNIQUE CHECK (token_id <> ''), -- jti of that runner's token, no secret
    launched_at    timestamptz,
    launch_trouble jsonb,                                  -- why it cannot be started
    claimed_by     text CHECK (claimed_by <> ''),          -- pod
    claimed_at     timestamptz,
    lease_until    timestamptz,
    regions        text[] NOT NULL DEFAULT '{}',           -- that were looked through
    calls          jsonb NOT NULL DEFAULT '{}',            -- by service
    slowed         integer NOT NULL DEFAULT 0 CHECK (slowed >= 0), -- calls that the cloud throttled
    resources      integer NOT NULL DEFAULT 0 CHECK (resources >= 0), -- that it saw
    closed_at      timestamptz,
    outcome        text CHECK (outcome IN ('succeeded', 'failed', 'stopped', 'lost')),
    reason         text NOT NULL DEFAULT '',
    message        text NOT NULL DEFAULT '',
    next           text NOT NULL DEFAULT '',
    judged_at      timestamptz,                            -- when what it saw was compared with what is known
    UNIQUE (platform, account, round),
    CONSTRAINT sweeps_claimed CHECK (num_nonnulls(claimed_by, claimed_at, lease_until) IN (0, 3)),
    CONSTRAINT sweeps_closed CHECK ((closed_at IS NULL) = (outcome IS NULL) AND (judged_at IS NULL OR closed_at IS NOT NULL))
);
CREATE UNIQUE INDEX sweeps_one_open ON sweeps (platform, account) WHERE closed_at IS NULL;

-- One service in one region of a sweep. Only a part that was answered completely, which has done_at and no err, says that something is gone.
CREATE TABLE sweep_parts (
    sweep_id  text NOT NULL REFERENCES sweeps ON DELETE CASCADE,
    name      text NOT NULL CHECK (name <> ''), -- <region>/<service>
    runner    integer NOT NULL,                 -- that reported it last
    resources integer NOT NULL DEFAULT 0,
    calls     integer NOT NULL DEFAULT 0,
    done_at   timestamptz,                      -- NULL: pages are missing
    err       text NOT NULL DEFAULT '',         -- why it is incomplete
    PRIMARY KEY (sweep_id, name),
    CONSTRAINT sweep_parts_err CHECK (err = '' OR done_at IS NOT NULL)
);

-- The reports of open sweeps, so that a repeated one changes nothing.
CREATE TABLE sweep_reports (
    sweep_id text NOT NULL REFERENCES sweeps ON DELETE CASCADE,
    runner   integer NOT NULL,
    seq      integer NOT NULL CHECK (seq > 0),
    PRIMARY KEY (sweep_id, runner, seq)
);

-- What sweeps found that belongs to no living cluster of ours, one row for each owner, as its tags and names tell. Rows stay.
CREATE TABLE orphans (
    id              text PRIMARY KEY CHECK (id LIKE 'orp\_%'),
    platform        text NOT NULL,
    account         text NOT NULL,
    installation    text NOT NULL,                  -- the InstallationId tag; empty: none
    cluster_tag     text NOT NULL,                  -- the ClusterId tag; empty: none
    identity        text NOT NULL,                  -- infraID or ccoctl name; empty: unknown
    place           text NOT NULL,                  -- what it is in, or the resource itself; only without a cluster and an identity
    cluster_id      text REFERENCES clusters,       -- the known cluster that it is or was of
    class           text NOT NULL CHECK (class IN ('released', 'unrecorded', 'unknown', 'foreign', 'owned', 'nobody')),
    why             text NOT NULL CHECK (why <> ''),
    regions         text[] NOT NULL,
    managed_by      boolean NOT NULL DEFAULT false, -- each of its resources that has tags has ocpctl's ManagedBy and cluster_tag
    owner           text NOT NULL DEFAULT '',       -- whom to ask: the Owner tag, or the known cluster's
    team            text NOT NULL DEFAULT '',
    name            text NOT NULL DEFAULT '',       -- of the cluster, as tagged or known
    resources       integer NOT NULL CHECK (resources >= 0), -- how many; the rows of seen tell which
    evidence        text[] NOT NULL,                -- the first of them, for people
    hourly_cents    double precision CHECK (hourly_cents >= 0), -- of those whose price is known; NULL: of none
    unpriced        integer NOT NULL DEFAULT 0 CHECK (unpriced >= 0), -- resources whose price is unknown
    first_seen_at   timestamptz NOT NULL,           -- by a sweep, this time
    last_seen_at    timestamptz NOT NULL,
    sights          integer NOT NULL CHECK (sights >= 0), -- sweeps in a row that saw it
    state           text NOT NULL CHECK (state IN ('seen', 'reported', 'exempt', 'approved', 'removing', 'gone', 'kept')),
    state_at        timestamptz NOT NULL,
    tried_at        timestamptz,                    -- when the beginning of its approved removal was last tried
    state_why       text NOT NULL,
    decided_by      text NOT NULL DEFAULT '',       -- a principal's id; empty: no person decided the state
    reported_at     timestamptz,                    -- when it was first reported, this time
    gone_at         timestamptz,
    cleanup_cluster text REFERENCES clusters,       -- whose teardown removes it
    UNIQUE (platform, account, installation, cluster_tag, identity, place),
    CONSTRAINT orphans_gone CHECK ((state = 'gone') = (gone_at IS NOT NULL)),
    CONSTRAINT orphans_foreign CHECK (class <> 'foreign' OR state NOT IN ('approved', 'removing'))
);
CREATE INDEX orphans_present ON orphans (state, class) WHERE gone_at IS NULL;

-- Every resource that sweeps saw.
CREATE TABLE seen (
    platform      text NOT NULL,
    account       text NOT NULL,
    id            text NOT NULL CHECK (id <> ''),   -- ARN, or type/id
    parts         text[] NOT NULL,                  -- of sweeps, that showed it
    resource      jsonb NOT NULL,                   -- contract.SeenResource
    first_seen_at timestamptz NOT NULL,             -- this time: a name can be used again
    last_seen_at  timestamptz NOT NULL,
    last_sweep    text NOT NULL,                    -- id of the last one that saw it
    sights        integer NOT NULL CHECK (sights >= 0), -- sweeps in a row that saw it
    missed        integer NOT NULL DEFAULT 0 CHECK (missed >= 0), -- sweeps in a row that looked completely where it was and did not see it
    gone_at       timestamptz,
    orphan_id     text REFERENCES orphans,          -- what it is a part of; NULL: of a living cluster, or not judged yet
    PRIMARY KEY (platform, account, id),
    CONSTRAINT seen_row CHECK (missed = 0 OR sights = 0)
);
CREATE INDEX seen_orphan ON seen (orphan_id) WHERE orphan_id IS NOT NULL;

ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN (
    'orphan',
    'overdue',
    'stuck',
    'blocked',
    'remains',
    'delivery_failing',
    'job_failed',
    'slack_channel',
    'slack_refused',
    'access_not_revoked',
    'sweep_failing'
));

-- +goose Down
DELETE FROM findings WHERE kind = 'sweep_failing';
ALTER TABLE findings DROP CONSTRAINT findings_kind_check;
ALTER TABLE findings ADD CONSTRAINT findings_kind_check CHECK (kind IN ('orphan', 'overdue', 'stuck', 'blocked', 'remains', 'delivery_failing', 'job_failed',
    'slack_channel', 'slack_refused', 'access_not_revoked'));
DROP TABLE seen;
DROP TABLE orphans;
DROP TABLE sweep_reports;
DROP TABLE sweep_parts;
DROP TABLE sweeps;

-- +goose Up

-- Executions of a pipeline that the server knows of, as their tokens and the platform's API say.
CREATE TABLE runs (
    id           text PRIMARY KEY CHECK (id LIKE 'run\_%'),
    platform     text NOT NULL CHECK (platform IN ('github', 'tekton', 'gitlab')),
    issuer       text NOT NULL CHECK (issuer <> ''),      -- of its tokens
    scope        text NOT NULL CHECK (scope <> ''),       -- GitHub: the repository's id; Tekton: the namespace; GitLab: the project's id
    key          text NOT NULL CHECK (key <> ''),         -- GitHub: the run's id; Tekton: the PipelineRun's name/uid; GitLab: the pipeline's id
    installation bigint NOT NULL DEFAULT 0,               -- of the App, through which it is asked about; 0: not known yet
    repo         text NOT NULL DEFAULT '',
    name         text NOT NULL DEFAULT '',                -- of the workflow or the PipelineRun
    url          text NOT NULL DEFAULT '',
    event        text NOT NULL DEFAULT '',                -- what triggered it
    ref          text NOT NULL DEFAULT '',
    head         text NOT NULL DEFAULT '',                -- SHA
    number       integer NOT NULL DEFAULT 0,              -- its pull request; 0: none
    actor        text NOT NULL DEFAULT '',
    attempt      integer NOT NULL CHECK (attempt > 0),    -- the newest known
    state        text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished')), -- of that attempt
    conclusion   text NOT NULL DEFAULT '',
    finished_at  timestamptz,                             -- when this server learned it; graces are counted from here
    confirmed    boolean NOT NULL DEFAULT true,           -- false: only a webhook says so
    updated_at   timestamptz,                             -- the platform's time of the state; NULL: it was not asked yet
    seen_at      timestamptz NOT NULL,                    -- when a token or the platform named it last
    look_at      timestamptz,                             -- when to ask the platform; NULL: nothing depends on it, or it cannot be asked
    missed_at    timestamptz,                             -- since when the platform does not have it; NULL: it has
    unwatched    text NOT NULL DEFAULT '',                -- why its end cannot be noticed; empty: it can
    created_at   timestamptz NOT NULL,
    CONSTRAINT runs_finished CHECK ((state = 'finished') = (finished_at IS NOT NULL) AND (state = 'finished' OR conclusion = '')),
    UNIQUE (platform, scope, key, issuer)
);
CREATE INDEX runs_url ON runs (url);
CREATE INDEX runs_look ON runs (look_at) WHERE look_at IS NOT NULL;

-- The clusters that end with a run or with one of its jobs.
CREATE TABLE run_clusters (
    cluster_id      text PRIMARY KEY REFERENCES clusters,
    run_id          text NOT NULL REFERENCES runs,
    attempt         integer NOT NULL CHECK (attempt > 0),  -- that requested it, or took it over
    slot            text NOT NULL,                         -- which of the run's clusters it is
    lifetime        text NOT NULL CHECK (lifetime IN ('run', 'job')),
    job             text NOT NULL DEFAULT '',              -- check_run_id; empty: the token named none
    job_conclusion  text NOT NULL DEFAULT '',
    job_finished_at timestamptz,                           -- when this server learned it; NULL: it runs, or nothing depends on it
    job_confirmed   boolean NOT NULL DEFAULT true,         -- false: only a webhook says so
    newest          boolean NOT NULL DEFAULT true,         -- of its slot
    bound_at        timestamptz NOT NULL,
    CONSTRAINT run_clusters_job CHECK (lifetime = 'run' OR job <> '')
);
CREATE UNIQUE INDEX run_clusters_slot ON run_clusters (run_id, slot) WHERE newest;
CREATE INDEX run_clusters_run ON run_clusters (run_id);

-- Exclusive turns of runs on clusters that several of them share, granted one after the other.
CREATE TABLE uses (
    id          text PRIMARY KEY CHECK (id LIKE 'use\_%'),
    cluster_id  text NOT NULL REFERENCES clusters,
    run_id      text NOT NULL REFERENCES runs,
    attempt     integer NOT NULL CHECK (attempt > 0),
    job         text NOT NULL DEFAULT '',                  -- check_run_id; empty: it lasts as long as the attempt
    principal   text NOT NULL CHECK (principal <> ''),
    asked_at    timestamptz NOT NULL,
    granted_at  timestamptz,
    released_at timestamptz,
    why         text NOT NULL DEFAULT '',                  -- it was released
    CONSTRAINT uses_released CHECK ((released_at IS NULL) = (why = ''))
);
CREATE UNIQUE INDEX uses_granted ON uses (cluster_id) WHERE granted_at IS NOT NULL AND released_at IS NULL;
CREATE UNIQUE INDEX uses_open ON uses (cluster_id, run_id, attempt, job) WHERE released_at IS NULL;
CREATE INDEX uses_cluster ON uses (cluster_id);
CREATE INDEX uses_run ON uses (run_id) WHERE released_at IS NULL;

ALTER TABLE clusters ADD COLUMN run_end_why text NOT NULL DEFAULT ''; -- why end_run_finished is set; empty: the run finished

-- +goose Down
ALTER TABLE clusters DROP COLUMN run_end_why;
DROP TABLE uses;
DROP TABLE run_clusters;
DROP TABLE runs;

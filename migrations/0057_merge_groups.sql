-- +goose Up

-- The commits that GitHub's merge queues ask checks for. The gates on them have the result that the repository's file says.
CREATE TABLE merge_groups (
    repo         text NOT NULL CHECK (repo <> ''),
    head         text NOT NULL CHECK (head <> ''),  -- the queue's commit
    installation bigint NOT NULL,
    number       integer NOT NULL CHECK (number > 0), -- the pull request whose turn it is
    pull_head    text NOT NULL,                       -- its head; empty: the group ended before it was known
    mode         text NOT NULL CHECK (mode IN ('reuse', 'cluster')),
    asked_at     timestamptz NOT NULL,
    ended_at     timestamptz,
    ended_why    text NOT NULL DEFAULT '' CHECK (ended_why IN ('', 'merged', 'invalidated', 'dequeued', 'gone')),
    PRIMARY KEY (repo, head)
);
CREATE INDEX merge_groups_open ON merge_groups (repo, number) WHERE ended_at IS NULL;
CREATE INDEX merge_groups_ended ON merge_groups (ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE gates ADD COLUMN refused text NOT NULL DEFAULT ''; -- why a merge queue's commit gets no cluster; Markdown

-- +goose Down
ALTER TABLE gates DROP COLUMN refused;
DROP TABLE merge_groups;

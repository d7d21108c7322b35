-- +goose Up

-- A proof that clusters can be made in a cloud account as the catalogue describes it: one run of a runner, which looks like that of a scan.
CREATE TABLE proofs (
    id             text PRIMARY KEY CHECK (id LIKE 'prf\_%'),
    platform       text NOT NULL CHECK (platform <> ''),
    account        text NOT NULL CHECK (account <> ''),
    round          integer NOT NULL CHECK (round > 0), -- of this account
    version        text NOT NULL, -- of the account's document; empty: whatever it was when proofs began
    used           boolean NOT NULL DEFAULT false, -- clusters were made there before proofs began, and the document has not changed since
    asked_by       text NOT NULL CHECK (asked_by <> ''), -- a principal's id, or the schedule
    spec           jsonb NOT NULL, -- what its runner is told, without a secret
    opened_at      timestamptz NOT NULL,
    runner         integer NOT NULL DEFAULT 1 CHECK (runner > 0),
    runner_since   timestamptz NOT NULL,
    token_id       text NOT NULL UNIQUE CHECK (token_id <> ''),
    launched_at    timestamptz,
    launch_trouble jsonb,
    claimed_by     text CHECK (claimed_by <> ''),
    claimed_at     timestamptz,
    lease_until    timestamptz,
    closed_at      timestamptz,
    outcome        text CHECK (outcome IN ('succeeded', 'failed', 'stopped', 'lost')),
    verdict        text NOT NULL DEFAULT '' CHECK (verdict IN ('', 'proven', 'lacking', 'refused')), -- empty: nothing was found out
    reason         text NOT NULL DEFAULT '',
    message        text NOT NULL DEFAULT '',
    next           text NOT NULL DEFAULT '',
    CONSTRAINT proofs_claimed CHECK (num_nonnulls(claimed_by, claimed_at, lease_until) IN (0, 3)),
    CONSTRAINT proofs_closed CHECK ((closed_at IS NULL) = (outcome IS NULL) AND (verdict = '' OR closed_at IS NOT NULL)),
    UNIQUE (platform, account, round)
);
CREATE UNIQUE INDEX proofs_one_open ON proofs (platform, account) WHERE closed_at IS NULL;

-- Accounts with clusters go on until their first proof says otherwise.
INSERT INTO proofs (id, platform, account, round, version, used, asked_by, spec, opened_at, runner_since, token_id, closed_at, outcome)
SELECT 'prf_before_' || platform || '_' || account, platform, account, 1, '', true, 'schedule', '{}', now(), now(), 'before ' || platform || ' ' || account, now(), 'succeeded'
FROM (SELECT DISTINCT platform, spec ->> 'account' AS account FROM clusters WHERE spec ->> 'account' <> '') AS used;

-- Whether a cluster has its cloud account for itself.
ALTER TABLE clusters ADD COLUMN exclusive boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE clusters DROP COLUMN exclusive;
DROP TABLE proofs;

-- +goose Up

-- Why a cluster is no longer wanted, and why its pull request or its run ends it, is a value: a code, what it is about, and somebody's own words
-- apart. Until now it was a sentence. What is not known to be one of ocpctl's own sentences becomes the words of the code "other".
-- +goose StatementBegin
CREATE FUNCTION reason_of(text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    m text[];
    unobserved CONSTANT text := '; whether people used its API is unknown, because it could not be asked';
BEGIN
    IF $1 = '' THEN
        RETURN '{}';
    ELSIF right($1, length(unobserved)) = unobserved THEN
        RETURN reason_of(left($1, -length(unobserved))) || '{"unobserved": true}';
    ELSIF right($1, 21) = ', postponed by a hold' THEN
        RETURN reason_of(left($1, -21)) || '{"held": true}';
    ELSIF right($1, 17) = ', seen by polling' THEN
        RETURN reason_of(left($1, -17)) || '{"seen": true}';
    ELSIF right($1, 19) = ', seen by the s' || 'weep' THEN
        RETURN reason_of(left($1, -19)) || '{"seen": true}';
    END IF;
    CASE $1
        WHEN 'the end of its time to live' THEN RETURN '{"code": "ttl"}';
        WHEN 'the profile''s maximum lifetime' THEN RETURN '{"code": "maximum"}';
        WHEN 'the pull request was closed' THEN RETURN '{"code": "pr_closed"}';
        WHEN 'the pull request was merged' THEN RETURN '{"code": "pr_merged"}';
        WHEN 'the pull request became a draft' THEN RETURN '{"code": "pr_draft"}';
        WHEN 'its repository''s name now belongs to another repository' THEN RETURN '{"code": "repository_name_taken"}';
        WHEN 'its label was removed' THEN RETURN '{"code": "label_removed"}';
        WHEN 'its workflow run finished, and no run that its signal started took it over' THEN RETURN '{"code": "run_not_taken_over"}';
        WHEN 'its claim ended' THEN RETURN '{"code": "claim"}';
        WHEN 'nobody used it' THEN RETURN '{"code": "idle"}';
        WHEN 'the install failed' THEN RETURN '{"code": "install_failed"}';
        ELSE NULL;
    END CASE;
    m := regexp_match($1, '^(its workflow run|its PipelineRun|its job) (finished|failed|was cancelled|was skipped|was deleted|ran out of time|finished and needs somebody''s action)$');
    IF m IS NOT NULL THEN
        RETURN jsonb_strip_nulls(jsonb_build_object('code', 'run_finished', 'name', CASE m[1] WHEN 'its PipelineRun' THEN 'pipeline_run' WHEN 'its job' THEN 'job' END,
            'to', CASE m[2] WHEN 'failed' THEN 'failure' WHEN 'was cancelled' THEN 'cancelled' WHEN 'was skipped' THEN 'skipped' WHEN 'was deleted' THEN 'gone'
                WHEN 'ran out of time' THEN 'timed_out' WHEN 'finished' THEN 'success' ELSE 'action_required' END));
    END IF;
    m := regexp_match($1, '^([^ ]+/[^ ]+) was (archived|deleted)$');
    IF m IS NOT NULL THEN
        RETURN jsonb_build_object('code', 'repository_' || m[2], 'name', m[1]);
    END IF;
    m := regexp_match($1, '^the install failed: (.*)$');
    IF m IS NOT NULL THEN
        RETURN jsonb_build_object('code', 'install_failed', 'words', m[1]);
    END IF;
    m := regexp_match($1, '^([^ ]+) asked for it$');
    IF m IS NOT NULL THEN
        RETURN jsonb_build_object('code', 'asked', 'by', m[1]);
    END IF;
    m := regexp_match($1, '^([0-9a-f]{7}) was pushed, and the repository''s file says ([a-z]+)$');
    IF m IS NOT NULL THEN
        RETURN jsonb_build_object('code', 'pushed', 'name', m[1], 'to', m[2]);
    END IF;
    RETURN jsonb_build_object('code', 'other', 'words', $1);
END $$;
-- +goose StatementEnd

ALTER TABLE clusters DROP CONSTRAINT clusters_absent_says_why;
ALTER TABLE clusters
    ALTER COLUMN desired_why DROP DEFAULT, ALTER COLUMN desired_why TYPE jsonb USING reason_of(desired_why), ALTER COLUMN desired_why SET DEFAULT '{}',
    ALTER COLUMN pr_end_why DROP DEFAULT, ALTER COLUMN pr_end_why TYPE jsonb USING reason_of(pr_end_why), ALTER COLUMN pr_end_why SET DEFAULT '{}',
    ALTER COLUMN run_end_why DROP DEFAULT, ALTER COLUMN run_end_why TYPE jsonb USING reason_of(run_end_why), ALTER COLUMN run_end_why SET DEFAULT '{}',
    ADD CONSTRAINT clusters_absent_says_why CHECK (
        (desired = 'present' AND desired_why = '{}') OR (desired = 'absent' AND desired_why ? 'code' AND teardown <> ''));
DROP FUNCTION reason_of;

-- Older servers read and write sentences, so they must not run beside new ones.
UPDATE schema_support SET oldest = 72;

-- +goose Down
UPDATE schema_support SET oldest = 71;

-- +goose StatementBegin
CREATE FUNCTION text_of(jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    words CONSTANT text := coalesce($1 ->> 'words', '');
    name CONSTANT text := coalesce($1 ->> 'name', '');
BEGIN
    IF NOT $1 ? 'code' THEN
        RETURN '';
    END IF;
    RETURN CASE $1 ->> 'code'
        WHEN 'ttl' THEN 'the end of its time to live'
        WHEN 'maximum' THEN 'the profile''s maximum lifetime'
        WHEN 'pr_closed' THEN 'the pull request was closed'
        WHEN 'pr_merged' THEN 'the pull request was merged'
        WHEN 'pr_draft' THEN 'the pull request became a draft'
        WHEN 'pr_unreachable' THEN 'the App can no longer access ' || name
        WHEN 'repository_archived' THEN name || ' was archived'
        WHEN 'repository_deleted' THEN name || ' was deleted'
        WHEN 'repository_moved' THEN 'the repository moved to ' || coalesce($1 ->> 'to', '') || ', where the App is not installed'
        WHEN 'repository_name_taken' THEN 'its repository''s name now belongs to another repository'
        WHEN 'app_removed' THEN 'the App was removed from ' || name
        WHEN 'app_suspended' THEN 'the App was suspended on ' || name
        WHEN 'label_removed' THEN 'its label was removed'
        WHEN 'run_finished' THEN CASE name WHEN 'pipeline_run' THEN 'its PipelineRun' WHEN 'job' THEN 'its job' ELSE 'its workflow run' END || ' '
            || CASE $1 ->> 'to' WHEN 'failure' THEN 'failed' WHEN 'startup_failure' THEN 'failed' WHEN 'cancelled' THEN 'was cancelled' WHEN 'skipped' THEN 'was skipped'
                WHEN 'gone' THEN 'was deleted' WHEN 'timed_out' THEN 'ran out of time' WHEN 'action_required' THEN 'finished and needs somebody''s action' ELSE 'finished' END
        WHEN 'run_not_taken_over' THEN 'its workflow run finished, and no run that its signal started took it over'
        WHEN 'claim' THEN 'its claim ended'
        WHEN 'idle' THEN 'nobody used it'
        WHEN 'not_approved' THEN 'nobody approved it by ' || to_char(($1 ->> 'at')::timestamptz AT TIME ZONE 'UTC', 'HH24:MI "UTC on" FMDD FMMonth')
        WHEN 'install_failed' THEN 'the install failed: ' || words
        WHEN 'pushed' THEN name || ' was pushed, and the repository''s file says ' || coalesce($1 ->> 'to', '')
        WHEN 'approved' THEN 'approved by ' || coalesce($1 ->> 'by', '')
        WHEN 'refused' THEN 'refused by ' || coalesce($1 ->> 'by', '') || ': ' || words
        ELSE CASE WHEN words <> '' THEN words ELSE rtrim(coalesce($1 ->> 'by', '') || ' asked for it ' || coalesce($1 ->> 'via', '')) END
    END || CASE WHEN $1 ? 'seen' THEN ', seen by polling' ELSE '' END || CASE WHEN $1 ? 'held' THEN ', postponed by a hold' ELSE '' END
        || CASE WHEN $1 ? 'unobserved' THEN '; whether people used its API is unknown, because it could not be asked' ELSE '' END;
END $$;
-- +goose StatementEnd

ALTER TABLE clusters DROP CONSTRAINT clusters_absent_says_why;
ALTER TABLE clusters
    ALTER COLUMN desired_why DROP DEFAULT, ALTER COLUMN desired_why TYPE text USING text_of(desired_why), ALTER COLUMN desired_why SET DEFAULT '',
    ALTER COLUMN pr_end_why DROP DEFAULT, ALTER COLUMN pr_end_why TYPE text USING text_of(pr_end_why), ALTER COLUMN pr_end_why SET DEFAULT '',
    ALTER COLUMN run_end_why DROP DEFAULT, ALTER COLUMN run_end_why TYPE text USING text_of(run_end_why), ALTER COLUMN run_end_why SET DEFAULT '',
    ADD CONSTRAINT clusters_absent_says_why CHECK (
        (desired = 'present' AND desired_why = '') OR (desired = 'absent' AND desired_why <> '' AND teardown <> ''));
DROP FUNCTION text_of;

-- +goose Up

-- Why a cluster's last move was made is a value, too: what code asks of it stands apart from the words. Until now it was a sentence.
-- +goose StatementBegin
CREATE FUNCTION move_reason_of(why text, status text, desired_why jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    m    text[];
    rest jsonb := '{}';
BEGIN
    m := regexp_match(why, '^(?:(.*); )?waiting for a free runner: (.*)$');
    IF m IS NOT NULL THEN
        rest := jsonb_build_object('runner', m[2]);
        why := coalesce(m[1], '');
    END IF;
    IF why = '' THEN
        RETURN rest;
    ELSIF why = 'accepted' THEN
        RETURN rest || '{"code": "accepted"}';
    END IF;
    m := regexp_match(why, '^(it ends at [^(]*) \((.*)\)$');
    IF m IS NOT NULL THEN
        RETURN rest || jsonb_build_object('code', 'expires', 'words', m[1], 'cause', jsonb_build_object('code', 'other', 'words', m[2]));
    END IF;
    m := regexp_match(why, '^(try \d+ of \d+ failed): (.*)$');
    IF m IS NOT NULL THEN
        RETURN rest || jsonb_build_object('words', m[1], 'failure', m[2]);
    END IF;
    m := regexp_match(why, '^(try \d+ of \d+ (?:did not finish|created nothing)) \((.*)\); (what it created is removed first|the next try follows)$');
    IF m IS NOT NULL THEN
        RETURN rest || jsonb_build_object('words', m[1], 'failure', m[2], 'next', m[3]);
    END IF;
    IF desired_why ? 'code' THEN
        m := regexp_match(why, '^.*; (nothing was ever created, so there is nothing to remove|two counts in a row found nothing left of .*|the running .* is stopped first|'
            || 'the runner of attempt \d+ has not ended; .*|the [^;]* was stopped, and what it created is being removed)$');
        IF m IS NOT NULL THEN
            RETURN rest || jsonb_build_object('cause', desired_why, 'words', m[1]);
        ELSIF status = 'DESTROYING' AND why !~ '^(found again: |teardown \d+ left |fetching the installer state |the installer is removing |counting what is left |adopted: )' THEN
            RETURN rest || jsonb_build_object('cause', desired_why);
        END IF;
    END IF;
    RETURN rest || jsonb_build_object('words', why);
END $$;
-- +goose StatementEnd

ALTER TABLE clusters DROP CONSTRAINT clusters_why_check;
ALTER TABLE clusters
    ALTER COLUMN why TYPE jsonb USING move_reason_of(why, status, desired_why),
    ADD CONSTRAINT clusters_why_check CHECK (why <> '{}');
DROP FUNCTION move_reason_of;

-- Older servers read and write sentences, so they must not run beside new ones.
UPDATE schema_support SET oldest = 73;

-- +goose Down
UPDATE schema_support SET oldest = 72;

-- +goose StatementBegin
CREATE FUNCTION reason_text(jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    words CONSTANT text := coalesce($1 ->> 'words', '');
    name CONSTANT text := coalesce($1 ->> 'name', '');
BEGIN
    IF $1 IS NULL OR NOT $1 ? 'code' THEN
        RETURN NULL;
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
        WHEN 'install_failed' THEN 'the install failed' || CASE WHEN words <> '' THEN ': ' || words ELSE '' END
        WHEN 'pushed' THEN name || ' was pushed, and the repository''s file says ' || coalesce($1 ->> 'to', '')
        WHEN 'approved' THEN 'approved by ' || coalesce($1 ->> 'by', '')
        WHEN 'refused' THEN 'refused by ' || coalesce($1 ->> 'by', '') || CASE WHEN words <> '' THEN ': ' || words ELSE '' END
        WHEN 'asked' THEN CASE
            WHEN words = '' THEN rtrim(coalesce($1 ->> 'by', '') || ' asked for it ' || coalesce($1 ->> 'via', ''))
            WHEN $1 ? 'via' THEN coalesce($1 ->> 'by', '') || ': ' || words
            ELSE words END
        ELSE words
    END || CASE WHEN $1 ? 'seen' THEN ', seen by polling' ELSE '' END || CASE WHEN $1 ? 'held' THEN ', postponed by a hold' ELSE '' END
        || CASE WHEN $1 ? 'unobserved' THEN '; whether people used its API is unknown, because it could not be asked' ELSE '' END;
END $$;

CREATE FUNCTION move_text(why jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN why ->> 'code' = 'accepted' THEN concat_ws('; ', 'accepted', 'waiting for a free runner: ' || (why ->> 'runner'))
        WHEN why ->> 'code' = 'expires' THEN concat_ws('; ', (why ->> 'words') || coalesce(' (' || reason_text(why -> 'cause') || ')', ''),
            'waiting for a free runner: ' || (why ->> 'runner'))
        ELSE concat_ws('; ', reason_text(why -> 'cause'),
            (why ->> 'words') || CASE WHEN why ? 'next' THEN coalesce(' (' || (why ->> 'failure') || ')', '') ELSE coalesce(': ' || (why ->> 'failure'), '') END,
            why ->> 'next', 'waiting for a free runner: ' || (why ->> 'runner'))
    END
$$;
-- +goose StatementEnd

ALTER TABLE clusters DROP CONSTRAINT clusters_why_check;
ALTER TABLE clusters
    ALTER COLUMN why TYPE text USING move_text(why),
    ADD CONSTRAINT clusters_why_check CHECK (why <> '');
DROP FUNCTION move_text;
DROP FUNCTION reason_text;

-- +goose Up

-- An answer goes to one place: a pull request on GitHub, or a person in a channel of Slack. On Slack external_id is the
-- message's timestamp there in microseconds.
ALTER TABLE replies
    ALTER COLUMN installation DROP NOT NULL,
    ALTER COLUMN repo DROP NOT NULL,
    ALTER COLUMN number DROP NOT NULL,
    ADD COLUMN workspace text CHECK (workspace <> ''),
    ADD COLUMN channel text CHECK (channel <> ''),
    ADD COLUMN person text CHECK (person <> ''),
    ADD CONSTRAINT replies_one_place CHECK (
        num_nonnulls(installation, repo, number) = 3 AND num_nonnulls(workspace, channel, person) = 0
        OR num_nonnulls(installation, repo, number) = 0 AND num_nonnulls(workspace, channel, person) = 3);

-- What Slack sent before its commands worked was kept whole, with the secrets in it: a token, and an address that lets whoever
-- has it answer. Nothing was ever done for it, and nothing will be.
UPDATE deliveries SET body = '' WHERE source = 'slack';
UPDATE deliveries SET state = 'failed', note = 'it came before Slack was connected', finished_at = clock_timestamp()
WHERE source = 'slack' AND state = 'received';

-- +goose Down
DELETE FROM replies WHERE workspace IS NOT NULL; -- the release before knows no such place
ALTER TABLE replies
    DROP CONSTRAINT replies_one_place,
    DROP COLUMN workspace, DROP COLUMN channel, DROP COLUMN person,
    ALTER COLUMN installation SET NOT NULL,
    ALTER COLUMN repo SET NOT NULL,
    ALTER COLUMN number SET NOT NULL;

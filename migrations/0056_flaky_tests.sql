-- +goose Up

-- Tests that passed after they had failed, and suites that crashed before they reported all their tests.
ALTER TABLE test_reports
    ADD COLUMN flaky integer NOT NULL DEFAULT 0 CHECK (flaky >= 0 AND flaky <= passed),
    ADD COLUMN crashed integer NOT NULL DEFAULT 0 CHECK (crashed >= 0),
    ADD COLUMN flaky_tests jsonb NOT NULL DEFAULT '[]', -- the first ones
    ADD COLUMN crashes jsonb NOT NULL DEFAULT '[]',     -- the first ones
    DROP CONSTRAINT test_reports_total_check,
    ADD CONSTRAINT test_reports_some CHECK (total > 0 OR crashed > 0);

-- +goose Down
DELETE FROM test_reports WHERE total = 0;
ALTER TABLE test_reports
    DROP CONSTRAINT test_reports_some,
    ADD CONSTRAINT test_reports_total_check CHECK (total > 0),
    DROP COLUMN crashes,
    DROP COLUMN flaky_tests,
    DROP COLUMN crashed,
    DROP COLUMN flaky;

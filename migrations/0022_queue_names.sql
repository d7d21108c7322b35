-- +goose Up

-- The queues and a kind of job have plain names. Jobs that wait are carried over; before the first start there is no table yet.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('river_job') IS NOT NULL THEN
        UPDATE river_job SET queue = 'reconcile' WHERE queue = 'heart';
        UPDATE river_job SET queue = 'messages' WHERE queue = 'words';
        UPDATE river_job SET kind = 'capacity_queue' WHERE kind = 'line';
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down

-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('river_job') IS NOT NULL THEN
        UPDATE river_job SET queue = 'heart' WHERE queue = 'reconcile';
        UPDATE river_job SET queue = 'words' WHERE queue = 'messages';
        UPDATE river_job SET kind = 'line' WHERE kind = 'capacity_queue';
    END IF;
END $$;
-- +goose StatementEnd

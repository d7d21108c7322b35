-- +goose Up

-- What each worker adds to the list price of an hour, in millionths of a US dollar, as the price list said at acceptance. NULL: not known,
-- as of every cluster that was accepted before. Then each machine costs the same share of the list price.
ALTER TABLE clusters ADD COLUMN worker_micros integer CHECK (worker_micros >= 0);

-- +goose Down
ALTER TABLE clusters DROP COLUMN worker_micros;

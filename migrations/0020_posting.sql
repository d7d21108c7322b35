-- +goose Up

-- Since when something is being posted at a place that is not known to have arrived. The next post after a crash finds it set,
-- and looks on GitHub for what the one before it may have left there.
ALTER TABLE subscribers ADD COLUMN posting_at timestamptz;

-- +goose Down
ALTER TABLE subscribers DROP COLUMN posting_at;

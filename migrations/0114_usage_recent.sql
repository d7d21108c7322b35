-- +goose Up

-- What each team used lately, which decides among equals who wait: once an hour, what was used before counts a little less. Until that was done
-- first, it is what the team spent this month.
CREATE TABLE usage_recent (
    team text PRIMARY KEY,
    amount bigint NOT NULL CHECK (amount >= 0), -- cents × milliseconds, like what is spent
    spent bigint NOT NULL, -- what the team had spent in the month of at
    at timestamptz NOT NULL
);

-- +goose Down
DROP TABLE usage_recent;

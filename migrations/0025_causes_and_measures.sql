-- +goose Up

-- What caused a request or an attempt: the correlation id that stands in every log line, and the trace that it belongs to, as a W3C
-- traceparent. Empty: not known, or no traces are recorded.
ALTER TABLE deliveries ADD COLUMN traceparent text NOT NULL DEFAULT ''; -- its correlation id is its delivery_id
ALTER TABLE cluster_requests ADD COLUMN correlation text NOT NULL DEFAULT '';
ALTER TABLE attempts
    ADD COLUMN correlation text NOT NULL DEFAULT '',
    ADD COLUMN traceparent text NOT NULL DEFAULT '';

-- Metrics read the attempts that were claimed or closed since the last time.
CREATE INDEX attempts_claimed_at ON attempts (claimed_at) WHERE claimed_at IS NOT NULL;
CREATE INDEX attempts_closed_at ON attempts (closed_at) WHERE closed_at IS NOT NULL;

-- +goose Down
DROP INDEX attempts_closed_at;
DROP INDEX attempts_claimed_at;
ALTER TABLE attempts DROP COLUMN correlation, DROP COLUMN traceparent;
ALTER TABLE cluster_requests DROP COLUMN correlation;
ALTER TABLE deliveries DROP COLUMN traceparent;

-- +goose Up

-- What was counted when a request was judged, so that a changed catalogue can judge it again.
ALTER TABLE cluster_requests ADD COLUMN usage jsonb; -- NULL: it was judged before this was kept
CREATE INDEX cluster_requests_at ON cluster_requests (created_at);

-- The checks of each verdict that did not simply pass, and the rules that filled something in.
CREATE TABLE request_checks (
    request_id   text NOT NULL REFERENCES cluster_requests ON DELETE CASCADE,
    name         text NOT NULL CHECK (name <> ''),
    part         text NOT NULL, -- the rule, quota or tag; empty: the check has no parts
    result       text NOT NULL CHECK (result IN ('pass', 'warn', 'wait', 'ask', 'fail')),
    principal_id text NOT NULL CHECK (principal_id <> ''),
    at           timestamptz NOT NULL,
    PRIMARY KEY (request_id, name, part)
);
CREATE INDEX request_checks_at ON request_checks (at);

INSERT INTO request_checks (request_id, name, part, result, principal_id, at)
SELECT r.id, c ->> 'name', coalesce(s ->> 'name', ''), coalesce(s ->> 'result', c ->> 'result'), r.principal_id, r.created_at
FROM cluster_requests r
CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(r.verdict -> 'checks') = 'array' THEN r.verdict -> 'checks' END) c
LEFT JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(c -> 'checks') = 'array' THEN c -> 'checks' END) s ON true
WHERE r.created_at > now() - interval '30 days' AND c ->> 'name' <> ''
    AND (coalesce(s ->> 'result', c ->> 'result') IN ('warn', 'wait', 'ask', 'fail') OR c ->> 'name' = 'rules' AND s ->> 'result' = 'pass')
ON CONFLICT DO NOTHING;

-- +goose Down
DROP TABLE request_checks;
DROP INDEX cluster_requests_at;
ALTER TABLE cluster_requests DROP COLUMN usage;

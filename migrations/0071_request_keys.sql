-- +goose Up

-- What came of requests that may come twice: the same key has the same result, and the answer is rendered again.
CREATE TABLE request_keys (
    principal  text NOT NULL CHECK (principal <> ''),
    key        text NOT NULL CHECK (key <> ''),
    content    text NOT NULL DEFAULT '' CHECK (content ~ '^([0-9a-f]{64})?$'), -- SHA-256 of what was asked; empty: the key alone says it
    request_id text REFERENCES cluster_requests ON DELETE CASCADE, -- null: it got a cluster that was there
    cluster_id text REFERENCES clusters, -- null: it was refused
    created_at timestamptz NOT NULL,
    expires_at timestamptz, -- null: never
    CHECK (request_id IS NOT NULL OR cluster_id IS NOT NULL),
    PRIMARY KEY (principal, key)
);
CREATE INDEX request_keys_expired ON request_keys (expires_at);
CREATE INDEX request_keys_cluster ON request_keys (cluster_id);
CREATE INDEX request_keys_request ON request_keys (request_id);

INSERT INTO request_keys (principal, key, request_id, cluster_id, created_at)
SELECT principal_id, idempotency_key, id, cluster_id, created_at FROM cluster_requests WHERE idempotency_key IS NOT NULL;

-- A request and its answer were written in one transaction, at the same time. The answer with a cluster that was there names it in its location. Keys
-- from the API get a prefix, as the others have.
INSERT INTO request_keys (principal, key, content, request_id, cluster_id, created_at, expires_at)
SELECT a.principal, CASE WHEN a.headers ? 'Content-Type' THEN 'api:' ELSE '' END || a.key, a.request, q.id, coalesce(q.cluster_id, c.id), a.created_at, a.expires_at
FROM answers a
LEFT JOIN LATERAL (SELECT q.* FROM cluster_requests q WHERE q.principal_id = a.principal AND q.created_at = a.created_at AND q.allowed = (a.status < 400)
    ORDER BY coalesce(a.headers ->> 'Location' LIKE '%/clusters/' || q.cluster_id, false) DESC, q.id LIMIT 1) q ON true
LEFT JOIN clusters c ON a.headers ->> 'Location' LIKE '%/clusters/' || c.id
WHERE q.id IS NOT NULL OR c.id IS NOT NULL
ON CONFLICT DO NOTHING;

DROP TABLE answers;
DROP INDEX cluster_requests_idempotency;
ALTER TABLE cluster_requests DROP COLUMN idempotency_key;
UPDATE schema_support SET oldest = 71;

-- +goose Down
UPDATE schema_support SET oldest = 70;
ALTER TABLE cluster_requests ADD COLUMN idempotency_key text CHECK (idempotency_key <> '');
UPDATE cluster_requests q SET idempotency_key = k.key FROM request_keys k WHERE k.request_id = q.id AND k.content = '';
CREATE UNIQUE INDEX cluster_requests_idempotency ON cluster_requests (principal_id, idempotency_key);
CREATE TABLE answers (
    principal  text NOT NULL CHECK (principal <> ''),
    key        text NOT NULL CHECK (key <> ''),
    request    text NOT NULL CHECK (request ~ '^[0-9a-f]{64}$'), -- SHA-256 of method, path and body
    status     integer NOT NULL CHECK (status BETWEEN 200 AND 499),
    headers    jsonb NOT NULL DEFAULT '{}',
    body       bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX answers_expired ON answers (expires_at);

-- The answers say as much as a repeated request needs: which cluster there is, or that it was refused.
INSERT INTO answers (principal, key, request, status, headers, body, created_at, expires_at)
SELECT k.principal, CASE WHEN of.api THEN substr(k.key, 5) ELSE k.key END, k.content,
    CASE WHEN k.cluster_id IS NULL THEN 422 WHEN of.api THEN 202 WHEN k.key LIKE 'web:%' THEN 303 ELSE 201 END,
    CASE WHEN of.api AND k.cluster_id IS NULL THEN jsonb_build_object('Content-Type', 'application/problem+json')
        WHEN of.api THEN jsonb_build_object('Content-Type', 'application/json', 'Location', '/api/v1/clusters/' || c.id, 'ETag', '"' || c.row_version || '"')
        WHEN k.key LIKE 'web:%' AND k.cluster_id IS NOT NULL THEN jsonb_build_object('Location', '/clusters/' || c.id) ELSE '{}' END,
    convert_to(CASE
        WHEN k.cluster_id IS NULL AND of.api THEN jsonb_build_object('type', 'about:blank', 'title', 'Unprocessable Entity', 'status', 422, 'detail', 'The request was refused.')::text
        WHEN k.cluster_id IS NULL THEN jsonb_build_object('Kind', 'invalid', 'Message', 'The request was refused.')::text
        WHEN of.api THEN jsonb_build_object('clusterId', c.id, 'name', c.name, 'status', c.status, 'destroyAt', c.destroy_at, 'message', 'The request was accepted.',
            'jobId', (SELECT j.id FROM jobs j WHERE j.cluster_id = c.id ORDER BY j.created_at, j.id LIMIT 1))::text
        ELSE 'The request was accepted.' END, 'UTF8'),
    k.created_at, k.expires_at
FROM request_keys k LEFT JOIN clusters c ON c.id = k.cluster_id, LATERAL (SELECT k.key LIKE 'api:%' AS api) of
WHERE k.content <> '' AND k.expires_at IS NOT NULL
ON CONFLICT DO NOTHING;
DROP TABLE request_keys;

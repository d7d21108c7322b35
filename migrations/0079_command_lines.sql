-- +goose Up

-- Command lines that people signed in through the pages, and those that wait for a person. Codes and tokens are kept as their SHA-256.
CREATE TABLE command_lines (
    id           text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'), -- also of its sessions
    machine      text NOT NULL CHECK (octet_length(machine) <= 200), -- as the program calls it
    address      text NOT NULL, -- where the program asked from
    code_hash    text NOT NULL UNIQUE CHECK (code_hash ~ '^[0-9a-f]{64}$'),
    typed_hash   text UNIQUE CHECK (typed_hash ~ '^[0-9a-f]{64}$'), -- of the code that the person types; null: a browser passed the code on
    challenge    text NOT NULL DEFAULT '', -- of RFC 7636, S256; empty: a device code
    redirect     text NOT NULL DEFAULT '', -- where the browser passed the code on
    state        text NOT NULL CHECK (state IN ('asked', 'confirmed', 'refused', 'open', 'ended')),
    asked_at     timestamptz NOT NULL,
    code_until   timestamptz NOT NULL,
    principal    text NOT NULL DEFAULT '',
    claims       jsonb NOT NULL DEFAULT '{}', -- as proved at the sign-in to the pages that confirmed it
    renewal_hash text UNIQUE CHECK (renewal_hash ~ '^[0-9a-f]{64}$'),
    last_hash    text CHECK (last_hash ~ '^[0-9a-f]{64}$'), -- of the renewal token before
    renewed_at   timestamptz,
    expires_at   timestamptz,
    ended_at     timestamptz,
    CHECK ((state IN ('confirmed', 'open', 'ended')) = (principal <> '' AND expires_at IS NOT NULL)),
    CHECK ((state = 'open') <= (renewal_hash IS NOT NULL)),
    CHECK ((state = 'ended') = (ended_at IS NOT NULL))
);
CREATE INDEX command_lines_principal ON command_lines (principal) WHERE state = 'open';
CREATE INDEX command_lines_asked ON command_lines (address) WHERE state = 'asked';
CREATE INDEX command_lines_over ON command_lines (coalesce(expires_at, code_until));

-- +goose Down
DROP TABLE command_lines;

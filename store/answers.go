package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// answerKept is how long an answer is kept where nothing else is said.
const answerKept = 24 * time.Hour

// answered returns the kept answer to a request; nil: it was never answered, or too long ago. Its key must be locked.
func (c *change) answered(ctx context.Context, principal string, o Once) (*Answer, error) {
	type record struct {
		Answer
		Request string
	}
	kept, err := one[record](ctx, c, `
		SELECT request, status, headers, body FROM answers WHERE principal = @principal AND key = @key AND expires_at > @now`,
		pgx.NamedArgs{"principal": principal, "key": o.Key, "now": c.now})
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for the answer to %s: %w", o.Key, err)
	case kept.Request != o.Request:
		return nil, ErrKeyReused
	}
	return &kept.Answer, nil
}

// keepAnswer keeps what a request is answered with, over one that expired, and returns it as it will be read again.
func (c *change) keepAnswer(ctx context.Context, principal string, o Once, a Answer) (*Answer, error) {
	if a.Headers == nil {
		a.Headers = map[string]string{}
	}
	if a.Body == nil {
		a.Body = []byte{}
	}
	_, err := c.Exec(ctx, `
		INSERT INTO answers (principal, key, request, status, headers, body, created_at, expires_at)
		VALUES (@principal, @key, @request, @status, @headers, @body, @now, @expires)
		ON CONFLICT (principal, key) DO UPDATE SET request = excluded.request, status = excluded.status, headers = excluded.headers,
			body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at`,
		pgx.NamedArgs{
			"principal": principal, "key": o.Key, "request": o.Request, "status": a.Status, "headers": a.Headers, "body": a.Body,
			"now": c.now, "expires": c.now.Add(cmp.Or(o.Keep, answerKept)),
		})
	if err != nil {
		return nil, fmt.Errorf("keep the answer to %s: %w", o.Key, err)
	}
	return &a, nil
}

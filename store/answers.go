package store

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// answerKept is how long an answer is kept by default.
const answerKept = 24 * time.Hour

// earlierAnswer selects the stored answer to a principal's request with a key.
const earlierAnswer = `SELECT request, status, headers, body, expires_at FROM answers WHERE principal = $1 AND key = $2`

type answerRecord struct {
	Answer
	Request   string
	ExpiresAt time.Time
}

// to returns the answer if the request is the same; nil: it expired. ErrKeyReused: the key belongs to another request.
func (r answerRecord) to(o Once, now time.Time) (*Answer, error) {
	switch {
	case !r.ExpiresAt.After(now):
		return nil, nil
	case r.Request != o.Request:
		return nil, db.ErrKeyReused
	}
	return &r.Answer, nil
}

// keepAnswer stores the answer to a request, over an expired one, and returns it as it will be read again.
func keepAnswer(c *db.Tx, principal string, o Once, a Answer) *Answer {
	if a.Headers == nil {
		a.Headers = map[string]string{}
	}
	if a.Body == nil {
		a.Body = []byte{}
	}
	c.DoLast("keep the answer to "+o.Key, `
		INSERT INTO answers (principal, key, request, status, headers, body, created_at, expires_at)
		VALUES (@principal, @key, @request, @status, @headers, @body, @now, @expires)
		ON CONFLICT (principal, key) DO UPDATE SET request = excluded.request, status = excluded.status, headers = excluded.headers,
			body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at`,
		pgx.NamedArgs{
			"principal": principal, "key": o.Key, "request": o.Request, "status": a.Status, "headers": a.Headers, "body": a.Body,
			"now": c.Now, "expires": c.Now.Add(cmp.Or(o.Keep, answerKept)),
		})
	return &a
}

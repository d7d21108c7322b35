package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Refuse keeps a wish that policy refused, with its verdict, and the answer to post. A repeated idempotency key returns
// the id of the first time.
func (s *Store) Refuse(ctx context.Context, r Refusal) (requestID string, err error) {
	err = s.write(ctx, func(c *change) error {
		id := NewID("req")
		kept, _, err := c.keepRequest(ctx, request{
			id: id, principal: r.Principal, door: r.Door, key: r.IdempotencyKey, verdict: r.Verdict, asked: r.Request,
		})
		if err != nil {
			return err
		}
		requestID = kept
		if r.Reply != nil {
			if err := c.reply(ctx, *r.Reply); err != nil {
				return err
			}
		}
		if kept != id {
			return nil // a replay
		}
		return c.audit(ctx, r.Principal, "refused", "", move{Request: id, Door: r.Door, Checks: r.Failed})
	})
	if err != nil {
		return "", fmt.Errorf("keep a refused wish: %w", err)
	}
	return requestID, nil
}

type request struct {
	id, principal, door, key string
	verdict, asked           json.RawMessage
	cluster                  string // empty: refused
}

// keepRequest writes a wish and its verdict. With a key that the principal used before, the earlier row stays and its id
// and cluster are returned; only a refusal gives way, to a grant.
func (c *change) keepRequest(ctx context.Context, r request) (id, cluster string, err error) {
	if r.id == "" {
		r.id = NewID("req")
	}
	if len(r.asked) == 0 {
		r.asked = json.RawMessage(`{}`)
	}
	var kept *string
	err = c.QueryRow(ctx, `
		INSERT INTO cluster_requests AS q (id, principal_id, door, idempotency_key, allowed, verdict, request, cluster_id, created_at)
		VALUES (@id, @principal, @door, nullif(@key, ''), @allowed, @verdict, @asked, nullif(@cluster, ''), @now)
		ON CONFLICT (principal_id, idempotency_key) DO UPDATE SET
			allowed = q.allowed OR excluded.allowed,
			cluster_id = coalesce(q.cluster_id, excluded.cluster_id),
			verdict = CASE WHEN excluded.allowed AND NOT q.allowed THEN excluded.verdict ELSE q.verdict END
		RETURNING id, cluster_id`,
		pgx.NamedArgs{
			"id": r.id, "principal": r.principal, "door": r.door, "key": r.key, "allowed": r.cluster != "",
			"verdict": r.verdict, "asked": r.asked, "cluster": r.cluster, "now": c.now,
		}).Scan(&id, &kept)
	if err != nil {
		return "", "", fmt.Errorf("keep the wish: %w", err)
	}
	if kept != nil {
		cluster = *kept
	}
	return id, cluster, nil
}

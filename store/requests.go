package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// refuse keeps a wish that policy refused, with its verdict, and the answer to post. A repeated key returns the id of the
// first time, and writes no second line.
func (c *change) refuse(ctx context.Context, a Ask, r Refusal) (id string, err error) {
	id, fresh, err := c.keepRequest(ctx, a, r.Verdict, "")
	if err != nil {
		return "", err
	}
	if r.Reply != nil {
		if err := c.reply(ctx, *r.Reply); err != nil {
			return "", err
		}
	}
	if !fresh {
		return id, nil
	}
	return id, c.audit(ctx, a.Principal, "refused", "", move{Request: id, Door: a.Door, Checks: r.Failed})
}

// keepRequest writes a wish and its verdict; an empty cluster means that it was refused. With a key that the principal used
// before, the earlier row stays and its id is returned, and fresh is false; only a refusal gives way, to a grant.
func (c *change) keepRequest(ctx context.Context, a Ask, verdict json.RawMessage, cluster string) (id string, fresh bool, err error) {
	if len(a.Request) == 0 {
		a.Request = json.RawMessage(`{}`)
	}
	mine := NewID("req")
	err = c.QueryRow(ctx, `
		INSERT INTO cluster_requests AS q (id, principal_id, door, idempotency_key, allowed, verdict, request, cluster_id, created_at)
		VALUES (@id, @principal, @door, nullif(@key, ''), @allowed, @verdict, @asked, nullif(@cluster, ''), @now)
		ON CONFLICT (principal_id, idempotency_key) DO UPDATE SET
			allowed = q.allowed OR excluded.allowed,
			cluster_id = coalesce(q.cluster_id, excluded.cluster_id),
			verdict = CASE WHEN excluded.allowed AND NOT q.allowed THEN excluded.verdict ELSE q.verdict END
		RETURNING id`,
		pgx.NamedArgs{
			"id": mine, "principal": a.Principal, "door": a.Door, "key": a.Key, "allowed": cluster != "",
			"verdict": verdict, "asked": a.Request, "cluster": cluster, "now": c.now,
		}).Scan(&id)
	if err != nil {
		return "", false, fmt.Errorf("keep the wish: %w", err)
	}
	return id, id == mine, nil
}

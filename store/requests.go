package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/store/db"
)

// refuse stores a request that policy refused, with its verdict, and the reply to post. A repeated key returns the first one's
// id and writes no second audit line.
func refuse(ctx context.Context, c *db.Tx, a Ask, j Judgement) (id string, err error) {
	var b db.Batch
	kept := queueRequest(ctx, c, &b, a, j.Verdict, "")
	if err := c.Send(ctx, &b); err != nil {
		return "", err
	}
	if err := respond(ctx, c, j); err != nil {
		return "", err
	}
	if !kept.Fresh {
		return kept.ID, nil
	}
	return kept.ID, c.Record(ctx, a.Principal, "refused", "", db.Move{Request: kept.ID, Source: a.Source, Checks: j.Failed})
}

// keptRequest is a stored request.
type keptRequest struct {
	ID    string
	Fresh bool // it is new
}

// queueRequest writes a request and its verdict; an empty cluster means that it was refused. With a key that the principal used
// before, the earlier row stays; only a refusal is replaced, by an acceptance.
func queueRequest(ctx context.Context, c *db.Tx, b *db.Batch, a Ask, verdict json.RawMessage, cluster string) *keptRequest {
	if len(a.Request) == 0 {
		a.Request = json.RawMessage(`{}`)
	}
	var kept keptRequest
	b.Ask("keep the request", db.Into(&kept), `
		INSERT INTO cluster_requests AS q (id, principal_id, source, idempotency_key, allowed, verdict, request, cluster_id, created_at, correlation)
		VALUES (@id, @principal, @source, nullif(@key, ''), @allowed, @verdict, @asked, nullif(@cluster, ''), @now, @correlation)
		ON CONFLICT (principal_id, idempotency_key) DO UPDATE SET
			allowed = q.allowed OR excluded.allowed,
			cluster_id = coalesce(q.cluster_id, excluded.cluster_id),
			verdict = CASE WHEN excluded.allowed AND NOT q.allowed THEN excluded.verdict ELSE q.verdict END
		RETURNING id, id = @id AS fresh`,
		pgx.NamedArgs{
			"id": db.NewID("req"), "principal": a.Principal, "source": a.Source, "key": a.Key, "allowed": cluster != "",
			"verdict": json.RawMessage(db.Keepable(verdict)), "asked": json.RawMessage(db.Keepable(a.Request)), "cluster": cluster, "now": c.Now,
			"correlation": tracing.Of(ctx).Correlation,
		})
	return &kept
}

// Successor is the newest cluster that was requested again in place of another one.
type Successor struct {
	Of   string // the other one's id
	Name string
	By   string // principal id of who requested it
}

// Successors returns, by the id of the cluster in whose place they were requested, the clusters that were requested again.
func (s *Store) Successors(ctx context.Context, clusters ...string) (map[string]Successor, error) {
	found, err := db.All[Successor](ctx, s.Pool(), `
		SELECT DISTINCT ON (retry_of) retry_of AS of, name, requested_by AS by FROM clusters WHERE retry_of = ANY ($1) ORDER BY retry_of, id DESC`, clusters)
	if err != nil {
		return nil, fmt.Errorf("look for what was requested again: %w", err)
	}
	by := make(map[string]Successor, len(found))
	for _, one := range found {
		by[one.Of] = one
	}
	return by, nil
}

// Made returns the id of the cluster that the principal's request with this key led to; empty: there is none.
func (s *Store) Made(ctx context.Context, principal, key string) (cluster string, err error) {
	err = s.Pool().QueryRow(ctx, `
		SELECT cluster_id FROM cluster_requests WHERE principal_id = $1 AND idempotency_key = $2 AND allowed`, principal, key).Scan(&cluster)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("look for what came of %s: %w", key, err)
	}
	return cluster, nil
}

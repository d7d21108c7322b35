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

// refuse stores a request that policy refused, with its verdict, and the reply to post. If a request with its key was refused before, that one
// stays, and no second audit line is written.
func refuse(ctx context.Context, c *db.Tx, a Ask, again string, j Judgement) (id string, err error) {
	if again != "" {
		return again, respond(ctx, c, j)
	}
	var b db.Batch
	id = queueRequest(ctx, c, &b, a, "", j, "")
	if err := c.Send(ctx, &b); err != nil {
		return "", err
	}
	return id, followRefused(ctx, c, a, j, id)
}

// followRefused writes the reply and the audit line of a refused request.
func followRefused(ctx context.Context, c *db.Tx, a Ask, j Judgement, id string) error {
	if err := respond(ctx, c, j); err != nil {
		return err
	}
	return c.Record(ctx, a.Principal, "refused", "", db.Move{Request: id, Source: a.Source, Checks: j.Failed})
}

var (
	insertRequest = db.NewInsert("keep the request",
		"id text, principal text, source text, allowed boolean, verdict jsonb, asked jsonb, cluster text, at timestamptz, correlation text, usage jsonb", `
	INSERT INTO cluster_requests (id, principal_id, source, allowed, verdict, request, cluster_id, created_at, correlation, usage)
	SELECT id, principal, source, allowed, verdict, asked, nullif(cluster, ''), at, correlation, usage FROM given`)
	insertCheck = db.NewInsert("keep the request's checks", "request text, name text, part text, result text, principal text, at timestamptz", `
	INSERT INTO request_checks (request_id, name, part, result, principal_id, at) SELECT request, name, part, result, principal, at FROM given`)
)

// queueRequest writes a request and the judgement on it, and returns its id; an empty cluster means that it was refused. again is the id
// of the refused request that an acceptance replaces; empty: none.
func queueRequest(ctx context.Context, c *db.Tx, b *db.Batch, a Ask, again string, j Judgement, cluster string) (id string) {
	verdict := json.RawMessage(db.Keepable(j.Verdict))
	var usage any
	if len(j.Usage) > 0 {
		usage = json.RawMessage(db.Keepable(j.Usage))
	}
	if id = again; id != "" {
		b.Do("accept the request", `UPDATE cluster_requests SET allowed = true, cluster_id = $2, verdict = $3, usage = $4 WHERE id = $1`, id, cluster, verdict, usage)
		b.Do("forget the refused request's checks", `DELETE FROM request_checks WHERE request_id = $1`, id)
	} else {
		if len(a.Request) == 0 {
			a.Request = json.RawMessage(`{}`)
		}
		id = db.NewID("req")
		b.Insert(insertRequest, id, a.Principal, a.Source, cluster != "", verdict, json.RawMessage(db.Keepable(a.Request)), cluster, c.Now,
			tracing.Of(ctx).Correlation, usage)
	}
	for _, check := range j.Checks {
		b.Insert(insertCheck, id, check.Name, check.Part, check.Result, a.Principal, c.Now)
	}
	return id
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
		SELECT cluster_id FROM request_keys WHERE principal = $1 AND key = $2 AND cluster_id IS NOT NULL`, principal, key).Scan(&cluster)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("look for what came of %s: %w", key, err)
	}
	return cluster, nil
}

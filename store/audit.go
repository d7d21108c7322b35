package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Lifecycle is the actor of the control plane's own decisions.
const Lifecycle = "lifecycle"

// auditLine is one line of the audit trail before it has its place in the hash chain.
type auditLine struct {
	actor, action, door, cluster, meta string
	at                                 time.Time
}

// Audit writes one line of the audit trail, e.g. before a secret is read, so that no read goes unrecorded. cluster may be empty;
// meta becomes a JSON object and must hold no secret.
func (s *Store) Audit(ctx context.Context, d Origin, action, cluster string, meta any) error {
	if meta == nil {
		meta = struct{}{}
	}
	return s.write(ctx, func(c *change) error { return c.line(d.Actor, action, d.Source, cluster, meta) })
}

// AuditRefusal records that an actor was refused something about a cluster. The same refusal within a minute is not written
// again, so that repeating it cannot fill the trail.
func (s *Store) AuditRefusal(ctx context.Context, d Origin, action, cluster, why string) error {
	return s.write(ctx, func(c *change) error {
		var told bool
		err := c.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM audit_events WHERE target_cluster_id = $1 AND actor = $2 AND action = $3 AND created_at > $4)`,
			cluster, d.Actor, action, c.now.Add(-time.Minute)).Scan(&told)
		if err != nil {
			return fmt.Errorf("look for the refusal: %w", err)
		}
		if told {
			return nil
		}
		return c.line(d.Actor, action, d.Source, cluster, act{move: move{Why: why}, Verdict: d.Verdict})
	})
}

// audit adds one line of the audit trail to the change.
func (c *change) audit(_ context.Context, actor, action, cluster string, meta any) error {
	door := ""
	if m, ok := meta.(move); ok {
		door = m.Source
	}
	return c.line(actor, action, door, cluster, meta)
}

func (c *change) line(actor, action, door, cluster string, meta any) error {
	raw, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("encode audit of %s: %w", action, err)
	}
	c.lines = append(c.lines, auditLine{actor, action, door, cluster, string(keepable(raw)), c.now})
	return nil
}

// keepable replaces NUL, which PostgreSQL does not store in JSON.
func keepable(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`\u0000`), []byte(`\ufffd`)) }

// insertLines writes the change's lines. The database gives each its place in the chain, under a lock that lasts until the
// commit: nothing that may wait comes after it.
func (c *change) insertLines(ctx context.Context) error {
	if len(c.lines) == 0 {
		return nil
	}
	var actors, actions, doors, clusters, metas []string
	var times []time.Time
	for _, l := range c.lines {
		actors, actions, doors = append(actors, l.actor), append(actions, l.action), append(doors, l.door)
		clusters, metas, times = append(clusters, l.cluster), append(metas, l.meta), append(times, l.at)
	}
	_, err := c.Exec(ctx, `
		INSERT INTO audit_events (actor, action, source, target_cluster_id, metadata, created_at)
		SELECT actor, action, source, nullif(cluster, ''), meta::jsonb, at
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
			WITH ORDINALITY AS l (actor, action, source, cluster, meta, at, nr) ORDER BY nr`,
		actors, actions, doors, clusters, metas, times)
	if err != nil {
		return fmt.Errorf("write the audit trail: %w", err)
	}
	return nil
}

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Audit writes one line of the audit trail, e.g. before a secret is read, so that no read goes unrecorded. cluster may be empty;
// meta becomes a JSON object and must hold no secret.
func (s *Store) Audit(ctx context.Context, d clusters.Origin, action, cluster string, meta any) error {
	if meta == nil {
		meta = struct{}{}
	}
	return s.Write(ctx, func(c *db.Tx) error { return c.RecordLine(d.Actor, action, d.Source, cluster, meta) })
}

// AuditRefusal records that an actor was refused something about a cluster. The same refusal within a minute is not written
// again, so that repeating it cannot fill the trail.
func (s *Store) AuditRefusal(ctx context.Context, d clusters.Origin, action, cluster, why string) error {
	return s.Write(ctx, func(c *db.Tx) error {
		var told bool
		err := c.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM audit_events WHERE target_cluster_id = $1 AND actor = $2 AND action = $3 AND created_at > $4)`,
			cluster, d.Actor, action, c.Now.Add(-time.Minute)).Scan(&told)
		if err != nil {
			return fmt.Errorf("look for the refusal: %w", err)
		}
		if told {
			return nil
		}
		return c.RecordLine(d.Actor, action, d.Source, cluster, clusters.Action{Move: db.Move{Why: why}, Verdict: d.Verdict})
	})
}

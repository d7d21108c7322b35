package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Extend moves the TTL's end by that duration, never past the maximum. ErrConflict: the cluster is going away, or by is not
// positive. ErrStale: the row is not the version that the actor saw.
func (s *Store) Extend(ctx context.Context, id string, by time.Duration, d clusters.Origin) (clusters.Outcome, error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) error { return extend(ctx, c, cur, by, d, out) })
	if err != nil {
		return clusters.Outcome{}, fmt.Errorf("extend %s: %w", id, err)
	}
	return out, nil
}

func extend(ctx context.Context, c *db.Tx, cur usage.Held, by time.Duration, d clusters.Origin, out *clusters.Outcome) (err error) {
	switch {
	case cur.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
	case by <= 0:
		return fmt.Errorf("%w: an extension of %s is none", db.ErrConflict, by)
	}
	out.Before = cur.Ends
	if out.After, out.Capped = cur.Ends.Extend(by); out.After == cur.Ends {
		return nil
	}
	longer := cur.Cluster
	longer.Ends = out.After
	if out.Warning, err = clusters.JudgeRise(ctx, c, cur, longer, d.Afford); err != nil {
		return err
	}
	if err := clusters.SetDesired(ctx, c, cur.ID, "end_ttl = @at", pgx.NamedArgs{"at": out.After.TTL}); err != nil {
		return err
	}
	if !cur.SleepWanted || cur.PowerBy != lifecycle.ByHours { // longer does not mean tonight
		if err := clusters.Active(ctx, c, cur, lifecycle.ActivityExtend); err != nil {
			return err
		}
	}
	return clusters.RecordAction(c, d, "extended", cur.ID, clusters.Action{
		Move: db.Move{End: "ttl", At: &out.After.TTL, Capped: out.Capped}, Before: cur.Ends.TTL, After: out.After.TTL,
	})
}

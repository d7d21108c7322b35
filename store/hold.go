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

// Hold sets the earliest end of a cluster: only the maximum comes before it. The zero time lifts it. ErrConflict: the cluster is
// going away, or the time is past. ErrStale: the row is not the version that the actor saw.
func (s *Store) Hold(ctx context.Context, id string, until time.Time, d clusters.Origin) (clusters.Outcome, error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) error {
		out.Before, out.After = cur.Ends, cur.Ends
		switch {
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		case !until.IsZero() && !until.After(c.Now):
			return fmt.Errorf("%w: a hold until %s holds nothing", db.ErrConflict, until.UTC().Format(time.RFC3339))
		}
		if out.After.Hold = db.Round(until); out.After.Hold.After(cur.Ends.Max) {
			out.After.Hold, out.Capped = cur.Ends.Max, true
		}
		return holdUntil(ctx, c, cur, d, out)
	})
	if err != nil {
		return clusters.Outcome{}, fmt.Errorf("hold %s: %w", id, err)
	}
	return out, nil
}

func holdUntil(ctx context.Context, c *db.Tx, cur usage.Held, d clusters.Origin, out *clusters.Outcome) (err error) {
	until := out.After.Hold
	if until.Equal(cur.Ends.Hold) {
		return nil
	}
	longer := cur.Cluster
	longer.Ends.Hold = until
	if out.Warning, err = clusters.JudgeRise(ctx, c, cur, longer, d.Afford); err != nil {
		return err
	}
	action, why, source := "hold_set", d.Reason(), d.Source
	if until.IsZero() {
		action, why, source = "hold_lifted", "", ""
	}
	err = clusters.SetDesired(ctx, c, cur.ID, "end_hold = @until, hold_why = @why, hold_source = @source", pgx.NamedArgs{"until": db.Null(until), "why": why, "source": source})
	if err != nil {
		return err
	}
	if !until.IsZero() && !cur.SleepWanted && d.Source != Recovery { // a hold wakes nothing
		if err := clusters.Active(ctx, c, cur, lifecycle.ActivityHold); err != nil {
			return err
		}
	}
	return clusters.RecordAction(c, d, action, cur.ID, clusters.Action{
		Move: db.Move{End: "hold", At: db.Null(until), Capped: out.Capped}, Before: db.Null(cur.Ends.Hold), After: db.Null(until),
	})
}

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Hold sets the earliest end of a cluster: only the maximum comes before it. The zero time lifts it. ErrConflict: the cluster is
// going away, or the time is past. ErrStale: the row is not the version that the actor saw.
func (s *Store) Hold(ctx context.Context, id string, until time.Time, d Origin) (Outcome, error) {
	out, err := s.changeSeen(ctx, id, d, func(c *change, cur held, out *Outcome) error {
		out.Before, out.After = cur.Ends, cur.Ends
		switch {
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.DesiredWhy)
		case !until.IsZero() && !until.After(c.now):
			return fmt.Errorf("%w: a hold until %s holds nothing", ErrConflict, until.UTC().Format(time.RFC3339))
		}
		if out.After.Hold = round(until); out.After.Hold.After(cur.Ends.Max) {
			out.After.Hold, out.Capped = cur.Ends.Max, true
		}
		return c.holdUntil(ctx, cur, d, out)
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("hold %s: %w", id, err)
	}
	return out, nil
}

func (c *change) holdUntil(ctx context.Context, cur held, d Origin, out *Outcome) (err error) {
	until := out.After.Hold
	if until.Equal(cur.Ends.Hold) {
		return nil
	}
	longer := cur.Cluster
	longer.Ends.Hold = until
	if out.Warning, err = c.afford(ctx, cur, longer, d.Afford); err != nil {
		return err
	}
	action, why := "hold_set", d.why()
	if until.IsZero() {
		action, why = "hold_lifted", ""
	}
	err = c.setDesired(ctx, cur.ID, "end_hold = @until, hold_why = @why", pgx.NamedArgs{"until": null(until), "why": why})
	if err != nil {
		return err
	}
	return c.did(d, action, cur.ID, act{
		move: move{End: "hold", At: null(until), Capped: out.Capped}, Before: null(cur.Ends.Hold), After: null(until),
	})
}

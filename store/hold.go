package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Hold puts a floor under a cluster's ends: none but the maximum comes before it. The zero time lifts it. It returns the ends
// as they were and as they are; capped says that the maximum cut the hold short. ErrConflict: the cluster is no longer
// wanted, or the time is past. ErrStale: it is not the one that was seen.
func (s *Store) Hold(ctx context.Context, id string, until time.Time, d Deed) (before, after lifecycle.Ends, capped bool, err error) {
	err = s.turn(ctx, id, d, func(c *change, cur held) error {
		before, after = cur.Ends, cur.Ends
		switch {
		case cur.Wish == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.WishWhy)
		case !until.IsZero() && !until.After(c.now):
			return fmt.Errorf("%w: a hold until %s holds nothing", ErrConflict, until.UTC().Format(time.RFC3339))
		}
		if after.Hold = round(until); after.Hold.After(cur.Ends.Max) {
			after.Hold, capped = cur.Ends.Max, true
		}
		return c.holdUntil(ctx, cur, after.Hold, capped, d)
	})
	if err != nil {
		return lifecycle.Ends{}, lifecycle.Ends{}, false, fmt.Errorf("hold %s: %w", id, err)
	}
	return before, after, capped, nil
}

func (c *change) holdUntil(ctx context.Context, cur held, until time.Time, capped bool, d Deed) error {
	if until.Equal(cur.Ends.Hold) {
		return nil
	}
	longer := cur.Cluster
	longer.Ends.Hold = until
	if err := c.afford(ctx, cur, longer, d.Afford); err != nil {
		return err
	}
	action, why := "hold_set", d.why()
	if until.IsZero() {
		action, why = "hold_lifted", ""
	}
	err := c.wish(ctx, cur.ID, "end_hold = @until, hold_why = @why", pgx.NamedArgs{"until": null(until), "why": why})
	if err != nil {
		return err
	}
	return c.did(d, action, cur.ID, act{
		move: move{End: "hold", At: null(until), Capped: capped}, Before: null(cur.Ends.Hold), After: null(until),
	})
}

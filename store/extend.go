package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Extend moves the TTL's end by that duration, never past the maximum. ErrConflict: the cluster is going away, or by is not
// positive. ErrStale: the row is not the version that the actor saw.
func (s *Store) Extend(ctx context.Context, id string, by time.Duration, d Origin) (Outcome, error) {
	out, err := s.changeSeen(ctx, id, d, func(c *change, cur held, out *Outcome) error { return c.extend(ctx, cur, by, d, out) })
	if err != nil {
		return Outcome{}, fmt.Errorf("extend %s: %w", id, err)
	}
	return out, nil
}

func (c *change) extend(ctx context.Context, cur held, by time.Duration, d Origin, out *Outcome) (err error) {
	switch {
	case cur.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.DesiredWhy)
	case by <= 0:
		return fmt.Errorf("%w: an extension of %s is none", ErrConflict, by)
	}
	out.Before = cur.Ends
	if out.After, out.Capped = cur.Ends.Extend(by); out.After == cur.Ends {
		return nil
	}
	longer := cur.Cluster
	longer.Ends = out.After
	if out.Warning, err = c.afford(ctx, cur, longer, d.Afford); err != nil {
		return err
	}
	if err := c.setDesired(ctx, cur.ID, "end_ttl = @at", pgx.NamedArgs{"at": out.After.TTL}); err != nil {
		return err
	}
	return c.did(d, "extended", cur.ID, act{
		move: move{End: "ttl", At: &out.After.TTL, Capped: out.Capped}, Before: cur.Ends.TTL, After: out.After.TTL,
	})
}

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Extend moves the TTL's end by so much, never past the maximum, and returns the ends as they were and as they are. capped
// says that the maximum cut it short. ErrConflict: the cluster is no longer wanted. ErrStale: it is not the one that was seen.
func (s *Store) Extend(ctx context.Context, id string, by time.Duration, d Deed) (before, after lifecycle.Ends, capped bool, err error) {
	err = s.turn(ctx, id, d, func(c *change, cur held) error {
		before = cur.Ends
		after, capped, err = c.extend(ctx, cur, by, d)
		return err
	})
	if err != nil {
		return lifecycle.Ends{}, lifecycle.Ends{}, false, fmt.Errorf("extend %s: %w", id, err)
	}
	return before, after, capped, nil
}

// ExtendOnce is Extend that saves the answer in the same transaction, so that a cause that was answered before (a comment
// processed twice) adds no time again. answer is asked for the words once the ends are known.
func (s *Store) ExtendOnce(ctx context.Context, id string, by time.Duration, d Deed, cause string,
	answer func(before, after lifecycle.Ends, capped bool) Reply) error {
	err := s.forCause(ctx, id, cause, d.Afford, func(c *change, cur held) error {
		next, capped, err := c.extend(ctx, cur, by, d)
		if err != nil {
			return err
		}
		reply := answer(cur.Ends, next, capped)
		reply.Cause = cause
		return c.reply(ctx, reply)
	})
	if err != nil {
		return fmt.Errorf("extend %s: %w", id, err)
	}
	return nil
}

func (c *change) extend(ctx context.Context, cur held, by time.Duration, d Deed) (next lifecycle.Ends, capped bool, err error) {
	switch {
	case cur.Wish == lifecycle.Absent:
		return cur.Ends, false, fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.WishWhy)
	case by <= 0:
		return cur.Ends, false, fmt.Errorf("%w: an extension of %s is none", ErrConflict, by)
	}
	if next, capped = cur.Ends.Extend(by); next == cur.Ends {
		return next, capped, nil
	}
	longer := cur.Cluster
	longer.Ends = next
	if err := c.afford(ctx, cur, longer, d.Afford); err != nil {
		return cur.Ends, false, err
	}
	if err := c.wish(ctx, cur.ID, "end_ttl = @at", pgx.NamedArgs{"at": next.TTL}); err != nil {
		return cur.Ends, false, err
	}
	return next, capped, c.did(d, "extended", cur.ID, act{
		move: move{End: "ttl", At: &next.TTL, Capped: capped}, Before: cur.Ends.TTL, After: next.TTL,
	})
}

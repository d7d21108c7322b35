package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// ExtendOnce moves the TTL's end, never past the maximum, and saves the answer in the same transaction, so that a cause
// that was answered before (a comment processed twice) adds no time again. answer is asked for the words once the ends
// are known; capped says that the maximum cut the extension short. ErrConflict: the cluster is no longer wanted.
func (s *Store) ExtendOnce(ctx context.Context, id string, by time.Duration, actor, cause string,
	answer func(before, after lifecycle.Ends, capped bool) Reply) error {
	err := s.forCause(ctx, id, cause, func(c *change, cur held) error {
		next, capped, err := c.extend(ctx, cur, by, actor)
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

func (c *change) extend(ctx context.Context, cur held, by time.Duration, actor string) (next lifecycle.Ends, capped bool, err error) {
	switch {
	case cur.Wish == lifecycle.Absent:
		return cur.Ends, false, fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.WishWhy)
	case by <= 0:
		return cur.Ends, false, fmt.Errorf("%w: an extension of %s is none", ErrConflict, by)
	}
	if next, capped = cur.Ends.Extend(by); next == cur.Ends {
		return next, capped, nil
	}
	if err := c.wish(ctx, cur.ID, "end_ttl = @at", pgx.NamedArgs{"at": next.TTL}); err != nil {
		return cur.Ends, false, err
	}
	return next, capped, c.audit(ctx, actor, "extended", cur.ID, move{End: "ttl", At: &next.TTL, Capped: capped})
}

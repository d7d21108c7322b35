package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// ExtendOnce extends like Extend and saves the answer in the same transaction, so that a cause that was answered before
// (a comment processed twice) adds no time again. answer is asked for the words once the ends are known.
func (s *Store) ExtendOnce(ctx context.Context, id string, by time.Duration, actor, cause string,
	answer func(before, after lifecycle.Ends, capped bool) Reply) error {
	err := s.write(ctx, func(c *change) error {
		cur, err := c.lock(ctx, id) // from here on one comment at a time
		if err != nil {
			return err
		}
		var done bool
		if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM replies WHERE cause = $1)`, cause).Scan(&done); err != nil {
			return fmt.Errorf("look for the answer to %s: %w", cause, err)
		}
		if done {
			return nil
		}
		if cur.Wish == lifecycle.Absent || by <= 0 {
			return fmt.Errorf("%w: nothing to extend by %s", ErrConflict, by)
		}
		next, capped := cur.Ends.Extend(by)
		if next != cur.Ends {
			if err := c.wish(ctx, id, "end_ttl = @at", pgx.NamedArgs{"at": next.TTL}); err != nil {
				return err
			}
			if err := c.audit(ctx, actor, "extended", id, move{End: "ttl", At: &next.TTL, Capped: capped}); err != nil {
				return err
			}
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

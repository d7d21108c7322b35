package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// KeepAwake keeps a cluster awake until then, whatever its schedule says; a schedule that has put it to sleep wakes it. An earlier time than
// the one that is set changes nothing. ErrConflict: the cluster is going away, does not sleep outside working hours, or was put to sleep by a
// person. ErrStale: the row is not the version that the actor saw.
func (s *Store) KeepAwake(ctx context.Context, id string, until time.Time, d rows.Origin) (rows.Outcome, error) {
	out, err := s.changeSeen(ctx, id, d, func(c *change, cur usage.Held, out *rows.Outcome) error {
		switch {
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", pg.ErrConflict, cur.DesiredWhy)
		case !cur.OffHours:
			return fmt.Errorf("%w: the cluster does not sleep outside working hours", pg.ErrConflict)
		case cur.SleepWanted && cur.PowerBy == lifecycle.ByPerson:
			return fmt.Errorf("%w: the cluster was put to sleep: %s", pg.ErrConflict, cur.SleepWhy)
		}
		if out.Awake = pg.Round(until); !out.Awake.After(cur.AwakeUntil) {
			out.Awake, out.Already = cur.AwakeUntil, true
			return nil
		}
		if err := c.SetDesired(ctx, cur.ID, "awake_until = @until", pgx.NamedArgs{"until": until}); err != nil {
			return err
		}
		return c.RecordAction(d, "awake_asked", cur.ID, rows.Action{Move: pg.Move{At: pg.Null(pg.Round(until))}, Before: pg.Null(cur.AwakeUntil), After: pg.Null(pg.Round(until))})
	})
	if err != nil {
		return rows.Outcome{}, fmt.Errorf("keep %s awake: %w", id, err)
	}
	return out, nil
}

// Active notes that a cluster was used, and what for, e.g. "a push to its pull request": a schedule that has put it to sleep wakes it, and
// none puts it to sleep for a while. So it is with one that sleeps because nobody uses it. It has no effect on a cluster for which use does
// not matter: one that keeps no hours, is not watched for idleness, and has a life that does not count from use.
func (s *Store) Active(ctx context.Context, id, what string) error {
	err := s.write(ctx, func(c *change) error {
		cur, err := c.Lock(ctx, id)
		if err != nil {
			return err
		}
		return c.Active(ctx, cur, what)
	})
	if err != nil {
		return fmt.Errorf("note that %s is used: %w", id, err)
	}
	return nil
}

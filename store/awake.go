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

// KeepAwake keeps a cluster awake until then, whatever its schedule says; a schedule that has put it to sleep wakes it. An earlier time than
// the one that is set changes nothing. ErrConflict: the cluster is going away, does not sleep outside working hours, or was put to sleep by a
// person. ErrStale: the row is not the version that the actor saw.
func (s *Store) KeepAwake(ctx context.Context, id string, until time.Time, d clusters.Origin) (clusters.Outcome, error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) error {
		switch {
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		case !cur.OffHours:
			return fmt.Errorf("%w: the cluster does not sleep outside working hours", db.ErrConflict)
		case cur.SleepWanted && cur.PowerBy == lifecycle.ByPerson:
			return fmt.Errorf("%w: the cluster was put to sleep: %s", db.ErrConflict, cur.SleepWhy)
		}
		if out.Awake = db.Round(until); !out.Awake.After(cur.AwakeUntil) {
			out.Awake, out.Already = cur.AwakeUntil, true
			return nil
		}
		if err := clusters.SetDesired(ctx, c, cur.ID, "awake_until = @until", pgx.NamedArgs{"until": until}); err != nil {
			return err
		}
		if err := clusters.Active(ctx, c, cur, lifecycle.ActivityHold); err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "awake_asked", cur.ID, clusters.Action{Move: db.Move{At: db.Null(db.Round(until))}, Before: db.Null(cur.AwakeUntil), After: db.Null(db.Round(until))})
	})
	if err != nil {
		return clusters.Outcome{}, fmt.Errorf("keep %s awake: %w", id, err)
	}
	return out, nil
}

// Active notes that a cluster was used, and how: a schedule that has put it to sleep wakes it, and
// none puts it to sleep for a while. The same holds for one that sleeps because nobody uses it. Nothing is noted for a cluster for which use does
// not matter (it keeps no hours, is not watched for idleness, and its life does not count from use); it is only decided about anew.
func (s *Store) Active(ctx context.Context, id string, what lifecycle.Activity) error {
	err := s.Write(ctx, func(c *db.Tx) error {
		cur, err := clusters.Lock(ctx, c, id)
		if err != nil {
			return err
		}
		if !cur.UseMatters() {
			return clusters.RequestReconcile(ctx, c, cur.ID) // what was pushed may bring other links
		}
		return clusters.Active(ctx, c, cur, what)
	})
	if err != nil {
		return fmt.Errorf("note that %s is used: %w", id, err)
	}
	return nil
}

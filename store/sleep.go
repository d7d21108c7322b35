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

// SleepRequest is how somebody, or a rule, puts a cluster to sleep.
type SleepRequest struct {
	Until time.Time // it is woken at this time; zero: somebody has to wake it
	Why   string    // for people, e.g. "nobody used it for 2 h"; empty: by whom it was asked for
}

// Sleep puts a ready cluster to sleep, and returns the job that does it; empty: it is asleep already. A cluster that should be asleep
// gets the newest request's time and reason. ErrConflict: the cluster is not ready or is going away, its profile has no way to sleep, or
// the time is past. ErrStale: the row is not the version that the actor saw.
func (s *Store) Sleep(ctx context.Context, id string, r SleepRequest, d clusters.Origin) (clusters.Outcome, error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) (err error) {
		switch {
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		case cur.Status != lifecycle.Ready:
			return fmt.Errorf("%w: the cluster is %s", db.ErrConflict, cur.Status)
		case cur.SleepMode == "":
			return fmt.Errorf("%w: %s", db.ErrConflict, cur.WhyNoSleep())
		case !r.Until.IsZero() && !r.Until.After(c.Now):
			return fmt.Errorf("%w: it cannot sleep until %s, which is past", db.ErrConflict, r.Until.UTC().Format(time.RFC3339))
		}
		if r.Why == "" {
			r.Why = "asked for by " + d.DisplayName()
		}
		if out.Already = cur.SleepWanted && cur.PowerBy == lifecycle.ByPerson && cur.SleepUntil.Equal(db.Round(r.Until)); out.Already {
			out.Job, err = findUnfinished(ctx, c, cur.ID, lifecycle.JobSleep)
			return err
		}
		if err := endJobs(ctx, c, cur.ID, "it is to be asleep: "+r.Why, lifecycle.JobWake, lifecycle.JobOffHoursUp, lifecycle.JobOffHoursDown); err != nil {
			return err
		}
		if out.Job, err = powerJob(ctx, c, cur, lifecycle.JobSleep, cur.Power != lifecycle.Asleep); err != nil {
			return err
		}
		err = clusters.SetDesired(ctx, c, cur.ID, `sleep_wanted = true, sleep_until = @until, sleep_why = @why, power_by = '', `+clusters.ResetPower,
			pgx.NamedArgs{"until": db.Null(r.Until), "why": r.Why})
		if err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "sleep_asked", cur.ID, clusters.Action{Move: db.Move{Job: out.Job, At: db.Null(r.Until)}, Note: r.Why})
	})
	if err != nil {
		return clusters.Outcome{}, fmt.Errorf("put %s to sleep: %w", id, err)
	}
	return out, nil
}

// Wake wakes a cluster, and returns the job that does it; empty: it is awake already. ErrConflict: the cluster is not ready or is going
// away. ErrStale: the row is not the version that the actor saw.
func (s *Store) Wake(ctx context.Context, id string, d clusters.Origin) (clusters.Outcome, error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) (err error) {
		switch {
		case cur.Desired == lifecycle.Absent:
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		case cur.Status != lifecycle.Ready:
			return fmt.Errorf("%w: the cluster is %s", db.ErrConflict, cur.Status)
		}
		if out.Already = !cur.SleepWanted; out.Already {
			out.Job, err = findUnfinished(ctx, c, cur.ID, lifecycle.JobWake)
			return err
		}
		if err := endJobs(ctx, c, cur.ID, "it is to be awake: "+d.Reason(), lifecycle.JobSleep, lifecycle.JobOffHoursDown, lifecycle.JobOffHoursUp); err != nil {
			return err
		}
		if out.Job, err = powerJob(ctx, c, cur, lifecycle.JobWake, cur.Power != lifecycle.Awake); err != nil {
			return err
		}
		err = clusters.SetDesired(ctx, c, cur.ID, `sleep_wanted = false, sleep_until = NULL, power_by = '',
			`+clusters.ResetPower+`, `+clusters.Used, pgx.NamedArgs{"what": lifecycle.ActivityWake, "used": c.Now})
		if err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "wake_asked", cur.ID, clusters.Action{Move: db.Move{Job: out.Job}})
	})
	if err != nil {
		return clusters.Outcome{}, fmt.Errorf("wake %s: %w", id, err)
	}
	return out, nil
}

// powerJob returns the unfinished job of the type, or adds one if there is something to do.
func powerJob(ctx context.Context, c *db.Tx, cur usage.Held, kind lifecycle.JobType, owed bool) (id string, err error) {
	if id, err = findUnfinished(ctx, c, cur.ID, kind); err != nil || id != "" || !owed {
		return id, err
	}
	id = db.NewID("job")
	return id, addJob(ctx, c, id, cur.ID, kind)
}

// endJobs ends the unfinished jobs of the types, as far as there are any: something else was asked for.
func endJobs(ctx context.Context, c *db.Tx, cluster, why string, kinds ...lifecycle.JobType) error {
	for _, kind := range kinds {
		if err := moveJob(ctx, c, cluster, lifecycle.JobMove{Type: kind, To: lifecycle.JobFailed, Code: "Changed", Message: why}); err != nil {
			return err
		}
	}
	return nil
}

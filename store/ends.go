package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// SetEnd sets the end of a pull request or a label, or lifts it with nil; those of runs follow from what is known of the run, see store/runs. why goes into the audit trail; for EndPRClosed it is also stored, and
// empty means that the pull request was closed. SetEnd does nothing if that changes nothing, or if the cluster's desired state
// is absent.
func (s *Store) SetEnd(ctx context.Context, id string, kind rows.EndKind, at *time.Time, why, actor string) error {
	column, ok := map[rows.EndKind]string{
		rows.EndPRClosed: "end_pr_closed", rows.EndLabelRemoved: "end_label_removed",
	}[kind]
	if !ok {
		return fmt.Errorf("set an end of %s: %w: %q cannot be set here", id, pg.ErrConflict, kind)
	}
	if at != nil {
		at = pg.Null(*at)
	}
	err := s.write(ctx, func(c *change) error {
		cur, err := c.Lock(ctx, id)
		if err != nil {
			return err
		}
		have := map[rows.EndKind]time.Time{
			rows.EndPRClosed: cur.Ends.PRClosed, rows.EndLabelRemoved: cur.Ends.LabelRemoved,
		}[kind]
		keeps := kind == rows.EndPRClosed && at != nil && cur.Ends.PRWhy != why
		if cur.Desired == lifecycle.Absent || have.Equal(pg.Zero(at)) && !keeps {
			return nil
		}
		set, args := column+" = @at", pgx.NamedArgs{"at": at}
		if kind == rows.EndPRClosed {
			set, args["why"] = set+", pr_end_why = CASE WHEN @at::timestamptz IS NULL THEN '' ELSE @why END", why
		}
		if err := c.SetDesired(ctx, id, set, args); err != nil {
			return err
		}
		action := "end_set"
		if at == nil {
			action = "end_lifted"
		}
		return c.Record(ctx, actor, action, id, pg.Move{End: string(kind), At: at, Why: why})
	})
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", kind, id, err)
	}
	return nil
}

// Destroy sets the desired state to absent, for good, and returns the job that tears the cluster down. A repeated call returns
// the same job, but none if the cause was answered before. ErrStale: the cluster is still wanted, and its row is not the version
// that the actor saw.
func (s *Store) Destroy(ctx context.Context, id string, d rows.Origin) (jobID string, err error) {
	out, err := s.changeOnce(ctx, id, d, func(c *change, cur usage.Held, out *rows.Outcome) (err error) {
		out.Already = cur.Desired == lifecycle.Absent
		out.Job, err = c.destroy(ctx, cur, d)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("destroy %s: %w", id, err)
	}
	return out.Job, nil
}

func (c *change) destroy(ctx context.Context, cur usage.Held, d rows.Origin) (jobID string, err error) {
	if cur.Desired == lifecycle.Absent {
		return c.teardownJob(ctx, cur.ID)
	}
	if err := d.CheckVersion(cur); err != nil {
		return "", err
	}
	jobID = pg.NewID("job")
	if err := c.insertJob(ctx, jobID, cur.ID, lifecycle.JobDestroy); err != nil {
		return "", err
	}
	if err := c.SetDesired(ctx, cur.ID, "desired = 'absent', desired_why = @why, teardown = 'DESTROY'", pgx.NamedArgs{"why": d.Reason()}); err != nil {
		return "", err
	}
	cur.Desired = lifecycle.Absent
	if err := c.FreeCapacity(ctx, cur.Cluster); err != nil {
		return "", err
	}
	c.NextTurns()
	if _, err := c.CloseOver(ctx, cur.ID); err != nil {
		return "", err
	}
	ended := rows.Origin{Actor: d.Actor, Name: d.Name, Source: d.Source, Why: rows.AccessEnds + d.Reason()}
	if _, err := c.RevokeAccess(ctx, cur.ID, rows.EveryAccess, nil, ended); err != nil {
		return "", err
	}
	return jobID, c.RecordAction(d, "destroy_asked", cur.ID, rows.Action{Move: pg.Move{Job: jobID}, Before: lifecycle.Present, After: lifecycle.Absent})
}

// teardownJob returns the newest job that tears the cluster down.
func (c *change) teardownJob(ctx context.Context, cluster string) (id string, err error) {
	err = c.QueryRow(ctx, `
		SELECT id FROM jobs WHERE cluster_id = $1 AND job_type IN ('DESTROY', 'JANITOR_DESTROY')
		ORDER BY created_at DESC, id DESC LIMIT 1`, cluster).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("find the teardown of %s: %w", cluster, err)
	}
	return id, nil
}

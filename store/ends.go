package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// SetEnd sets the end of a pull request or a label, or lifts it with nil; those of runs follow from what is known of the run, see store/runs. why goes into the audit trail; for EndPRClosed it is also stored, and
// the zero reason means that the pull request was closed. SetEnd does nothing if that changes nothing, or if the cluster's desired state
// is absent.
func (s *Store) SetEnd(ctx context.Context, id string, kind clusters.EndKind, at *time.Time, why lifecycle.Reason, actor string) error {
	column, ok := map[clusters.EndKind]string{
		clusters.EndPRClosed: "end_pr_closed", clusters.EndLabelRemoved: "end_label_removed",
	}[kind]
	if !ok {
		return fmt.Errorf("set an end of %s: %w: %q cannot be set here", id, db.ErrConflict, kind)
	}
	if at != nil {
		at = db.Null(*at)
	}
	err := s.Write(ctx, func(c *db.Tx) error {
		cur, err := clusters.Lock(ctx, c, id)
		if err != nil {
			return err
		}
		have := map[clusters.EndKind]time.Time{
			clusters.EndPRClosed: cur.Ends.PRClosed, clusters.EndLabelRemoved: cur.Ends.LabelRemoved,
		}[kind]
		keeps := kind == clusters.EndPRClosed && at != nil && cur.Ends.PRWhy != why
		if cur.Desired == lifecycle.Absent || have.Equal(db.Zero(at)) && !keeps {
			return nil
		}
		set, args := column+" = @at", pgx.NamedArgs{"at": at}
		if kind == clusters.EndPRClosed {
			set, args["why"] = set+", pr_end_why = CASE WHEN @at::timestamptz IS NULL THEN '{}' ELSE @why::jsonb END", why
		}
		if err := clusters.SetDesired(ctx, c, id, set, args); err != nil {
			return err
		}
		action := "end_set"
		if at == nil {
			action = "end_lifted"
		}
		return c.Record(ctx, actor, action, id, db.Move{End: string(kind), At: at, Why: why.String()})
	})
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", kind, id, err)
	}
	return nil
}

// Destroy sets the desired state to absent, for good, and returns the job that tears the cluster down. A repeated call returns
// the same job, but none if the cause was answered before. ErrStale: the cluster is still wanted, and its row is not the version
// that the actor saw.
func (s *Store) Destroy(ctx context.Context, id string, d clusters.Origin) (jobID string, err error) {
	out, err := clusters.ChangeOnce(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) (err error) {
		out.Already = cur.Desired == lifecycle.Absent
		out.Job, err = destroy(ctx, c, cur, d)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("destroy %s: %w", id, err)
	}
	return out.Job, nil
}

func destroy(ctx context.Context, c *db.Tx, cur usage.Held, d clusters.Origin) (jobID string, err error) {
	if cur.Desired == lifecycle.Absent {
		return teardownJob(ctx, c, cur.ID)
	}
	if err := d.CheckVersion(cur); err != nil {
		return "", err
	}
	jobID = db.NewID("job")
	if err := addJob(ctx, c, jobID, cur.ID, lifecycle.JobDestroy); err != nil {
		return "", err
	}
	if err := clusters.SetDesired(ctx, c, cur.ID, "desired = 'absent', desired_why = @why, teardown = 'DESTROY'", pgx.NamedArgs{"why": d.Because()}); err != nil {
		return "", err
	}
	cur.Desired = lifecycle.Absent
	if err := clusters.FreeCapacity(ctx, c, cur.Cluster); err != nil {
		return "", err
	}
	clusters.NextTurns(c)
	if _, err := clusters.CloseOver(ctx, c, cur.ID); err != nil {
		return "", err
	}
	ended := clusters.Origin{Actor: d.Actor, Name: d.Name, Source: d.Source, Why: clusters.Unwanted + d.Reason()}
	if _, err := access.Revoke(ctx, c, cur.ID, access.Every, nil, ended); err != nil {
		return "", err
	}
	return jobID, clusters.RecordAction(c, d, "destroy_asked", cur.ID, clusters.Action{Move: db.Move{Job: jobID}, Before: lifecycle.Present, After: lifecycle.Absent})
}

// teardownJob returns the newest job that tears the cluster down.
func teardownJob(ctx context.Context, c *db.Tx, cluster string) (id string, err error) {
	err = c.QueryRow(ctx, `
		SELECT id FROM jobs WHERE cluster_id = $1 AND job_type IN ('DESTROY', 'JANITOR_DESTROY')
		ORDER BY created_at DESC, id DESC LIMIT 1`, cluster).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("find the teardown of %s: %w", cluster, err)
	}
	return id, nil
}

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/reports"
)

const (
	// removeEvery is how often due removals are searched for; the end of a cluster triggers a search at once.
	removeEvery = time.Minute
	// removeBatch limits the removals of one search.
	removeBatch = 100
	// removeLate is how long a removal may be overdue before it becomes a finding.
	removeLate = 15 * time.Minute
	// defaultRetention is how long the state of a cluster is kept after its end.
	defaultRetention = 60 * 24 * time.Hour
)

// Remover deletes what the bucket has of a destroyed cluster: *artifacts.Store.
type Remover interface {
	// RemoveAccess deletes what gives access to a cluster and returns the number of deleted object versions.
	RemoveAccess(ctx context.Context, cluster string) (deleted int, err error)
	// RemoveState deletes everything of a cluster and its attempts.
	RemoveState(ctx context.Context, cluster string, attempts []string) (deleted int, err error)
}

type removeWorker struct {
	river.WorkerDefaults[queue.RemoveArgs]
	c *Controller
}

// Timeout is for a whole batch of S3 calls, each with a deadline of its own.
func (w *removeWorker) Timeout(*river.Job[queue.RemoveArgs]) time.Duration { return 10 * time.Minute }

// Work deletes what is due of destroyed clusters.
func (w *removeWorker) Work(ctx context.Context, _ *river.Job[queue.RemoveArgs]) error {
	return w.c.oneRound(ctx, "remove", w.c.removeDue)
}

// removeDue is one round. What could not be deleted stays due, and becomes a finding after a while.
func (c *Controller) removeDue(ctx context.Context) error {
	due, err := c.Store.Reports.DueRemovals(ctx, c.Retention, removeBatch)
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range due {
		if err := c.remove(ctx, r); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, c.findRemains(ctx))...)
}

// remove makes one removal. Repeating it is harmless: deleted objects are not listed again.
func (c *Controller) remove(ctx context.Context, r reports.Removal) error {
	if due, err := c.Store.Reports.IsDue(ctx, r, c.Retention); err != nil || !due {
		return err
	}
	var deleted int
	var err error
	if r.Kind == reports.RemoveState {
		deleted, err = c.Remover.RemoveState(ctx, r.Cluster, r.Attempts)
	} else {
		deleted, err = c.Remover.RemoveAccess(ctx, r.Cluster)
	}
	if err != nil {
		c.Log.WarnContext(ctx, "could not delete the bucket objects of a destroyed cluster", "cluster", r.Cluster, "what", r.Kind, "tries", r.Tries+1, "err", err)
		return c.Store.Reports.RemovalFailed(ctx, r, deleted, err.Error())
	}
	if err := c.Store.Reports.Removed(ctx, r, deleted); err != nil {
		return err
	}
	c.Log.InfoContext(ctx, "deleted the bucket objects of a destroyed cluster", "cluster", r.Cluster, "what", r.Kind, "objects", deleted)
	return nil
}

// findRemains makes a finding of every overdue removal that failed, and resolves the findings of those that succeeded.
func (c *Controller) findRemains(ctx context.Context) error {
	failed, err := c.Store.Reports.FailedRemovals(ctx, c.Retention, removeLate, removeBatch)
	if err != nil {
		return err
	}
	var found []lifecycle.Finding
	for _, r := range failed {
		what := "its credentials (kubeconfig, password and archives below operate/)"
		if r.Kind == reports.RemoveState {
			what = "its archives, logs and spool"
		}
		found = append(found, lifecycle.Finding{
			Kind: lifecycle.Remains, Cluster: r.Cluster, Since: r.Since, Evidence: []string{r.Problem},
			Why: fmt.Sprintf("%s is destroyed, but %s could not be deleted from the bucket in %d attempts", r.Name, what, r.Tries),
		})
	}
	_, err = c.Store.Reports.SaveFindings(ctx, []lifecycle.FindingKind{lifecycle.Remains}, found)
	return err
}

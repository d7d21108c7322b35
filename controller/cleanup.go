package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/controller/recovery"
	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/cleanup"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/scans"
)

const (
	// cleanupEvery is how often approved removals that wait are looked at again.
	cleanupEvery = time.Minute
	// cleanupBatch limits the removals that begin in one look.
	cleanupBatch = 20
)

// Adopter gives a row to a cluster that only the cloud knows: recovery.Config.
type Adopter interface {
	Adopt(ctx context.Context, a recovery.Adoption) error
}

// Cleanup says what is removed of what scans find.
type Cleanup struct {
	Planner cleanup.Config          // how removals are planned
	Delete  []lifecycle.OrphanClass // that are removed without a person's approval; empty: none
	Adopter Adopter                 // nil: nothing is adopted
}

type cleanupWorker struct {
	river.WorkerDefaults[queue.CleanupArgs]
	c *Controller
}

// Work approves what the configuration allows, and begins the approved removals. It deletes nothing: a teardown of the orphan's cluster does.
func (w *cleanupWorker) Work(ctx context.Context, _ *river.Job[queue.CleanupArgs]) error {
	return w.c.oneRound(ctx, "cleanup", w.c.beginRemovals)
}

func (c *Controller) beginRemovals(ctx context.Context) error {
	failed := []error{c.Store.Scans.Remaining(ctx, c.FindingLimits.MinAge)}
	failed = append(failed, c.approveBySetting(ctx))
	ids, err := c.Store.Scans.ApprovedRemovals(ctx, cleanupBatch)
	failed = append(failed, err)
	for _, id := range ids {
		failed = append(failed, c.beginRemoval(ctx, id))
	}
	return errors.Join(failed...)
}

// approveBySetting approves what the setting lets ocpctl remove and a teardown can remove. Of the rest it records why it stays.
func (c *Controller) approveBySetting(ctx context.Context) error {
	if len(c.Cleanup.Delete) == 0 {
		return nil
	}
	ids, err := c.Store.Scans.BySetting(ctx, c.Cleanup.Delete, c.FindingLimits)
	if err != nil {
		return err
	}
	var fit []string
	for _, id := range ids {
		r, err := c.Store.Scans.Removal(ctx, id)
		if err != nil {
			return err
		}
		why := ""
		switch p := c.Cleanup.Planner.PlanOf(r); {
		case p.Refused != "":
			why = fmt.Sprintf("scan.remove has %s, but no teardown can remove it: %s", p.Class, p.Refused)
		case p.Doubt != "":
			why = fmt.Sprintf("scan.remove has %s, but only a person may approve it: %s", p.Class, p.Doubt)
		}
		if why != "" {
			if err := c.Store.Scans.Explain(ctx, id, lifecycle.OrphanReported, why); err != nil {
				return err
			}
			continue
		}
		fit = append(fit, id)
	}
	n, err := c.Store.Scans.ApproveBySetting(ctx, fit, c.Cleanup.Delete, c.FindingLimits)
	if n > 0 {
		c.Log.InfoContext(ctx, "approved removals by the setting", "orphans", n)
	}
	return err
}

// beginRemoval begins an approved removal, or records why it waits or why no teardown can do it.
func (c *Controller) beginRemoval(ctx context.Context, id string) error {
	r, err := c.Store.Scans.Removal(ctx, id)
	if err != nil {
		return err
	}
	switch p := c.Cleanup.Planner.PlanOf(r); {
	case p.Refused != "":
		c.Log.WarnContext(ctx, "no teardown can remove an orphan", "orphan", id, "why", p.Refused)
		return c.Store.Scans.Refuse(ctx, id, p.Refused)
	case p.Doubt != "" && r.Orphan.DecidedBy == "":
		return c.Store.Scans.Refuse(ctx, id, "only a person may approve it: "+p.Doubt)
	case p.Waits != "":
		return c.Store.Scans.Explain(ctx, id, lifecycle.OrphanApproved, "it waits: "+p.Waits)
	case r.Of == nil:
		return c.adopt(ctx, r, p)
	default:
		err := c.Store.BeginRemoval(ctx, store.RemovalOrder{Orphan: id, Cluster: p.Cluster, Class: p.Class, Names: p.Add})
		if errors.Is(err, db.ErrConflict) { // it changed since the plan was made: the next look makes another
			return c.Store.Scans.Explain(ctx, id, lifecycle.OrphanApproved, "it waits: its cluster changed while its removal began")
		}
		return err
	}
}

// adopt gives the orphan's cluster a row, so that it is torn down and counted like every other.
func (c *Controller) adopt(ctx context.Context, r scans.Removal, p cleanup.Plan) error {
	if c.Cleanup.Adopter == nil {
		return c.Store.Scans.Refuse(ctx, p.Orphan, "this server cannot read the artifacts' bucket")
	}
	a := recovery.Adoption{Orphan: p.Orphan, Cluster: p.Cluster, Platform: r.Orphan.Platform, Account: r.Orphan.Account, Why: "a scan found it in the cloud, no row knew it, and its removal was approved (" + r.Orphan.DecidedWhy + ")"}
	for i, row := range slices.Concat(r.Seen, r.Beside) {
		var seen contract.SeenResource
		if err := json.Unmarshal(row.Resource, &seen); err != nil {
			return fmt.Errorf("read resource %s: %w", row.ID, err)
		}
		one := recovery.Tagged{Resource: cloudtags.Resource{ARN: seen.ID, Tags: seen.Tags}, Region: seen.Region}
		if i >= len(r.Seen) {
			a.Beside = append(a.Beside, one)
			continue
		}
		a.Names, a.Resources = append(a.Names, seen.Name), append(a.Resources, one)
	}
	switch err := c.Cleanup.Adopter.Adopt(ctx, a); {
	case errors.Is(err, db.ErrNameTaken):
		return c.Store.Scans.Explain(ctx, p.Orphan, lifecycle.OrphanApproved, fmt.Sprintf("it waits: the name %s is that of a living cluster, and a teardown deletes DNS records by that name", p.Name))
	case errors.Is(err, recovery.ErrUnfit), errors.Is(err, db.ErrConflict):
		return c.Store.Scans.Refuse(ctx, p.Orphan, err.Error())
	case err != nil:
		return err
	}
	c.Log.InfoContext(ctx, "adopted a cluster that only the cloud knew", "orphan", p.Orphan, "cluster", p.Cluster)
	return nil
}

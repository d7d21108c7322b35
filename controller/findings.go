package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
)

// keptAfter is how long the directory of a closed attempt is kept, because the runner's own output helps to analyse a failure. It is
// short, because a killed runner may have left secrets in it.
const keptAfter = time.Hour

// judged are the kinds of finding that can be derived from the rows alone. Orphans need a look through the clouds; without one, nothing
// is said about them, neither that they exist nor that they do not.
var judged = []lifecycle.FindingKind{lifecycle.Overdue, lifecycle.Stuck, lifecycle.Blocked, lifecycle.FailingDelivery, lifecycle.LostDelivery, lifecycle.FailedJob,
	lifecycle.AccessNotRevoked, lifecycle.SlackChannel, lifecycle.SlackRefused, lifecycle.CloudGone, lifecycle.ArchiveMissing, lifecycle.ShownBehind, lifecycle.BreakerOpen}

type findingsWorker struct {
	river.WorkerDefaults[queue.FindingsArgs]
	c *Controller
}

// Work has expired accounts and those of shares with oneself removed from clusters, stores findings, and cleans up after closed attempts. It deletes nothing in a cloud.
func (w *findingsWorker) Work(ctx context.Context, _ *river.Job[queue.FindingsArgs]) error {
	_, expired := w.c.Store.Access.RemoveExpired(ctx)
	own, shared := w.c.Store.People.EndOwnShares(ctx)
	if own > 0 {
		w.c.Log.WarnContext(ctx, "ended shares that people had with themselves, and revoked what they gave", "shares", own)
	}
	dropped, err := w.c.Store.Reports.DropDeadJobs(ctx)
	if dropped > 0 {
		w.c.Log.WarnContext(ctx, "deleted queue jobs of clusters that have no row", "jobs", dropped)
	}
	return errors.Join(expired, shared, err, w.c.keepFindings(ctx), w.c.tidy(ctx))
}

// keepFindings judges everything known and logs one line for each new finding.
func (c *Controller) keepFindings(ctx context.Context) error {
	known, err := c.Store.Reports.Known(ctx, lifecycle.Seen{})
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	work, err := c.Store.Reports.WorkFindings(ctx)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	inSlack, err := c.Store.Reports.SlackFindings(ctx)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	access, err := c.Store.Reports.AccessFindings(ctx)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	crossed, err := c.Store.Reports.CrossFindings(ctx)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	braking, err := c.Store.Brakes.Findings(ctx)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	found, kinds := slices.Concat(lifecycle.Troubles(known, c.FindingLimits), work, inSlack, access, crossed, braking), judged
	accounts, err := c.Accounts.listWanted(ctx)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	if len(accounts) > 0 {
		ofAccounts, err := c.accountFindings(ctx, accounts)
		if err != nil {
			return fmt.Errorf("look for findings: %w", err)
		}
		found, kinds = append(found, ofAccounts...), append(slices.Clone(judged), lifecycle.Orphan, lifecycle.ScanFailing)
	}
	fresh, err := c.Store.Reports.SaveFindings(ctx, kinds, found)
	if err != nil {
		return fmt.Errorf("look for findings: %w", err)
	}
	for _, f := range fresh {
		c.Log.WarnContext(ctx, "found", "kind", f.Kind, "cluster", f.Cluster, "since", f.Since, "why", f.Why, "evidence", f.Evidence)
	}
	return nil
}

// accountFindings returns what the scans of cloud accounts found, and which accounts cannot be looked through.
func (c *Controller) accountFindings(ctx context.Context, accounts []scans.Wanted) ([]lifecycle.Finding, error) {
	ids := make([]string, len(accounts))
	for i, a := range accounts {
		ids[i] = a.Account
	}
	orphaned, err := c.Store.Scans.Findings(ctx)
	if err != nil {
		return nil, err
	}
	failing, err := c.Store.Scans.Failing(ctx, ids)
	return append(orphaned, failing...), err
}

// tidy removes what is left on this machine of attempts that were closed a while ago.
func (c *Controller) tidy(ctx context.Context) error {
	kept, err := c.Dispatcher.Kept(ctx)
	if err != nil {
		return fmt.Errorf("tidy up: %w", err)
	}
	closed, err := c.Store.Reports.ClosedFor(ctx, kept, keptAfter)
	if err != nil {
		return fmt.Errorf("tidy up: %w", err)
	}
	var failed []error
	for _, attempt := range closed {
		// A runner that is still alive was told to stop an hour ago, and could otherwise never be removed.
		if err := errors.Join(c.Dispatcher.Kill(ctx, attempt), c.Dispatcher.Forget(ctx, attempt)); err != nil {
			failed = append(failed, fmt.Errorf("tidy up: %w", err))
		}
	}
	return errors.Join(failed...)
}

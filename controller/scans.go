package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/orphans"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/scans"
)

// Accounts says which cloud accounts are looked through, how often, and what of them is told.
type Accounts struct {
	Wanted func(context.Context) ([]scans.Wanted, error) // nil: none
	Every  time.Duration                                 // zero: only on request
	Prove  func() []scans.WantedProof                    // those of the catalogue, which have to be proven; nil: none
	Exempt []orphans.Rule
	Prices func(platform string) orphans.Prices // in force now; nil: no price is known
}

// listWanted returns the accounts that are looked through now.
func (a Accounts) listWanted(ctx context.Context) ([]scans.Wanted, error) {
	if a.Wanted == nil {
		return nil, nil
	}
	return a.Wanted(ctx)
}

// prices returns what a platform's resources cost now.
func (a Accounts) prices(platform string) orphans.Prices {
	if a.Prices == nil {
		return nil
	}
	return a.Prices(platform)
}

// price returns what one resource of a platform costs an hour, in US cents.
func (a Accounts) price(platform, kind, region, detail string) (cents float64, known bool) {
	if prices := a.prices(platform); prices != nil {
		return prices.Resource(kind, region, detail, false)
	}
	return 0, false
}

const (
	// runScansEvery is how often the open scan is seen to, and findScansEvery how often what is due is opened.
	runScansEvery  = 15 * time.Second
	findScansEvery = time.Minute

	// longestScan is how long a scan may take once it is its turn, and mostScanRunners how many runners it may lose, before it has failed.
	longestScan     = 4 * time.Hour
	mostScanRunners = 5
)

type runScansWorker struct {
	river.WorkerDefaults[queue.RunScansArgs]
	c *Controller
}

// Work opens the scans that are due, and sees to the one whose turn it is: accounts are looked through one after another. While one is open, the
// job that brings no news comes back sooner than its period.
func (w *runScansWorker) Work(ctx context.Context, job *river.Job[queue.RunScansArgs]) error {
	open := false
	err := w.c.oneRound(ctx, "run scans", func(ctx context.Context) (err error) {
		open, err = w.c.runScans(ctx)
		return err
	})
	if err == nil && open && job.Args.News == "" {
		return river.JobSnooze(runScansEvery)
	}
	return err
}

// oneRound runs a round while no process runs another one of its kind: two would do the same work twice, or kill the runner that the other one has
// just started. One that has to wait comes back in a second, because it may bring news that the running one did not see.
func (c *Controller) oneRound(ctx context.Context, kind string, round func(context.Context) error) error {
	ran, err := c.Store.Alone(ctx, kind, round)
	if err == nil && !ran {
		return river.JobSnooze(time.Second)
	}
	return err
}

// runScans is one round over proofs and scans. open: one of them is not ended.
func (c *Controller) runScans(ctx context.Context) (open bool, err error) {
	if open, err = c.runProofs(ctx); err != nil { // before scans: whoever wants a cluster waits for them
		return false, err
	}
	if c.Accounts.Every > 0 {
		accounts, err := c.Accounts.listWanted(ctx)
		if err != nil {
			return false, err
		}
		if _, err := c.Store.Scans.OpenDue(ctx, accounts, c.Accounts.Every); err != nil {
			return false, err
		}
	}
	unjudged, err := c.Store.Scans.Unjudged(ctx)
	if err != nil {
		return false, err
	}
	for _, id := range unjudged { // a queue job can be lost
		if err := c.Store.Scans.AskToJudge(ctx, id); err != nil {
			return false, err
		}
	}
	scan, err := c.Store.Scans.InTurn(ctx)
	if errors.Is(err, db.ErrNotFound) {
		return open, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.seeTo(ctx, scan)
}

// seeTo starts the scan's runner, replaces one that was lost, and ends a scan that takes too long.
func (c *Controller) seeTo(ctx context.Context, scan scans.Scan) error {
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	atOnce, longest := 1, longestScan
	if scans.IsProof(scan.ID) {
		atOnce, longest = mostProofs, lifecycle.LongestProof
	}
	turn, err := c.Store.Scans.Turn(ctx, scan, atOnce)
	if err != nil {
		return err
	}
	seen, err := c.Dispatcher.Observe(ctx, scan.ID)
	if err != nil {
		c.Log.WarnContext(ctx, "runner of a scan not observed", "scan", scan.ID, "err", err)
		seen = dispatch.Observation{}
	}
	switch {
	case now.Sub(turn) >= longest:
		return c.giveUp(ctx, scan, "TimedOut", fmt.Sprintf("it did not end within %s", duration.Format(longest)))
	case c.isLost(scan, seen.Sighting, now) && scan.Runner >= mostScanRunners:
		return c.giveUp(ctx, scan, "RunnerLost", fmt.Sprintf("%d runners were lost", scan.Runner))
	case c.isLost(scan, seen.Sighting, now):
		return c.replaceRunner(ctx, scan)
	case scan.LaunchedAt == nil && scan.ClaimedAt == nil:
		return c.Store.Scans.AskToLaunch(ctx, scan.ID, scan.Runner)
	case seen.Trouble != nil && scan.ClaimedAt == nil:
		return c.Store.Scans.LaunchTroubled(ctx, scan.ID, scan.Runner, lifecycle.Trouble(*seen.Trouble))
	}
	return nil
}

// isLost reports that the scan's runner was started and will not end the scan. One whose lease ended reports nothing any more, whatever
// the dispatcher sees of it; nor does one that has not claimed the scan for long.
func (c *Controller) isLost(scan scans.Scan, seen dispatch.Sighting, now time.Time) bool {
	switch {
	case scan.LaunchedAt == nil && scan.ClaimedAt == nil:
		return false
	case scan.LeaseUntil != nil && now.Sub(*scan.LeaseUntil) >= c.Limits.LeaseGrace:
		return true
	case scan.ClaimedAt == nil && now.Sub(*scan.LaunchedAt) >= c.Limits.LaunchPatience:
		return true
	}
	return seen == dispatch.Ended || seen == dispatch.Missing || seen == dispatch.NotStarted
}

// replaceRunner removes what is left of a lost runner, so that another one can be started for the same scan, and asks for that. As long as
// the lost one is not seen to have ended it cannot be removed, and the scan waits.
func (c *Controller) replaceRunner(ctx context.Context, scan scans.Scan) error {
	if err := errors.Join(c.Dispatcher.Kill(ctx, scan.ID), c.Dispatcher.Forget(ctx, scan.ID)); err != nil {
		c.Log.WarnContext(ctx, "lost runner of a scan not removed", "scan", scan.ID, "runner", scan.Runner, "err", err)
		return nil
	}
	c.Log.WarnContext(ctx, "runner of a scan lost", "scan", scan.ID, "account", scan.Account, "runner", scan.Runner)
	return c.Store.Scans.Replace(ctx, scan.ID, scan.Runner)
}

func (c *Controller) giveUp(ctx context.Context, scan scans.Scan, reason, why string) error {
	runbook := "scan-failing.md"
	if scans.IsProof(scan.ID) {
		runbook = "account-unproven.md"
	}
	next := "Look at the log of its runner, and at docs/runbooks/" + runbook + "."
	if scan.LaunchTrouble != nil {
		why, next = why+": "+scan.LaunchTrouble.Message, scan.LaunchTrouble.Next
	}
	c.Log.WarnContext(ctx, "scan given up", "scan", scan.ID, "account", scan.Account, "why", why)
	if err := c.Store.Scans.Close(ctx, scan.ID, scan.Runner, scans.ResultRow{Outcome: lifecycle.Lost, Reason: reason, Message: why, Next: next}); err != nil {
		return err
	}
	return c.Dispatcher.Stop(ctx, scan.ID)
}

type launchScanWorker struct {
	river.WorkerDefaults[queue.LaunchScanArgs]
	c *Controller
}

// Work starts the scan's runner, if it is still its newest and nobody has claimed the scan.
func (w *launchScanWorker) Work(ctx context.Context, job *river.Job[queue.LaunchScanArgs]) error {
	scan, err := w.c.Store.Scans.Scan(ctx, job.Args.Scan)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil || scan.Runner != job.Args.Runner || scan.ClosedAt != nil || scan.ClaimedAt != nil {
		return err
	}
	kind, deadline := contract.KindScan, longestScan
	if scans.IsProof(scan.ID) {
		kind, deadline = contract.KindProve, lifecycle.LongestProof
	}
	raw, err := w.c.Signer.Sign(scan.ID, scan.TokenID, w.c.Now())
	if err != nil {
		return fmt.Errorf("sign the token of scan %s: %w", scan.ID, err)
	}
	err = w.c.Dispatcher.Start(ctx, dispatch.Job{
		Attempt: scan.ID, Number: scan.Runner, Kind: kind, Token: raw, Job: scan.JobID(), Platform: scan.Platform, Deadline: deadline, ServiceAccounts: scan.Spec.ServiceAccounts,
	})
	var refusal *dispatch.Refusal
	if errors.As(err, &refusal) {
		err = errors.Join(err, w.c.Store.Scans.LaunchTroubled(ctx, scan.ID, scan.Runner, lifecycle.Trouble(refusal.Trouble)))
	}
	if err != nil {
		return fmt.Errorf("launch scan %s: %w", scan.ID, err)
	}
	if err := w.c.Store.Scans.Launched(ctx, scan.ID, scan.Runner); err != nil {
		return err
	}
	w.c.Log.InfoContext(ctx, "launched", "scan", scan.ID, "account", scan.Account, "runner", scan.Runner, "effect", "launch_scan")
	return nil
}

type judgeScanWorker struct {
	river.WorkerDefaults[queue.JudgeScanArgs]
	c *Controller
}

// Work compares what a scan saw with what is known, and stores the orphans that follow. It deletes nothing in a cloud.
func (w *judgeScanWorker) Work(ctx context.Context, job *river.Job[queue.JudgeScanArgs]) error {
	scan, err := w.c.Store.Scans.Scan(ctx, job.Args.Scan)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil || scan.JudgedAt != nil {
		return err
	}
	judged, err := w.c.judge(ctx, scan)
	if err != nil {
		return fmt.Errorf("judge scan %s: %w", scan.ID, err)
	}
	fresh, err := w.c.Store.Scans.KeepOrphans(ctx, scan.ID, judged, w.c.FindingLimits)
	if err != nil {
		return err
	}
	for _, o := range fresh {
		w.c.Log.WarnContext(ctx, "orphan", "orphan", o.ID, "class", o.Class, "account", o.Account, "identity", o.Identity, "why", o.Told())
	}
	w.c.Log.InfoContext(ctx, "judged", "scan", scan.ID, "account", scan.Account, "groups", len(judged), "fresh", len(fresh))
	return nil
}

// judge says whose the resources of the scan's account are.
func (c *Controller) judge(ctx context.Context, scan scans.Scan) ([]lifecycle.Judged, error) {
	rows, err := c.Store.Scans.Seen(ctx, scan)
	if err != nil {
		return nil, err
	}
	seen := make([]orphans.Resource, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Resource, &seen[i].SeenResource); err != nil {
			return nil, fmt.Errorf("read resource %s: %w", row.ID, err)
		}
		seen[i].ID, seen[i].SeenAt, seen[i].Sights, seen[i].Fresh = row.ID, row.LastSeenAt, row.Sights, !row.LastSeenAt.Before(scan.OpenedAt)
	}
	recorded, err := c.Store.Scans.Recorded(ctx, orphans.Candidates(seen))
	if err != nil {
		return nil, err
	}
	of := lifecycle.Seen{At: scan.OpenedAt, Groups: orphans.Groups(orphans.Account{
		Platform: scan.Platform, ID: scan.Account, Installation: scan.Spec.Installation, Names: recorded, BaseDomains: scan.Spec.BaseDomains, Exempt: c.Accounts.Exempt, Prices: c.Accounts.prices(scan.Platform),
	}, seen)}
	known, err := c.Store.Reports.Known(ctx, of)
	if err != nil {
		return nil, err
	}
	return lifecycle.Judge(of, known), nil
}

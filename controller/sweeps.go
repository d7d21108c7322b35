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
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/sweeps"
)

// Accounts says which cloud accounts are looked through, how often, and what of them is told.
type Accounts struct {
	Wanted func() []sweeps.Wanted // nil: none
	Every  time.Duration          // zero: only on request
	Exempt []orphans.Rule
	Prices func(platform string) orphans.Prices // in force now; nil: no price is known
}

// wanted returns the accounts that are looked through now.
func (a Accounts) wanted() []sweeps.Wanted {
	if a.Wanted == nil {
		return nil
	}
	return a.Wanted()
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
	// runSweepsEvery is how often the open sweep is seen to.
	runSweepsEvery = 30 * time.Second

	// longestSweep is how long a sweep may take once it is its turn, and mostSweepRunners how many runners it may lose, before it has failed.
	longestSweep     = 4 * time.Hour
	mostSweepRunners = 5
)

type runSweepsWorker struct {
	river.WorkerDefaults[queue.RunSweepsArgs]
	c *Controller
}

// Work opens the sweeps that are due, and sees to the one whose turn it is: accounts are looked through one after another.
func (w *runSweepsWorker) Work(ctx context.Context, _ *river.Job[queue.RunSweepsArgs]) error {
	return w.c.oneRound(ctx, "run sweeps", w.c.runSweeps)
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

func (c *Controller) runSweeps(ctx context.Context) error {
	if c.Accounts.Every > 0 {
		if _, err := c.Store.Sweeps.OpenDue(ctx, c.Accounts.wanted(), c.Accounts.Every); err != nil {
			return err
		}
	}
	unjudged, err := c.Store.Sweeps.Unjudged(ctx)
	if err != nil {
		return err
	}
	for _, id := range unjudged { // a queue job can be lost
		if err := c.Store.Sweeps.AskToJudge(ctx, id); err != nil {
			return err
		}
	}
	sweep, err := c.Store.Sweeps.InTurn(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.seeTo(ctx, sweep)
}

// seeTo starts the sweep's runner, replaces one that was lost, and ends a sweep that takes too long.
func (c *Controller) seeTo(ctx context.Context, sweep sweeps.Sweep) error {
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	turn, err := c.Store.Sweeps.Turn(ctx, sweep)
	if err != nil {
		return err
	}
	seen, err := c.Dispatcher.Observe(ctx, sweep.ID)
	if err != nil {
		c.Log.WarnContext(ctx, "runner of a sweep not observed", "sweep", sweep.ID, "err", err)
		seen = dispatch.Observation{}
	}
	switch {
	case now.Sub(turn) >= longestSweep:
		return c.giveUp(ctx, sweep, "TimedOut", fmt.Sprintf("it did not end within %s", duration.Format(longestSweep)))
	case c.isLost(sweep, seen.Sighting, now) && sweep.Runner >= mostSweepRunners:
		return c.giveUp(ctx, sweep, "RunnerLost", fmt.Sprintf("%d runners were lost", sweep.Runner))
	case c.isLost(sweep, seen.Sighting, now):
		return c.replaceRunner(ctx, sweep)
	case sweep.LaunchedAt == nil && sweep.ClaimedAt == nil:
		return c.Store.Sweeps.AskToLaunch(ctx, sweep.ID, sweep.Runner)
	case seen.Trouble != nil && sweep.ClaimedAt == nil:
		return c.Store.Sweeps.LaunchTroubled(ctx, sweep.ID, sweep.Runner, lifecycle.Trouble(*seen.Trouble))
	}
	return nil
}

// isLost reports that the sweep's runner was started and will not end the sweep. One whose lease ended reports nothing any more, whatever
// the dispatcher sees of it; nor does one that has not claimed the sweep for long.
func (c *Controller) isLost(sweep sweeps.Sweep, seen dispatch.Sighting, now time.Time) bool {
	switch {
	case sweep.LaunchedAt == nil && sweep.ClaimedAt == nil:
		return false
	case sweep.LeaseUntil != nil && now.Sub(*sweep.LeaseUntil) >= c.Limits.LeaseGrace:
		return true
	case sweep.ClaimedAt == nil && now.Sub(*sweep.LaunchedAt) >= c.Limits.LaunchPatience:
		return true
	}
	return seen == dispatch.Ended || seen == dispatch.Missing || seen == dispatch.NotStarted
}

// replaceRunner removes what is left of a lost runner, so that another one can be started for the same sweep, and asks for that. As long as
// the lost one is not seen to have ended it cannot be removed, and the sweep waits.
func (c *Controller) replaceRunner(ctx context.Context, sweep sweeps.Sweep) error {
	if err := errors.Join(c.Dispatcher.Kill(ctx, sweep.ID), c.Dispatcher.Forget(ctx, sweep.ID)); err != nil {
		c.Log.WarnContext(ctx, "lost runner of a sweep not removed", "sweep", sweep.ID, "runner", sweep.Runner, "err", err)
		return nil
	}
	c.Log.WarnContext(ctx, "runner of a sweep lost", "sweep", sweep.ID, "account", sweep.Account, "runner", sweep.Runner)
	return c.Store.Sweeps.Replace(ctx, sweep.ID, sweep.Runner)
}

func (c *Controller) giveUp(ctx context.Context, sweep sweeps.Sweep, reason, why string) error {
	next := "Look at the log of its runner, and at docs/runbooks/sweep-failing.md."
	if sweep.LaunchTrouble != nil {
		why, next = why+": "+sweep.LaunchTrouble.Message, sweep.LaunchTrouble.Next
	}
	c.Log.WarnContext(ctx, "sweep given up", "sweep", sweep.ID, "account", sweep.Account, "why", why)
	if err := c.Store.Sweeps.Close(ctx, sweep.ID, sweep.Runner, sweeps.ResultRow{Outcome: lifecycle.Lost, Reason: reason, Message: why, Next: next}); err != nil {
		return err
	}
	return c.Dispatcher.Stop(ctx, sweep.ID)
}

type launchSweepWorker struct {
	river.WorkerDefaults[queue.LaunchSweepArgs]
	c *Controller
}

// Work starts the sweep's runner, if it is still its newest and nobody has claimed the sweep.
func (w *launchSweepWorker) Work(ctx context.Context, job *river.Job[queue.LaunchSweepArgs]) error {
	sweep, err := w.c.Store.Sweeps.Sweep(ctx, job.Args.Sweep)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || sweep.Runner != job.Args.Runner || sweep.ClosedAt != nil || sweep.ClaimedAt != nil {
		return err
	}
	raw, err := w.c.Signer.Sign(sweep.ID, sweep.TokenID, w.c.Now())
	if err != nil {
		return fmt.Errorf("sign the token of sweep %s: %w", sweep.ID, err)
	}
	err = w.c.Dispatcher.Start(ctx, dispatch.Job{
		Attempt: sweep.ID, Number: sweep.Runner, Kind: contract.KindSweep, Token: raw, Job: sweep.JobID(), Platform: sweep.Platform, Deadline: longestSweep,
	})
	var refusal *dispatch.Refusal
	if errors.As(err, &refusal) {
		err = errors.Join(err, w.c.Store.Sweeps.LaunchTroubled(ctx, sweep.ID, sweep.Runner, lifecycle.Trouble(refusal.Trouble)))
	}
	if err != nil {
		return fmt.Errorf("launch sweep %s: %w", sweep.ID, err)
	}
	if err := w.c.Store.Sweeps.Launched(ctx, sweep.ID, sweep.Runner); err != nil {
		return err
	}
	w.c.Log.InfoContext(ctx, "launched", "sweep", sweep.ID, "account", sweep.Account, "runner", sweep.Runner, "effect", "launch_sweep")
	return nil
}

type judgeSweepWorker struct {
	river.WorkerDefaults[queue.JudgeSweepArgs]
	c *Controller
}

// Work compares what a sweep saw with what is known, and stores the orphans that follow. It deletes nothing in a cloud.
func (w *judgeSweepWorker) Work(ctx context.Context, job *river.Job[queue.JudgeSweepArgs]) error {
	sweep, err := w.c.Store.Sweeps.Sweep(ctx, job.Args.Sweep)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || sweep.JudgedAt != nil {
		return err
	}
	judged, err := w.c.judge(ctx, sweep)
	if err != nil {
		return fmt.Errorf("judge sweep %s: %w", sweep.ID, err)
	}
	fresh, err := w.c.Store.Sweeps.KeepOrphans(ctx, sweep.ID, judged, w.c.Sweeps)
	if err != nil {
		return err
	}
	for _, o := range fresh {
		w.c.Log.WarnContext(ctx, "orphan", "orphan", o.ID, "class", o.Class, "account", o.Account, "identity", o.Identity, "why", o.Told())
	}
	w.c.Log.InfoContext(ctx, "judged", "sweep", sweep.ID, "account", sweep.Account, "groups", len(judged), "fresh", len(fresh))
	return nil
}

// judge says whose the resources of the sweep's account are.
func (c *Controller) judge(ctx context.Context, sweep sweeps.Sweep) ([]lifecycle.Judged, error) {
	rows, err := c.Store.Sweeps.Seen(ctx, sweep)
	if err != nil {
		return nil, err
	}
	seen := make([]orphans.Resource, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Resource, &seen[i].SeenResource); err != nil {
			return nil, fmt.Errorf("read resource %s: %w", row.ID, err)
		}
		seen[i].ID, seen[i].SeenAt, seen[i].Sights, seen[i].Fresh = row.ID, row.LastSeenAt, row.Sights, !row.LastSeenAt.Before(sweep.OpenedAt)
	}
	recorded, err := c.Store.Sweeps.Recorded(ctx, orphans.Candidates(seen))
	if err != nil {
		return nil, err
	}
	of := lifecycle.Seen{At: sweep.OpenedAt, Groups: orphans.Groups(orphans.Account{
		Platform: sweep.Platform, ID: sweep.Account, Installation: sweep.Spec.Installation, Names: recorded, BaseDomains: sweep.Spec.BaseDomains, Exempt: c.Accounts.Exempt, Prices: c.Accounts.prices(sweep.Platform),
	}, seen)}
	known, err := c.Store.Reports.Known(ctx, of)
	if err != nil {
		return nil, err
	}
	return lifecycle.Sweep(of, known), nil
}

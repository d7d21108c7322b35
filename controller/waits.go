package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
)

const (
	// mostNotes is how often a wait is told something that does not decide it. GitHub takes ten.
	mostNotes = 5
	// pendsAgain is when a decision is sent again that GitHub has no waiting job for, although it shows one.
	pendsAgain = 30 * time.Second
	// pendsMost is for how long that is done, from the first such answer on: GitHub may have been away before. Then somebody else's decision is what the job waits for.
	pendsMost = 5 * time.Minute
	// longestWait is for how long GitHub keeps a job that waits for an environment.
	longestWait = 30 * 24 * time.Hour
)

// tellWait tells jobs that wait for a cluster how it stands, or decides about them. Several effects of one wait are worked one after the
// other, and each tells the newest state.
func (c *Controller) tellWait(ctx context.Context, e clusters.Effect) (note string, err error) {
	return c.oneAtATime(ctx, "wait "+e.Content, func(ctx context.Context) (string, error) {
		w, err := c.Store.Runs.Wait(ctx, e.Content)
		if errors.Is(err, db.ErrNotFound) {
			return "the wait was forgotten", nil
		}
		if err != nil {
			return "", err
		}
		return c.review(ctx, e, w)
	})
}

// waitRefused records why GitHub is not told about a wait.
func (c *Controller) waitRefused(ctx context.Context, wait string, why error) error {
	w, err := c.Store.Runs.Wait(ctx, wait)
	if err != nil {
		return err
	}
	return c.Store.Runs.Untold(ctx, w, fmt.Sprintf("GitHub refuses the App's answer to the jobs that wait for %s: %.300s. An owner of the organization looks at the App's installation and its permission to write deployments. It is tried again every hour.",
		w.Environment, strings.TrimRight(why.Error(), ".")))
}

// reviewed is the wait that an effect tells about.
type reviewed struct {
	effect clusters.Effect
	wait   runs.Wait
	run    int64
}

func (c *Controller) review(ctx context.Context, e clusters.Effect, w runs.Wait) (note string, err error) {
	run, err := strconv.ParseInt(w.RunKey, 10, 64)
	if err != nil {
		return "", fmt.Errorf("run %s has no number on GitHub: %w", w.RunID, err)
	}
	at := reviewed{e, w, run}
	switch {
	case w.Decision != "":
		return "decided before", nil
	case w.Over:
		return "the run is over", c.Store.Runs.Decided(ctx, w, lifecycle.WaitOver, "the run is over")
	case w.Cluster == "":
		return c.endWait(ctx, at, lifecycle.WaitRejected, w.Refusal)
	}
	row, err := c.Store.Cluster(ctx, w.Cluster)
	if err != nil {
		return "", err
	}
	state := lifecycle.WaitOf(row.Cluster)
	if row.Desired == lifecycle.Absent {
		state = lifecycle.WaitFailed
	}
	text := chat.WaitText(row.Card, state, c.Links)
	switch state {
	case lifecycle.WaitSucceeded:
		return c.endWait(ctx, at, lifecycle.WaitApproved, text)
	case lifecycle.WaitFailed:
		return c.endWait(ctx, at, lifecycle.WaitRejected, text)
	}
	return c.report(ctx, at, state, text)
}

// endWait lets the jobs go on, or fail.
func (c *Controller) endWait(ctx context.Context, at reviewed, decision lifecycle.WaitDecision, text string) (note string, err error) {
	e, w := at.effect, at.wait
	said := map[lifecycle.WaitDecision]string{lifecycle.WaitApproved: chat.Approved, lifecycle.WaitRejected: chat.Rejected}[decision]
	err = c.GitHub.Review(ctx, e.Installation, e.Repo, at.run, chat.Review{Environment: w.Environment, State: said, Comment: text})
	switch {
	case errors.Is(err, github.ErrNothingPending):
		names, failed := c.GitHub.Pending(ctx, e.Installation, e.Repo, at.run)
		if failed != nil {
			return "", failed
		}
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, w.Environment) }) {
			since, failed := c.Store.Outbox.EffectFailed(ctx, e.ID, true, "GitHub lists a waiting job and takes no decision")
			if failed != nil || c.Now().Sub(since) < pendsMost {
				return "", cmp.Or(failed, error(later{wait: pendsAgain}))
			}
		}
		return "no job waits for it any more", c.Store.Runs.Decided(ctx, w, lifecycle.WaitOver, "no job waits for it any more")
	case err != nil:
		return "", err
	}
	return said, c.Store.Runs.Decided(ctx, w, decision, w.Environment+" was "+said)
}

// report posts a progress, counted before it is posted. GitHub's refusal of one has no effect on the wait.
func (c *Controller) report(ctx context.Context, at reviewed, state lifecycle.WaitState, text string) (note string, err error) {
	e, w := at.effect, at.wait
	switch {
	case w.Said == state:
		return "told before", nil
	case w.Notes >= mostNotes:
		return "it was told often enough", nil
	}
	if err := c.Store.Runs.Noting(ctx, w.ID, state); err != nil {
		return "", err
	}
	err = c.GitHub.Review(ctx, e.Installation, e.Repo, at.run, chat.Review{Environment: w.Environment, Comment: text})
	switch {
	case errors.Is(err, github.ErrNothingPending):
		return "GitHub takes no report", nil
	case err != nil:
		return "", errors.Join(err, c.Store.Runs.NotNoted(ctx, w.ID, w.Said))
	}
	return "told that: " + string(state), nil
}

// rejectUnknown rejects jobs about whose run GitHub could not be asked. Rejected a second time, nothing waits any more.
func (c *Controller) rejectUnknown(ctx context.Context, e clusters.Effect) (note string, err error) {
	var r runs.Rejection
	if err := json.Unmarshal([]byte(e.Content), &r); err != nil {
		return "", fmt.Errorf("read the rejection: %w", err)
	}
	err = c.GitHub.Review(ctx, e.Installation, e.Repo, r.Run, chat.Review{Environment: r.Environment, State: chat.Rejected, Comment: r.Why})
	switch {
	case errors.Is(err, github.ErrNothingPending) && c.Now().Sub(e.CreatedAt) < pendsAgain: // GitHub may not know the job yet
		return "", later{wait: pendsAgain}
	case errors.Is(err, github.ErrNothingPending):
		return "no job waits for it any more", nil
	case err != nil:
		return "", err
	}
	return chat.Rejected, nil
}

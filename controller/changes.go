package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/testreports"
)

// Catalogue is what the catalogue in force says about repositories.
type Catalogue interface {
	// FileProblems returns the annotations for a repository's file: failures if it cannot be read, otherwise warnings about settings
	// without effect.
	FileProblems(raw []byte) []chat.Annotation
	// OurLabels returns the labels that a repository gets.
	OurLabels(ctx context.Context, installation int64, repo string) ([]chat.Label, error)
}

type effectWorker struct {
	river.WorkerDefaults[queue.EffectArgs]
	c *Controller
}

// Work makes one change on GitHub other than showing a cluster. What GitHub refuses is retried for as long as a person may need to
// fix the cause, and then given up with an explanation: nobody waits for a reaction for days. The answer to a job that waits for it is
// retried for as long as GitHub keeps the job. The time counts from the first refusal, as the row has it: a job of the queue can be lost and made again. A request for labels is not retried: the person who asked sees the error at once.
func (w *effectWorker) Work(ctx context.Context, job *river.Job[queue.EffectArgs]) error {
	var e clusters.Effect
	_, err := w.c.Store.Alone(ctx, "effect "+job.Args.Effect, func(ctx context.Context) error {
		found, done, err := w.c.Store.Outbox.Effect(ctx, job.Args.Effect)
		if e = found; err != nil || done {
			return err
		}
		note, err := w.c.make(ctx, e)
		switch {
		case isRefusal(err) && e.Kind == runs.EffectSignal:
			err = errors.Join(err, w.c.signalRefused(ctx, e.Content, err))
		case isRefusal(err) && e.Kind == runs.EffectReview:
			err = errors.Join(err, w.c.waitRefused(ctx, e.Content, err))
		}
		over, failed := w.isRefusedForLong(ctx, e, err)
		if err = errors.Join(err, failed); over {
			w.c.Log.ErrorContext(ctx, "change given up", "effect", e.Kind, "cause", e.Cause, "repo", e.Repo, "number", e.Number, "err", err)
			note, err = "given up: "+err.Error(), nil
		}
		if err != nil {
			return err
		}
		return w.c.Store.Outbox.EffectDone(ctx, e.ID, note, over)
	})
	if wait, paused := w.c.pause(err, job.CreatedAt); paused {
		w.c.logWait(ctx, err, wait, "effect", e.Kind, "cause", e.Cause)
		return river.JobSnooze(wait)
	}
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return fmt.Errorf("make %s: %w", job.Args.Effect, err)
	}
	return nil
}

// isRefusedForLong reports whether GitHub refuses a change for so long that it is given up. One refusal is not an answer, however old the change
// is: GitHub may have been away.
func (w *effectWorker) isRefusedForLong(ctx context.Context, e clusters.Effect, err error) (bool, error) {
	if _, waits := w.c.pause(err, e.CreatedAt); err == nil || waits && !isRefusal(err) { // for its turn, or a rate limit
		return false, nil
	}
	if errors.Is(err, github.ErrChanged) { // the person has to propose another change
		return true, nil
	}
	since, failed := w.c.Store.Outbox.EffectFailed(context.WithoutCancel(ctx), e.ID, isRefusal(err), err.Error())
	return failed == nil && isRefusal(err) && w.c.Now().Sub(since) >= patienceFor(e.Kind), failed
}

// patienceFor is for how long a change is tried that GitHub refuses.
func patienceFor(kind clusters.EffectKind) time.Duration {
	switch kind {
	case outbox.EffectEnsureLabels, outbox.EffectProposeCatalogue:
		return 0
	case runs.EffectReview, runs.EffectReject, outbox.EffectGate: // a gate that is missing blocks a merge
		return longestWait
	}
	return refusedPauseMax
}

// oneAtATime does the work of an effect unless another effect of the same thing, which name tells, is being worked; then it is tried again
// in a second.
func (c *Controller) oneAtATime(ctx context.Context, name string, work func(context.Context) (note string, err error)) (note string, err error) {
	alone, err := c.Store.Alone(ctx, name, func(ctx context.Context) (err error) {
		note, err = work(ctx)
		return err
	})
	if err == nil && !alone {
		return "", later{wait: time.Second}
	}
	return note, err
}

// make makes one change and returns its result for people. Every change may be made twice. A requester outside GitHub knew no
// installation, so it is looked up.
func (c *Controller) make(ctx context.Context, e clusters.Effect) (note string, err error) {
	if e.Installation == 0 {
		if e.Installation, err = c.GitHub.InstallationOf(ctx, e.Repo); err != nil {
			return "", err
		}
	}
	if err := c.paceWrite(ctx, e.Installation, e.Kind == outbox.EffectMinimize); err != nil {
		return "", err
	}
	switch e.Kind {
	case outbox.EffectReact:
		return c.react(ctx, e)
	case outbox.EffectMinimize:
		return c.minimize(ctx, e)
	case outbox.EffectAddLabel, outbox.EffectRemoveLabel:
		return c.relabel(ctx, e)
	case outbox.EffectEnsureLabels:
		return c.ensureLabels(ctx, e)
	case outbox.EffectCheckConfig:
		return c.checkConfig(ctx, e)
	case outbox.EffectCheckCatalogue:
		return c.checkCatalogue(ctx, e)
	case outbox.EffectProposeCatalogue:
		return c.proposeCatalogue(ctx, e)
	case outbox.EffectGate:
		return c.showGate(ctx, e)
	case clusters.EffectRemoveDeployments:
		return c.removeDeployments(ctx, e)
	case testreports.EffectCheck:
		return c.showTests(ctx, e)
	case runs.EffectSignal:
		return c.tellSignal(ctx, e)
	case runs.EffectReview:
		return c.tellWait(ctx, e)
	case runs.EffectReject:
		return c.rejectUnknown(ctx, e)
	}
	return "", fmt.Errorf("unknown kind of change %q", e.Kind)
}

func (c *Controller) react(ctx context.Context, e clusters.Effect) (string, error) {
	err := c.GitHub.React(ctx, e.Installation, e.Repo, e.Target, e.Content)
	if errors.Is(err, github.ErrGone) {
		return "the comment no longer exists", nil
	}
	return "reacted", err
}

// minimize hides an answer that a newer one made outdated. One that somebody deleted is hidden enough.
func (c *Controller) minimize(ctx context.Context, e clusters.Effect) (string, error) {
	err := c.GitHub.MinimizeComment(ctx, e.Installation, e.Repo, e.Target, e.Content)
	if errors.Is(err, github.ErrGone) {
		return "the comment no longer exists", nil
	}
	return "minimized", err
}

// relabel adds or removes a label, unless later events decided otherwise.
func (c *Controller) relabel(ctx context.Context, e clusters.Effect) (string, error) {
	stands, err := c.stands(ctx, e)
	switch {
	case err != nil:
		return "", err
	case e.Kind == outbox.EffectRemoveLabel && stands:
		return "not removed: a cluster exists for it", nil
	case e.Kind == outbox.EffectRemoveLabel:
		return "removed", c.GitHub.RemoveLabel(ctx, e.Installation, e.Repo, e.Number, e.Content)
	case !stands:
		return "not added: no cluster exists for it", nil
	}
	return "added", c.GitHub.AddLabel(ctx, e.Installation, e.Repo, e.Number, e.Content)
}

// stands reports whether one of our labels still requests a cluster that nobody has cancelled.
func (c *Controller) stands(ctx context.Context, e clusters.Effect) (bool, error) {
	profile, ours := strings.CutPrefix(e.Content, chat.LabelPrefix)
	if !ours {
		return false, nil
	}
	row, err := c.Store.ClusterForPR(ctx, e.Repo, e.Number, profile)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	if err != nil || row.Desired != lifecycle.Present || !row.Ends.LabelRemoved.IsZero() {
		return false, err
	}
	subs, err := c.Store.Outbox.Subscribers(ctx, row.ID)
	for _, sub := range subs {
		if sub.Kind == clusters.KindLabel {
			return true, nil
		}
	}
	return false, err
}

// removeDeployments removes what is left of a cluster that had an environment of its own.
func (c *Controller) removeDeployments(ctx context.Context, e clusters.Effect) (string, error) {
	removed, err := c.GitHub.RemoveDeployments(ctx, e.Installation, e.Repo, e.Content)
	return fmt.Sprintf("deployments removed: %d", removed), err
}

func (c *Controller) ensureLabels(ctx context.Context, e clusters.Effect) (string, error) {
	labels, err := c.Catalogue.OurLabels(ctx, e.Installation, e.Repo)
	if err != nil {
		return "", err
	}
	made, changed, err := c.GitHub.EnsureLabels(ctx, e.Installation, e.Repo, labels)
	if len(made)+len(changed) > 0 {
		c.Log.InfoContext(ctx, "labels created", "effect", e.Kind, "repo", e.Repo, "made", made, "changed", changed)
	}
	return labelsNote(labels, made, changed), err
}

// labelsNote says which labels were created, changed or unchanged, for the requester.
func labelsNote(labels []chat.Label, made, changed []string) string {
	var fine []string
	for _, l := range labels {
		if !slices.Contains(made, l.Name) && !slices.Contains(changed, l.Name) {
			fine = append(fine, l.Name)
		}
	}
	var parts []string
	for _, part := range []struct {
		word  string
		names []string
	}{{"made", made}, {"changed", changed}, {"fine", fine}} {
		if len(part.names) > 0 {
			parts = append(parts, part.word+": "+strings.Join(part.names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// checkConfig shows, on the commit that changes the repository's file, what the file would mean.
func (c *Controller) checkConfig(ctx context.Context, e clusters.Effect) (string, error) {
	run, err := c.configRun(ctx, e)
	if err != nil {
		return "", err
	}
	_, err = c.GitHub.UpsertCheckRun(ctx, github.CheckTarget{
		Installation: e.Installation, Repo: e.Repo, Head: e.Content, Name: chat.ConfigCheckName, ExternalKey: "config", // of the commit: what a file means is the same for all its pull requests
	}, run)
	return run.Title, err
}

func (c *Controller) configRun(ctx context.Context, e clusters.Effect) (chat.CheckRun, error) {
	file, err := c.GitHub.File(ctx, e.Installation, e.Repo, c.RepositoryFile, e.Content)
	switch {
	case errors.Is(err, github.ErrNotFound):
		return chat.ConfigGone(c.RepositoryFile), nil
	case errors.Is(err, github.ErrNotFile):
		return chat.ConfigCheck(c.RepositoryFile, []chat.Annotation{{Line: 1, Level: "failure", Title: "no file", Message: err.Error()}}), nil
	case err != nil:
		return chat.CheckRun{}, err
	}
	return chat.ConfigCheck(c.RepositoryFile, c.Catalogue.FileProblems(file.Raw)), nil
}

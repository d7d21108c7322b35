package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/runs"
)

const (
	lookAtOnce = 500 // runs in one round; the rest follows in the next one
	parallel   = 8   // of them at the same time
	// unseenFactor is how many times rarer a run is asked about while the App cannot see it.
	unseenFactor = 5
	// leastAbsence is how long after somebody began to depend on a job its absence counts.
	leastAbsence = time.Minute
)

// errNoAnswer marks that the platform was asked and gave no answer.
var errNoAnswer = errors.New("no answer")

// Look asks about every run whose turn it is, and releases turns that last too long. A run about which its platform gives no answer is
// asked about again later; nothing follows from it.
func (s *Service) Look(ctx context.Context) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	if _, err := s.store.Runs.ExpireUses(ctx, s.use); err != nil {
		return err
	}
	due, err := s.store.Runs.ToLook(ctx, now, lookAtOnce)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, run := range due {
		group.Go(func() error { return s.lookInTurn(ctx, run, now) })
	}
	return group.Wait()
}

// lookInTurn asks about one run and its jobs. Its turn is over whatever comes back, so that it delays no others.
func (s *Service) lookInTurn(ctx context.Context, run runs.Run, now time.Time) error {
	_, err := s.lookAtRun(ctx, run)
	if !isUnanswered(err) || ctx.Err() != nil {
		return err
	}
	s.log.WarnContext(ctx, "a run could not be looked at", "run", run.ID, "url", run.URL, "err", err)
	return s.store.Runs.Postpone(ctx, run.ID, now.Add(s.every))
}

// lookAtRun asks the platform about a run and the jobs on which something depends, and stores the answers. The jobs come first: a cluster of a
// job ends by its job's conclusion. An error that is unanswered: there was no answer about the run.
func (s *Service) lookAtRun(ctx context.Context, run runs.Run) (runs.Run, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return runs.Run{}, err
	}
	if run.Platform == lifecycle.Tekton {
		return s.lookAtPipelineRun(ctx, run, now)
	}
	if run.Installation == 0 {
		if run.Installation, err = s.github.InstallationOf(ctx, run.Repo); err != nil {
			return runs.Run{}, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		if run.Installation == 0 {
			return s.store.Runs.Unwatch(ctx, run.ID, messages.UnwatchedUninstalled(run.Repo), now.Add(unseenFactor*s.every))
		}
	}
	state, err := s.github.Run(ctx, run.Installation, run.Repo, run.Key)
	if err == nil && state.RepoID != run.Scope { // another repository has the name by now
		err = ErrNotFound
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return s.explainMissing(ctx, run, now)
	case errors.Is(err, ErrForbidden):
		return s.store.Runs.Unwatch(ctx, run.ID, "GitHub refuses to show the App the Actions of "+run.Repo+"; it needs the permission Actions: read there", now.Add(unseenFactor*s.every))
	case err != nil:
		return runs.Run{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if err := s.lookAtJobs(ctx, run, now); err != nil {
		return runs.Run{}, err
	}
	return s.store.Runs.See(ctx, run.ID, toSeen(state, run.Installation), now.Add(s.every))
}

func toSeen(state State, installation int64) runs.Seen {
	out := runs.Seen{
		Installation: installation, Repo: state.Repo, Name: state.Name, Attempt: state.Attempt, State: lifecycle.RunRunning, UpdatedAt: state.UpdatedAt, Confirmed: true,
	}
	if state.Completed {
		out.State, out.Conclusion = lifecycle.RunFinished, state.Conclusion
	}
	return out
}

// explainMissing finds out why GitHub does not have a run: it was deleted, or the App no longer reaches its repository. Only the first is an
// end.
func (s *Service) explainMissing(ctx context.Context, run runs.Run, now time.Time) (runs.Run, error) {
	there, err := s.github.InstallationOf(ctx, run.Repo)
	switch {
	case err != nil:
		return runs.Run{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	case there == 0:
		return s.store.Runs.Unwatch(ctx, run.ID, messages.UnwatchedUninstalled(run.Repo), now.Add(unseenFactor*s.every))
	case there != run.Installation:
		state, err := s.github.Run(ctx, there, run.Repo, run.Key)
		if err == nil && state.RepoID == run.Scope {
			return s.store.Runs.See(ctx, run.ID, toSeen(state, there), now.Add(s.every))
		}
		if !errors.Is(err, ErrNotFound) && err != nil {
			return runs.Run{}, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
	}
	return s.store.Runs.Miss(ctx, run.ID, now.Add(min(s.every, leastAbsence)))
}

// lookAtJobs asks about the jobs of a run, which GitHub has, whose end ends something. Without an answer about a job nothing follows.
func (s *Service) lookAtJobs(ctx context.Context, run runs.Run, now time.Time) error {
	jobs, err := s.store.Runs.Jobs(ctx, run.ID)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		state, err := s.lookAtJob(ctx, run, job.ID)
		switch {
		case errors.Is(err, ErrNotFound) && now.Sub(job.Since) >= leastAbsence:
			err = s.jobFinished(ctx, run, job.ID, lifecycle.ConclusionGone, true)
		case err == nil && state.Completed:
			err = s.jobFinished(ctx, run, job.ID, state.Conclusion, true)
		case err == nil:
			err = s.store.Runs.SeeJob(ctx, run.ID, job.ID, lifecycle.Finish{}, true)
		default:
			s.log.WarnContext(ctx, "a job could not be looked at", "run", run.ID, "job_id", job.ID, "err", err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookAtJob asks GitHub about a job of a run.
func (s *Service) lookAtJob(ctx context.Context, run runs.Run, id string) (JobState, error) {
	state, err := s.github.Job(ctx, run.Installation, run.Repo, id)
	switch {
	case err == nil && state.Run != run.Key: // another repository has the name by now
		return JobState{}, ErrNotFound
	case err == nil, errors.Is(err, ErrNotFound), errors.Is(err, ErrForbidden):
		return state, err
	}
	return JobState{}, fmt.Errorf("%w: %w", errNoAnswer, err)
}

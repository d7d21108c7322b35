package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/runs"
)

// Event is a webhook about a workflow run or one of its jobs.
type Event struct {
	Installation int64
	RepoID, Repo string // GitHub's id, owner/name
	Run          string // its id
	Attempt      int
	Completed    bool // the attempt, or the job
	Conclusion   string
	Job          string // id of the job's check run; empty: the event is about the run
}

// Changed handles an event: it asks GitHub for the run, or for the job, and settles what follows. Only if GitHub gives no answer does
// the event itself count, and only for an end.
func (s *Service) Changed(ctx context.Context, e Event) (note string, err error) {
	known, err := s.store.Runs.Named(ctx, lifecycle.GitHub, e.RepoID, e.Run)
	if err != nil {
		return "", err
	}
	known = slices.DeleteFunc(known, func(r runs.Run) bool { return !s.isOnOurGitHub(r) })
	if len(known) == 0 {
		return "no cluster and no turn belongs to the run", nil
	}
	var notes []string
	for _, run := range known {
		note, err := s.applyEvent(ctx, run, e)
		if err != nil {
			return "", err
		}
		notes = append(notes, note)
	}
	return strings.Join(notes, "; "), nil
}

func (s *Service) applyEvent(ctx context.Context, run runs.Run, e Event) (note string, err error) {
	if run.Installation == 0 {
		run.Installation = e.Installation
	}
	switch {
	case e.Job != "":
		return s.jobChanged(ctx, run, e)
	case e.Attempt < run.Attempt:
		return fmt.Sprintf("attempt %d replaced this one", run.Attempt), nil
	case e.Attempt == run.Attempt && e.Completed == (run.State == lifecycle.RunFinished) && run.Confirmed && run.Unwatched == "":
		return "it was known", nil
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return "", err
	}
	seen, err := s.lookAtRun(ctx, run)
	switch {
	case err == nil && isBehind(seen, e): // not all of GitHub's servers have the newest state at once
		return describeRun(seen) + ", and the event says otherwise: asking again", s.store.Runs.Postpone(ctx, run.ID, now.Add(askAgainAfter))
	case !isUnanswered(err):
		return describeRun(seen), err
	case !e.Completed:
		return "", err // asked again later
	}
	heard := runs.Seen{Attempt: e.Attempt, State: lifecycle.RunFinished, Conclusion: e.Conclusion}
	if seen, err = s.store.Runs.See(ctx, run.ID, heard, now); err != nil {
		return "", err
	}
	return describeRun(seen) + ", by the event alone: GitHub does not answer", nil
}

// askAgainAfter is how soon GitHub is asked again if its answer contradicts its event.
const askAgainAfter = 10 * time.Second

// isBehind reports whether GitHub's answer is older than the event, or the event is forged.
func isBehind(run runs.Run, e Event) bool {
	return run.Unwatched == "" && (run.Attempt < e.Attempt || run.Attempt == e.Attempt && e.Completed && run.State == lifecycle.RunRunning)
}

// jobChanged handles the end of a job.
func (s *Service) jobChanged(ctx context.Context, run runs.Run, e Event) (note string, err error) {
	jobs, err := s.store.Runs.Jobs(ctx, run.ID)
	if err != nil {
		return "", err
	}
	if !e.Completed || !slices.ContainsFunc(jobs, func(j runs.Job) bool { return j.ID == e.Job }) {
		return "nothing ends with this job", nil
	}
	state, err := s.lookAtJob(ctx, run, e.Job)
	switch {
	case err == nil && state.Completed:
		return "job " + e.Job + " finished: " + state.Conclusion, s.jobFinished(ctx, run, e.Job, state.Conclusion, true)
	case err == nil:
		return "GitHub says that the job is running", nil
	case !isUnanswered(err): // the next look finds out why
		return "GitHub does not show the job", nil
	}
	return "", errors.Join(err, s.jobFinished(ctx, run, e.Job, e.Conclusion, false)) // its turn waits for GitHub's answer
}

func (s *Service) jobFinished(ctx context.Context, run runs.Run, job, conclusion string, confirmed bool) error {
	return s.store.Runs.SeeJob(ctx, run.ID, job, lifecycle.Finish{Conclusion: conclusion, At: time.Unix(0, 0)}, confirmed)
}

// isUnanswered reports whether GitHub gave no answer: it is down, or a rate limit is used up.
func isUnanswered(err error) bool {
	return err != nil && errors.Is(err, errNoAnswer)
}

// describeRun says where a run stands.
func describeRun(run runs.Run) string {
	switch {
	case run.ID == "":
		return ""
	case run.Unwatched != "":
		return "it cannot be watched: " + run.Unwatched
	case run.State == lifecycle.RunFinished:
		return fmt.Sprintf("attempt %d finished: %s", run.Attempt, run.Conclusion)
	}
	return fmt.Sprintf("attempt %d is running", run.Attempt)
}

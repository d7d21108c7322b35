package hooks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/queue"
)

// Run implements runs.GitHub.
func (a Asker) Run(ctx context.Context, installation int64, repo, id string) (runs.State, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return runs.State{}, fmt.Errorf("%w: %w", runs.ErrNotFound, err)
	}
	got, err := a.client.Run(ctx, installation, repo, number)
	return runs.State{
		RepoID: strconv.FormatInt(got.RepoID, 10), Repo: got.Repo, Name: got.Name, Attempt: got.Attempt, Completed: got.Completed, Conclusion: got.Conclusion,
		UpdatedAt: got.UpdatedAt,
	}, ofRuns(err)
}

// Job implements runs.GitHub.
func (a Asker) Job(ctx context.Context, installation int64, repo, id string) (runs.JobState, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return runs.JobState{}, fmt.Errorf("%w: %w", runs.ErrNotFound, err)
	}
	got, err := a.client.Job(ctx, installation, repo, number)
	return runs.JobState{Run: strconv.FormatInt(got.Run, 10), Completed: got.Completed, Conclusion: got.Conclusion}, ofRuns(err)
}

// handleEnvironment passes on that a job waits for an environment.
func (w *InboxWorker) handleEnvironment(ctx context.Context, e webhook) (string, error) {
	if err := checkPlace(e, e.Repository.FullName); err != nil {
		return "", err
	}
	return w.pulls.Environment(ctx, toEnvironmentEvent(e))
}

// toEnvironmentEvent is what an event says of a job that waits for an environment.
func toEnvironmentEvent(e webhook) pulls.EnvironmentEvent {
	waits := pulls.EnvironmentEvent{
		Installation: e.Installation.ID, Repo: e.Repository.FullName, RepoID: e.Repository.ID, Run: e.runID(), Deployment: e.Deployment.ID, AskedAt: e.Deployment.CreatedAt,
		Environment: e.Environment, Branch: e.Repository.Branch,
	}
	for _, pr := range e.PullRequests {
		if pr.Number > 0 && pr.Number <= math.MaxInt32 {
			waits.PullRequests = append(waits.PullRequests, pr.Number)
		}
	}
	return waits
}

// ofRuns marks the errors that are answers.
func ofRuns(err error) error {
	switch {
	case errors.Is(err, github.ErrNotFound):
		return fmt.Errorf("%w: %w", runs.ErrNotFound, err)
	case errors.Is(err, github.ErrRefused):
		return fmt.Errorf("%w: %w", runs.ErrForbidden, err)
	}
	return err
}

// RunPoller asks about the pipeline runs on which a cluster or a turn depends.
type RunPoller struct {
	river.WorkerDefaults[queue.LookAtRunsArgs]
	runs  *runs.Service
	every time.Duration
}

// NewRunPoller returns the worker of queue.LookAtRunsArgs, which asks about each run once in the given period.
func NewRunPoller(s *runs.Service, every time.Duration) *RunPoller {
	return &RunPoller{runs: s, every: every}
}

// runLooks is how many rounds a period has: a run that is due waits at most for one.
const runLooks = 12

// LeastRunLook is the shortest period in which every run can be asked about once.
const LeastRunLook = runLooks * time.Second

// Periodic returns the periodic job.
func (s *RunPoller) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(s.every/runLooks), func() (river.JobArgs, *river.InsertOpts) {
		return queue.LookAtRunsArgs{}, nil
	}, &river.PeriodicJobOpts{RunOnStart: true, ID: "look_at_runs"})
}

// Work implements river.Worker.
func (s *RunPoller) Work(ctx context.Context, _ *river.Job[queue.LookAtRunsArgs]) error {
	return s.runs.Look(ctx)
}

// PullWorker asks GitHub about pull requests of which nothing is known.
type PullWorker struct {
	river.WorkerDefaults[queue.PullArgs]
	pulls *pulls.Service
}

// NewPullWorker returns the worker of queue.PullArgs.
func NewPullWorker(s *pulls.Service) *PullWorker { return &PullWorker{pulls: s} }

// Work implements river.Worker.
func (w *PullWorker) Work(ctx context.Context, job *river.Job[queue.PullArgs]) error {
	return w.pulls.Learn(ctx, job.Args.Repo, job.Args.Number)
}

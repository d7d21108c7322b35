package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/runs"
)

// EnvironmentEvent says that a job of a workflow run waits for an environment by the App's protection rule.
type EnvironmentEvent struct {
	Installation int64
	Repo         string
	RepoID, Run  int64
	Deployment   int64
	AskedAt      time.Time // by GitHub's clock, as the event says
	Environment  string
	Branch       string // the repository's default one
	PullRequests []int  // with the run's commit
}

// Environment requests the cluster for which a job waits, on behalf of whoever started the attempt of its run, as a label does. The run
// is asked from GitHub: the event does not name its attempt.
func (s *Service) Environment(ctx context.Context, e EnvironmentEvent) (note string, err error) {
	if _, ours := app.EnvironmentProfile(e.Environment); !ours {
		return "the environment is none of ocpctl's", nil
	}
	run, err := s.github.WorkflowRun(ctx, e.Installation, e.Repo, e.Run)
	switch {
	case err != nil:
		return "", fmt.Errorf("ask for run %d of %s: %w", e.Run, e.Repo, err)
	case run.RepoID != e.RepoID:
		return "another repository has the name by now", nil
	case run.Completed:
		return fmt.Sprintf("attempt %d finished", run.Attempt), nil
	}
	if !slices.ContainsFunc(run.Waits, func(name string) bool { return strings.EqualFold(name, e.Environment) }) {
		if s.maybeLags(ctx, e) {
			return "", fmt.Errorf("GitHub does not show yet that run %d of %s waits for %s; it is asked again", e.Run, e.Repo, e.Environment)
		}
		return "no job waits for it", nil
	}
	w := app.Waiting{
		Installation: e.Installation, RepoID: e.RepoID, Run: e.Run, Deployment: e.Deployment, Environment: e.Environment, WorkflowRun: run,
	}
	pr, err := s.pullOfRun(ctx, e, run)
	if err != nil {
		return "", err
	}
	w.Number = pr.Number
	r, err := s.newRequest(ctx, policy.SourceEnvironment, pr, actor{run.Actor, run.ActorID, run.Bot})
	if err != nil {
		return "", err
	}
	asked, err := s.toClusterRequest(ctx, r, pr)
	if err != nil {
		return "", err
	}
	if run.Fork {
		asked.Notes = append(asked.Notes, policy.Check{
			Name: "fork", Result: policy.Fail, Asked: "a fork", Accept: "a branch of " + e.Repo, Message: "The run's commit is in a fork. Nothing runs for a fork's code by an environment.", Next: "Ask for a cluster by a label or a comment on the pull request: there somebody can approve the fork's commit.",
		})
	}
	asked.PR = pullrequests.PullRequest{} // it is the run's cluster: no comment shows it, and it does not end with the pull request
	made, err := s.core.CreateFrom(ctx, s.core.ForEnvironment(asked, w))
	switch kind := app.KindOf(err); {
	case kind == app.Conflict || kind == app.Denied:
		return s.rejectEnvironment(ctx, w, err.Error())
	case err != nil:
		return "", err
	case made.Row.ID == "":
		return refusalNote(e.Environment, made.Verdict), nil
	case made.Reused:
		return "its run has " + made.Row.ID + " for it", nil
	}
	return fmt.Sprintf("accepted %s as %s", e.Environment, made.Row.ID), nil
}

// maybeLags reports whether the event is so new that not all of GitHub's servers need to have its state.
func (s *Service) maybeLags(ctx context.Context, e EnvironmentEvent) bool {
	now, err := s.store.Now(ctx)
	return err != nil || now.Sub(e.AskedAt).Abs() < lagsFor
}

// EnvironmentGivenUp rejects the jobs of an event that cannot be processed, or not for too long. Otherwise they would wait for 30 days. It
// takes no more than the event says, because why often is that GitHub shows nothing of the run.
func (s *Service) EnvironmentGivenUp(ctx context.Context, e EnvironmentEvent, why error) error {
	if _, ours := app.EnvironmentProfile(e.Environment); !ours {
		return nil
	}
	text := "There is no cluster for this environment: for a day, ocpctl could not find out what this run is and who started it. The server's log has the reason. Run the job again."
	switch {
	case app.IsRefused(why):
		text = fmt.Sprintf("This environment gets no cluster, because for 15 minutes, GitHub did not show the App this run or the permission of the account that started it: %.300s. Ask an owner of the organization to check the App's installation and its permission Actions: read. Then run the job again.",
			strings.TrimRight(why.Error(), "."))
	case app.KindOf(why) != "":
		text = fmt.Sprintf("There is no cluster for this environment: %.1000s", why)
	}
	return s.store.Runs.Reject(ctx, e.Installation, e.Repo, runs.Rejection{Run: e.Run, Deployment: e.Deployment, Environment: e.Environment, Why: text})
}

func (s *Service) rejectEnvironment(ctx context.Context, w app.Waiting, why string) (note string, err error) {
	return "rejected: " + why, s.core.RejectWaiting(ctx, w, why)
}

// pullOfRun returns the pull request of a run, as policy judges it; for a run of another event the repository with its default branch.
func (s *Service) pullOfRun(ctx context.Context, e EnvironmentEvent, run app.WorkflowRun) (pullrequests.PullRequest, error) {
	of := pullrequests.PullRequest{Installation: e.Installation, Repo: e.Repo, RepoID: e.RepoID, Head: run.Head, Base: e.Branch}
	if !strings.HasPrefix(run.Event, "pull_request") || run.Fork || len(e.PullRequests) == 0 {
		return of, nil
	}
	pr := of
	pr.Number = e.PullRequests[0]
	pr, err := s.askTruth(ctx, pr)
	if errors.Is(err, app.ErrNoPullRequest) {
		return of, nil
	}
	return pr, err
}

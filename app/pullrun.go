package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// PullOf is what policy reads of a pull request.
func PullOf(pr pullrequests.PullRequest) *policy.PullRequest {
	return &policy.PullRequest{
		Repo: pr.Repo, Number: pr.Number, Author: pr.Author, AuthorID: pr.AuthorID, Fork: pr.Fork, Head: pr.Head, Base: pr.Base,
		Draft: pr.Draft, Association: pr.Association, Labels: pr.Labels,
	}
}

// ofPullRequest makes a request one for the pull request of the principal's run, if it asks for that.
func (s *Service) ofPullRequest(ctx context.Context, p policy.Principal, asked CreateRequest, r ClusterRequest) (ClusterRequest, error) {
	if asked.pull != nil {
		return s.againOnPull(ctx, r, *asked.pull)
	}
	if asked.Run == nil || asked.Run.Reuse != policy.ReusePullRequest {
		return r, nil
	}
	run, _ := s.Run(p, asked.Run.PipelineRun)
	return s.forPull(ctx, r, run)
}

// UnseenPull is the mark that GitHub showed the App no such pull request when it was asked.
func UnseenPull(repo string, number int) string { return fmt.Sprintf("unseen %s#%d", repo, number) }

// asksAgain is how long such an answer is given to runs before GitHub is asked again.
const asksAgain = time.Minute

// forPull makes a run's request one for its pull request: for the cluster that this has of the profile, or else for a new one that ends
// with the pull request. The state of the pull request is the newest that was seen, because the API cannot ask GitHub; who looks at the
// cluster's pull request next corrects its end. The repository's file does not count: the run asks by its own role.
func (s *Service) forPull(ctx context.Context, r ClusterRequest, run policy.Run) (ClusterRequest, error) {
	if why := s.whyUnwatched(run); why != "" { // another GitHub may have a repository of the same name and number
		return r, Fail(Conflict, fmt.Sprintf("GitHub cannot be asked about %s#%d: %s. Leave reuse out, or set it to run.", run.Repo, run.Pull, why))
	}
	pr, err := s.store.PullRequests.PullRequest(ctx, run.Repo, run.Pull)
	switch {
	case errors.Is(err, db.ErrNotFound), err == nil && fmt.Sprint(pr.RepoID) != run.Scope:
		return r, s.unknownPull(ctx, run)
	case err != nil:
		return r, fmt.Errorf("read the pull request: %w", err)
	case !pr.Open:
		return r, Fail(Conflict, messages.PullRequestClosed(run.Repo, run.Pull))
	}
	p := r.Request.Principal
	return s.attachPull(ctx, r, pr, func(row clusters.Row) error { return checkReusable(p, row) })
}

// attachPull makes a request one for a pull request. reuse judges whether the requester gets the cluster that the pull request has of the profile.
func (s *Service) attachPull(ctx context.Context, r ClusterRequest, pr pullrequests.PullRequest, reuse func(clusters.Row) error) (ClusterRequest, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return r, fmt.Errorf("read the clock: %w", err)
	}
	r.PR, r.Request.PR = pr, PullOf(pr)
	r.Request.Profile = policy.ProfileOf(r.Request, r.catalogue.Terms(now))
	newest, err := s.store.ClusterForPR(ctx, pr.Repo, pr.Number, r.Request.Profile)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return r, fmt.Errorf("look for the pull request's cluster: %w", err)
	}
	r.Request.Generation, r.run = newest.Generation+1, nil
	r.pull = &store.PullAsk{Repo: pr.Repo, Number: pr.Number, Profile: r.Request.Profile, Reuse: reuse}
	return r, nil
}

// unknownPull has GitHub asked about a run's pull request, of which nothing is known: GitHub's webhook is slower than the run, or the
// pull request had no label of ours. It returns what to tell the run meanwhile.
func (s *Service) unknownPull(ctx context.Context, run policy.Run) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	mark := UnseenPull(run.Repo, run.Pull)
	unseen, err := s.store.Inbox.Marks(ctx, []string{mark})
	if err != nil {
		return err
	}
	if at, ok := unseen[mark]; ok && now.Sub(at) < asksAgain {
		return Fail(Conflict, fmt.Sprintf("GitHub does not show %s#%d to ocpctl's App. An owner of the repository has to install the App there; then ask again.", run.Repo, run.Pull))
	}
	if err := s.store.PullRequests.AskAbout(ctx, run.Repo, run.Pull); err != nil {
		return err
	}
	return Fail(Busy, fmt.Sprintf("Nothing is known of %s#%d yet, and GitHub is being asked. Ask again in a few seconds.", run.Repo, run.Pull))
}

package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Retry does what people mean by it: the next try of a teardown starts now, or a cluster that failed or is gone is requested once more, by
// whoever asks first and may act on that cluster. It returns the cluster, or the new one and true.
func (s *Service) Retry(ctx context.Context, p policy.Principal, ref string, origin Origin) (row clusters.Row, again bool, err error) {
	row, origin, err = s.Authorize(ctx, p, ref, policy.ActRetry, origin)
	if err != nil {
		return clusters.Row{}, false, err
	}
	if row.Phase != lifecycle.Released && row.Phase != lifecycle.CreateFailed {
		row, err = s.RetryTeardown(ctx, p, ref, origin)
		return row, false, err
	}
	r := s.Alike(row)
	r.Source, r.Again.Once = origin.Source, true
	if r.Name == "" && row.PR == nil {
		r.Name = policy.PersonName(row.Owner, row.ID)
	}
	made, err := s.Create(ctx, p, r)
	if err != nil {
		return clusters.Row{}, false, err
	}
	if made.Row.ID == "" {
		return clusters.Row{}, false, Refused(made.Verdict, nil)
	}
	row, err = s.Cluster(ctx, p, made.Row.ID) // somebody else may have asked first, and handed theirs to another team
	return row, true, err
}

// Alike returns the request for a cluster like an earlier one, in its place: with the same choices and for the same owner, because who helps
// does not become the owner. It keeps the name if that is free, and follows the same pull request.
func (s *Service) Alike(row clusters.Row) CreateRequest {
	r := CreateRequest{
		Profile: row.Profile, Region: row.Region, Version: row.Release, BaseDomain: row.BaseDomain, Team: row.Team, CostCenter: row.CostCenter, Environment: row.Environment,
		TTL: s.policy.Asked(row.TTL), Addons: &row.Addons, OffhoursOptIn: row.Spec.OffHoursChosen, Owner: row.Owner, Again: Again{Of: row.ID}, pull: row.PR,
	}
	if row.Exclusive {
		r.Account = profiles.ExclusiveAccount
	}
	if row.Spec.RegionUsual { // whatever keeps new clusters from there may have made it fail
		r.Region = ""
	}
	if IsGone(row) && row.PR == nil {
		r.Name = row.Name
	}
	return r
}

// OfPull reports whether the request is for a pull request, which names the cluster.
func (r CreateRequest) OfPull() bool { return r.pull != nil }

// againOnPull makes a request one for the pull request of an earlier cluster. As for runs, the state of the pull request is the newest that was
// seen, and the repository's file does not count. It may refuse forks, so of them only a comment there is taken, which reads it.
func (s *Service) againOnPull(ctx context.Context, r ClusterRequest, of clusters.PRRef) (ClusterRequest, error) {
	pr, err := s.store.PullRequests.PullRequest(ctx, of.Repo, of.Number)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return r, Fail(Conflict, fmt.Sprintf("Nothing is known of %s#%d any more. Label the pull request again.", of.Repo, of.Number))
	case err != nil:
		return r, fmt.Errorf("read the pull request: %w", err)
	case !pr.Open:
		return r, Fail(Conflict, messages.PullRequestClosed(of.Repo, of.Number))
	case pr.Fork:
		return r, Fail(Conflict, fmt.Sprintf("%s#%d comes from a fork, and the repository's file says whether it gets a cluster. Comment /ocp retry on the pull request.", of.Repo, of.Number))
	}
	r.Request.Ownership = s.OwnershipOf(pr.Repo)
	return s.attachPull(ctx, r, pr, func(row clusters.Row) error {
		return Fail(Conflict, fmt.Sprintf("%s#%d has a cluster of profile %s: %s, which is %s.", pr.Repo, pr.Number, row.Profile, row.Name, row.Status))
	})
}

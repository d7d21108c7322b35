package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Approval is an approval as one principal sees it.
type Approval struct {
	clusters.Approval
	MayVote bool   // the principal's vote would count
	WhyNot  string // else why not, and whom to ask
}

// SeenBy returns an approval as one principal sees it.
func (s *Service) SeenBy(p policy.Principal, a clusters.Approval) Approval {
	out := Approval{Approval: a, MayVote: true}
	if err := s.mayVote(p, a); err != nil {
		out.MayVote, out.WhyNot = false, err.Error()
	}
	return out
}

// Approvals returns a page of the approvals that the principal may see: its teams', and those it requested itself.
func (s *Service) Approvals(ctx context.Context, p policy.Principal, f store.ApprovalFilter) ([]Approval, string, error) {
	if len(p.Seats) == 0 {
		return nil, "", noRoleError(p)
	}
	if f.Cluster != "" {
		row, err := s.Cluster(ctx, p, f.Cluster)
		if err != nil {
			return nil, "", err
		}
		f.Cluster = row.ID
	}
	if teams, every := p.Teams(policy.RolesFor(policy.ActSee)...); !every {
		f.Teams, f.Principal = append([]string{}, teams...), p.ID
	}
	page, next, err := s.store.Approvals(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("list approvals: %w", err)
	}
	out := make([]Approval, 0, len(page))
	for _, a := range page {
		out = append(out, s.SeenBy(p, a))
	}
	return out, next, nil
}

// Approval returns one approval with its votes, if the principal may see it.
func (s *Service) Approval(ctx context.Context, p policy.Principal, id string) (Approval, error) {
	a, err := s.store.Approval(ctx, id)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return Approval{}, fmt.Errorf("read approval: %w", err)
	}
	if len(p.Seats) == 0 {
		return Approval{}, noRoleError(p)
	}
	mine, lookErr := s.isSamePerson(ctx, p, a.RequestedBy)
	if lookErr != nil {
		return Approval{}, lookErr
	}
	if err != nil || !p.May(policy.ActSee, a.Team) && !mine {
		return Approval{}, Fail(NotFound, fmt.Sprintf("You have no approval %q. See the list of approvals.", id))
	}
	return s.SeenBy(p, a), nil
}

// Vote adds the principal's vote to an approval. One refusal ends it and needs a reason.
func (s *Service) Vote(ctx context.Context, p policy.Principal, id string, approves bool, origin Origin) (Approval, error) {
	a, err := s.Approval(ctx, p, id)
	if err != nil {
		return Approval{}, err
	}
	if err := s.mayVote(p, a.Approval); err != nil {
		return Approval{}, err
	}
	if origin, err = CheckReason(origin, !approves); err != nil {
		return Approval{}, err
	}
	origin.Version = 0
	now, err := s.store.Vote(ctx, id, approves, s.StoreOrigin(origin, p))
	switch {
	case errors.Is(err, store.ErrOwnApproval):
		return Approval{}, ownRequest(a.Approval)
	case errors.Is(err, db.ErrStale):
		return Approval{}, Fail(Conflict, "The pull request has a newer commit, so this approval is void. The list of approvals shows the one for the newest commit.")
	case errors.Is(err, db.ErrConflict):
		return Approval{}, Fail(Conflict, "This approval is no longer pending, or you have already voted.")
	case err != nil:
		return Approval{}, fmt.Errorf("vote: %w", err)
	}
	return s.SeenBy(p, now), nil
}

// mayVote returns the error that keeps the principal from voting, as far as roles decide; the store checks the rest.
func (s *Service) mayVote(p policy.Principal, a clusters.Approval) error {
	switch obstacleToVote(p, a) {
	case policy.NotPermitted:
		return Fail(Denied, messages.NotYourApproval(votingRoles(a.ByRole), a.Team, p))
	case policy.NotWaiting:
		return Fail(Conflict, sayApprovalOver(string(a.State), a.DecidedWhy))
	case policy.HasVoted:
		return Fail(Conflict, fmt.Sprintf("You have already voted. It has %d of the %d votes it needs.", CountApprovals(a), a.Needs))
	case policy.OwnRequest:
		return ownRequest(a)
	}
	if a.Kind.BreakGlass() && !s.mayGrant(p, a) {
		return Fail(Denied, fmt.Sprintf("The credentials of %s give access to the control plane's own cloud keys, and you may not use them yourself. "+
			"Only a platform admin of every team can approve this. Ask one of them.", a.ClusterName))
	}
	return nil
}

// obstacleToVote returns what keeps the principal from voting on an approval, by roles and votes; empty: nothing.
func obstacleToVote(p policy.Principal, a clusters.Approval) policy.Obstacle {
	switch {
	case !p.Has(a.Team, votingRoles(a.ByRole)...):
		return policy.NotPermitted
	case a.State != clusters.ApprovalPending:
		return policy.NotWaiting
	case slices.ContainsFunc(a.Votes, func(v clusters.ApprovalVote) bool { return v.Principal == p.ID }):
		return policy.HasVoted
	case a.RequestedBy == p.ID && !a.Self:
		return policy.OwnRequest
	}
	return ""
}

// mayGrant reports whether somebody may let another see what the installer made: whoever may open the cluster themselves and, if its
// profile says so, every platform admin of its team.
func (s *Service) mayGrant(p policy.Principal, a clusters.Approval) bool {
	if mayOpen(p, a.CredentialsMode) {
		return true
	}
	profile, known := s.catalogue().Get(a.Profile)
	return known && profile.TeamBreakGlass
}

func votingRoles(role string) []policy.Role {
	if role == string(policy.Requester) {
		return []policy.Role{policy.Requester, policy.PlatformAdmin}
	}
	return []policy.Role{policy.PlatformAdmin}
}

// CountApprovals returns how many votes approve.
func CountApprovals(a clusters.Approval) (n int) {
	for _, v := range a.Votes {
		if v.Approves {
			n++
		}
	}
	return n
}

func ownRequest(a clusters.Approval) error {
	if a.Kind.BreakGlass() {
		return Fail(Denied, "You requested this yourself, so another platform admin has to approve it.")
	}
	return Fail(Denied, messages.OwnRequest(a.Needs, votingRoles(a.ByRole), a.Team))
}

// sayApprovalOver tells somebody that an approval is no longer pending, and why if that is known.
func sayApprovalOver(state, why string) string {
	if why != "" {
		why = " (" + why + ")"
	}
	return fmt.Sprintf("This approval is %s%s and no longer pending.", state, why)
}

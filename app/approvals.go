package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// Approval is an approval as one principal sees it.
type Approval struct {
	store.Approval
	MayVote bool   // the principal's vote would count
	WhyNot  string // else why not, and whom to ask
}

// SeenBy returns an approval as one principal sees it.
func (d *Service) SeenBy(p policy.Principal, a store.Approval) Approval {
	out := Approval{Approval: a, MayVote: true}
	if err := d.mayVote(p, a); err != nil {
		out.MayVote, out.WhyNot = false, err.Error()
	}
	return out
}

// Approvals returns a page of the approvals that the principal may see: its teams', and those it requested itself.
func (d *Service) Approvals(ctx context.Context, p policy.Principal, f store.ApprovalFilter) ([]Approval, string, error) {
	if len(p.Seats) == 0 {
		return nil, "", seatless()
	}
	if f.Cluster != "" {
		row, err := d.Seen(ctx, p, f.Cluster)
		if err != nil {
			return nil, "", err
		}
		f.Cluster = row.ID
	}
	if teams, every := p.Teams(policy.RolesFor(policy.ActSee)...); !every {
		f.Teams, f.Principal = append([]string{}, teams...), p.ID
	}
	page, next, err := d.store.Approvals(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("list approvals: %w", err)
	}
	out := make([]Approval, 0, len(page))
	for _, a := range page {
		out = append(out, d.SeenBy(p, a))
	}
	return out, next, nil
}

// Approval returns one approval with its votes, if the principal may see it.
func (d *Service) Approval(ctx context.Context, p policy.Principal, id string) (Approval, error) {
	a, err := d.store.Approval(ctx, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Approval{}, fmt.Errorf("read approval: %w", err)
	}
	if len(p.Seats) == 0 {
		return Approval{}, seatless()
	}
	mine, lookErr := d.same(ctx, p, a.RequestedBy)
	if lookErr != nil {
		return Approval{}, lookErr
	}
	if err != nil || !p.May(policy.ActSee, a.Team) && !mine {
		return Approval{}, Fail(NotFound, "There is no approval %s that you may see. The list of approvals shows yours.", id)
	}
	return d.SeenBy(p, a), nil
}

// Vote adds the principal's vote to an approval. One refusal ends it and needs a reason.
func (d *Service) Vote(ctx context.Context, p policy.Principal, id string, approves bool, origin Origin) (Approval, error) {
	a, err := d.Approval(ctx, p, id)
	if err != nil {
		return Approval{}, err
	}
	if err := d.mayVote(p, a.Approval); err != nil {
		return Approval{}, err
	}
	if origin, err = CheckReason(origin, !approves); err != nil {
		return Approval{}, err
	}
	origin.Version = 0
	now, err := d.store.Vote(ctx, id, approves, d.StoreOrigin(origin, p))
	switch {
	case errors.Is(err, store.ErrOwnApproval):
		return Approval{}, ownRequest(a.Approval)
	case errors.Is(err, store.ErrStale):
		return Approval{}, Fail(Conflict, "The pull request has a newer commit, so this approval is void. The list of approvals shows the one for the newest commit.")
	case errors.Is(err, store.ErrConflict):
		return Approval{}, Fail(Conflict, "This approval is no longer pending, or you have already voted.")
	case err != nil:
		return Approval{}, fmt.Errorf("vote: %w", err)
	}
	return d.SeenBy(p, now), nil
}

// mayVote returns the error that keeps the principal from voting, as far as roles decide; the store checks the rest.
func (d *Service) mayVote(p policy.Principal, a store.Approval) error {
	voted := slices.ContainsFunc(a.Votes, func(v store.ApprovalVote) bool { return v.Principal == p.ID })
	switch {
	case !p.Has(a.Team, voters(a.ByRole)...):
		return Fail(Denied, "Only %s of team %s can approve this; %s. Ask one of them.", voterText(a.ByRole), a.Team, p.OwnRole(a.Team))
	case a.State != store.ApprovalPending:
		return Fail(Conflict, "This approval is %s%s and no longer pending.", a.State, because(a.DecidedWhy))
	case voted:
		return Fail(Conflict, "You have already voted. It has %d of the %d votes it needs.", CountApprovals(a), a.Needs)
	case a.RequestedBy == p.ID && !a.Self:
		return ownRequest(a)
	case a.Kind == store.ApproveKubeadmin && !d.mayGrantPassword(p, a):
		return Fail(Denied, "The credentials of %s give access to the control plane's own cloud keys, and you may not use them yourself. "+
			"Only a platform admin of every team can approve this. Ask one of them.", a.ClusterName)
	}
	return nil
}

// mayGrantPassword reports whether somebody may let another see a cluster's password: whoever may open the cluster themselves
// and, if its profile says so, every platform admin of its team.
func (d *Service) mayGrantPassword(p policy.Principal, a store.Approval) bool {
	if mayOpen(p, a.CredentialsMode) {
		return true
	}
	profile, known := d.catalogue().Get(a.Profile)
	return known && profile.TeamBreakGlass
}

func voters(role string) []policy.Role {
	if role == string(policy.Requester) {
		return []policy.Role{policy.Requester, policy.PlatformAdmin}
	}
	return []policy.Role{policy.PlatformAdmin}
}

func voterText(role string) string {
	words := make([]string, 0, 2)
	for _, r := range voters(role) {
		words = append(words, "a "+r.Text())
	}
	return strings.Join(words, " or ")
}

// CountApprovals returns how many votes approve.
func CountApprovals(a store.Approval) (n int) {
	for _, v := range a.Votes {
		if v.Approves {
			n++
		}
	}
	return n
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func ownRequest(a store.Approval) error {
	if a.Kind == store.ApproveKubeadmin {
		return Fail(Denied, "You requested this yourself, so another platform admin has to approve it.")
	}
	if a.Needs == 1 {
		return Fail(Denied, "You requested this yourself, so somebody else has to approve it. Ask %s of team %s.", voterText(a.ByRole), a.Team)
	}
	return Fail(Denied, "You requested this yourself; it needs the approval of %d others.", a.Needs)
}

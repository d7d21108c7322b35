package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/people"
)

// ClusterIDPrefix begins the id of every cluster; a name cannot contain its underscore.
const ClusterIDPrefix = "clu_"

// Cluster returns the cluster that ref means, by id or name (see named), if the principal may see it. A cluster that may not be
// seen gives the same error as one that does not exist.
func (s *Service) Cluster(ctx context.Context, p policy.Principal, ref string) (store.Row, error) {
	row, access, err := s.look(ctx, p, ref)
	if err != nil {
		return store.Row{}, err
	}
	if access == "" {
		return store.Row{}, unseen(p, ref)
	}
	return row, nil
}

// Authorize finds the cluster that ref means and asks policy whether the principal may do something to it. The origin that it
// returns carries policy's answer to the audit trail. A refusal is an Error, and is recorded under the cluster it is about; it
// reveals nothing of a cluster that may not be seen.
func (s *Service) Authorize(ctx context.Context, p policy.Principal, ref string, act policy.Act, origin Origin) (store.Row, Origin, error) {
	row, access, err := s.look(ctx, p, ref)
	if err != nil {
		return store.Row{}, origin, err
	}
	request := policy.Request{Principal: p, Source: origin.Source}
	shown := access != ""
	if origin.Repository != nil {
		request = *origin.Repository
		request.Principal = p // whoever linked the account, where the caller asks for them and not for the GitHub login
		shown = shown || row.PR != nil && request.PR != nil && row.PR.Repo == request.PR.Repo && row.PR.Number == request.PR.Number
	}
	if !shown {
		return store.Row{}, origin, s.refuse(ctx, p, ref, act, origin, unseen(p, ref), messages.BecauseUnseen)
	}
	verdict := policy.Authorize(request, act, &policy.Target{
		Name: row.Name, Team: row.Team, RequestedBy: row.RequestedBy, HoldsKeys: row.Spec.CredentialsMode == minted, Access: policy.Access(access),
	})
	origin.verdict = &verdict
	if !verdict.Allowed {
		refusal := Fail(Denied, messages.CheckText(verdict.Refusals()[0]))
		return store.Row{}, origin, s.refuse(ctx, p, ref, act, origin, refusal, refusal.Message)
	}
	return row, origin, nil
}

// refuse records a refusal under every cluster that ref can mean, and returns it.
func (s *Service) refuse(ctx context.Context, p policy.Principal, ref string, act policy.Act, origin Origin, refusal *Error, why string) error {
	action := strings.ReplaceAll(string(act), "-", "_") + ".refused"
	if act == policy.ActBreakGlass {
		action = "kubeadmin.refused"
	}
	rows, err := s.clustersMeant(ctx, ref)
	if err != nil {
		return fmt.Errorf("look for what was refused: %w", err)
	}
	said := s.StoreOrigin(origin, p)
	for _, row := range rows {
		if err := s.store.AuditRefusal(ctx, said, action, row.ID, why); err != nil {
			return fmt.Errorf("record the refusal: %w", err)
		}
	}
	return refusal
}

// clustersMeant returns the clusters that a reference can mean, whoever asks.
func (s *Service) clustersMeant(ctx context.Context, ref string) ([]store.Row, error) {
	if strings.HasPrefix(ref, ClusterIDPrefix) {
		row, err := s.store.Cluster(ctx, ref)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		return []store.Row{row}, err
	}
	rows, _, err := s.store.List(ctx, store.Filter{Named: ref, Live: true})
	if err == nil && len(rows) == 0 { // then the name is that of the newest released cluster
		rows, _, err = s.store.List(ctx, store.Filter{Named: ref, Limit: 1})
	}
	return rows, err
}

// minted is the credentials mode in which the runner's keys lie in the cluster; see profiles.Profile.AdminOnly.
const minted = "Mint"

// MayOpen reports whether the principal may open a cluster at all, whoever owns or shares it: one that holds the control plane's
// own keys is only for those who may have these keys.
func MayOpen(p policy.Principal, row store.Row) bool {
	return mayOpen(p, row.Spec.CredentialsMode)
}

func mayOpen(p policy.Principal, credentialsMode string) bool {
	return credentialsMode != minted || p.MayHoldKeys()
}

// look finds a cluster and the principal's access to it: see, use, or none. Membership in its team gives more than either.
func (s *Service) look(ctx context.Context, p policy.Principal, ref string) (store.Row, people.Access, error) {
	if !strings.HasPrefix(ref, ClusterIDPrefix) {
		return s.named(ctx, p, ref)
	}
	row, err := s.store.Cluster(ctx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return store.Row{}, "", nil
	}
	if err != nil {
		return store.Row{}, "", fmt.Errorf("read cluster: %w", err)
	}
	access, err := s.access(ctx, p, row)
	return row, access, err
}

// named finds the cluster with a name among those the principal may see: the live one, else the newest released one, so that
// people can still read what became of it. Two live clusters with one name, on two base domains, can only be told apart by id.
func (s *Service) named(ctx context.Context, p policy.Principal, name string) (store.Row, people.Access, error) {
	f := sight(p)
	f.Named, f.Live = name, true
	rows, _, err := s.store.List(ctx, f)
	switch {
	case err != nil:
		return store.Row{}, "", fmt.Errorf("look for %s: %w", name, err)
	case len(rows) == 0:
		f.Live, f.Limit = false, 1
		if rows, _, err = s.store.List(ctx, f); err != nil {
			return store.Row{}, "", fmt.Errorf("look for %s among those that are gone: %w", name, err)
		}
		if len(rows) == 0 {
			return store.Row{}, "", nil
		}
	case len(rows) > 1:
		return store.Row{}, "", Fail(Conflict, messages.SeveralClusters(name, cardsOf(rows)))
	}
	access, err := s.access(ctx, p, rows[0])
	return rows[0], access, err
}

// access returns the principal's access to a cluster: use, see, or none. Further rights of its team's members follow from their
// roles. A share with a team counts for those who could use, or see, the team's own clusters.
func (s *Service) access(ctx context.Context, p policy.Principal, row store.Row) (people.Access, error) {
	if p.May(policy.ActKubeconfig, row.Team) {
		return people.AccessUse, nil
	}
	users, _ := p.Teams(policy.RolesFor(policy.ActKubeconfig)...)
	access, err := s.store.People.SharedWith(ctx, row.ID, p.ID, users)
	if err != nil || access != "" {
		return access, err
	}
	if p.May(policy.ActSee, row.Team) {
		return people.AccessSee, nil
	}
	viewers, _ := p.Teams(policy.RolesFor(policy.ActSee)...)
	if access, err = s.store.People.SharedWith(ctx, row.ID, p.ID, viewers); access == people.AccessUse {
		access = people.AccessSee // the principal may only look in that team
	}
	return access, err
}

// sight limits a list to what the principal may see: its teams' clusters, and those shared with it.
func sight(p policy.Principal) store.Filter {
	teams, every := p.Teams(policy.RolesFor(policy.ActSee)...)
	if every {
		return store.Filter{}
	}
	return store.Filter{Principal: p.ID, Teams: append([]string{}, teams...)}
}

// unseen is the error for a cluster that does not exist, or that this principal may not see.
func unseen(p policy.Principal, ref string) *Error {
	if len(p.Seats) == 0 {
		return seatless(p)
	}
	return Fail(NotFound, messages.NoCluster(ref))
}

// seatless is the error for somebody without any role. A workflow that no identity may match is told why.
func seatless(p policy.Principal) *Error {
	if p.Proof != nil && p.Proof.UntrustedEvent() {
		return Fail(Denied, messages.NoRoleOnTarget)
	}
	return Fail(Denied, messages.NoRole)
}

func cardsOf(rows []store.Row) []lifecycle.Card {
	cards := make([]lifecycle.Card, 0, len(rows))
	for _, row := range rows {
		cards = append(cards, row.Card)
	}
	return cards
}

// MayForEverybody returns an error unless the principal may do an act that concerns the whole installation. what is one of the
// texts of chatops that complete "To … you need the role …".
func MayForEverybody(p policy.Principal, act policy.Act, what string) error {
	if p.MayAnywhere(act) {
		return nil
	}
	if len(p.Seats) == 0 {
		return seatless(p)
	}
	if p.HasAnywhere(policy.RolesFor(act)...) {
		return Fail(Denied, messages.NeedsRoleEverywhere(what, act))
	}
	return Fail(Denied, messages.NeedsRole(what, act, p.Role()))
}

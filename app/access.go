package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// ClusterIDPrefix begins the id of every cluster; a name cannot contain its underscore.
const ClusterIDPrefix = "clu_"

// Cluster returns the cluster that ref means, by id or name (see named), if the principal may see it. A cluster that may not be
// seen gives the same error as one that does not exist.
func (s *Service) Cluster(ctx context.Context, p policy.Principal, ref string) (clusters.Row, error) {
	row, held, err := s.findVisible(ctx, p, ref)
	if err != nil {
		return clusters.Row{}, err
	}
	if held.Access == "" {
		return clusters.Row{}, s.reportMissing(ctx, p, ref)
	}
	return row, nil
}

// Authorize finds the cluster that ref means and asks policy whether the principal may do something to it. The origin that it
// returns carries policy's answer to the audit trail. A refusal is an Error, and is recorded under the cluster it is about; it
// reveals nothing of a cluster that may not be seen.
func (s *Service) Authorize(ctx context.Context, p policy.Principal, ref string, act policy.Act, origin Origin) (clusters.Row, Origin, error) {
	row, _, origin, err := s.authorizeAct(ctx, p, ref, act, "", origin)
	return row, origin, err
}

// Right is what lets a principal use a cluster.
type Right struct {
	Role policy.ClusterRole // the one that was asked for, otherwise the most that the principal may have
	By   string             // access.OwnRight, or the share, see access.ShareRight
}

// AuthorizeAccess is Authorize for a kubeconfig with a role; empty: the most that the principal may have.
func (s *Service) AuthorizeAccess(ctx context.Context, p policy.Principal, ref string, asked policy.ClusterRole, origin Origin) (clusters.Row, Right, Origin, error) {
	if asked != "" && !asked.Known() {
		return clusters.Row{}, Right{}, origin, &Error{Kind: Invalid, Message: messages.CannotGiveAccess, Fields: []Field{
			ProblemOf("role", messages.UnknownClusterRole(string(asked))),
		}}
	}
	row, held, origin, err := s.authorizeAct(ctx, p, ref, policy.ActKubeconfig, asked, origin)
	if err != nil {
		return clusters.Row{}, Right{}, origin, err
	}
	right := Right{Role: cmp.Or(asked, policy.ClusterRole(held.Role)), By: access.OwnRight}
	if held.Grantee != "" {
		right.By = access.ShareRight(held.Kind, held.Grantee)
	}
	return row, right, origin, nil
}

// authorizeAct is Authorize, with what the principal holds of the cluster.
func (s *Service) authorizeAct(ctx context.Context, p policy.Principal, ref string, act policy.Act, asked policy.ClusterRole, origin Origin) (clusters.Row, people.Share, Origin, error) {
	row, held, err := s.findVisible(ctx, p, ref)
	if err != nil {
		return clusters.Row{}, held, origin, err
	}
	request := policy.Request{Principal: p, Source: origin.Source}
	shown := held.Access != ""
	if origin.Repository != nil {
		request = *origin.Repository
		request.Principal = p // whoever linked the account, where the caller asks for them and not for the GitHub login
		shown = shown || row.PR != nil && request.PR != nil && row.PR.Repo == request.PR.Repo && row.PR.Number == request.PR.Number
	}
	if !shown {
		return clusters.Row{}, held, origin, s.recordRefusal(ctx, p, ref, act, origin, s.reportMissing(ctx, p, ref), "not permitted to see the cluster")
	}
	ofRun, err := s.ownsCluster(ctx, p, row)
	if err != nil {
		return clusters.Row{}, held, origin, err
	}
	own, err := s.isSamePerson(ctx, p, row.RequestedBy)
	if err != nil {
		return clusters.Row{}, held, origin, err
	}
	verdict := policy.Authorize(request, act, &policy.Target{
		Name: row.Name, Team: row.Team, Own: own, HoldsKeys: row.Spec.CredentialsMode == minted, Access: policy.Access(held.Access), OfRun: ofRun,
		Role: policy.ClusterRole(held.Role), Asked: asked, Pool: waitsIn(row),
	})
	origin.verdict = &verdict
	if !verdict.Allowed {
		refusal := Fail(Denied, messages.CheckText(verdict.Refusals()[0]))
		return clusters.Row{}, held, origin, s.recordRefusal(ctx, p, ref, act, origin, refusal, refusal.Message)
	}
	return row, held, origin, nil
}

// recordRefusal records a refusal under every cluster that ref can mean, and returns it.
func (s *Service) recordRefusal(ctx context.Context, p policy.Principal, ref string, act policy.Act, origin Origin, refusal *Error, why string) error {
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
func (s *Service) clustersMeant(ctx context.Context, ref string) ([]clusters.Row, error) {
	if strings.HasPrefix(ref, ClusterIDPrefix) {
		row, err := s.store.Cluster(ctx, ref)
		if errors.Is(err, db.ErrNotFound) {
			return nil, nil
		}
		return []clusters.Row{row}, err
	}
	rows, _, err := s.store.List(ctx, store.Filter{Named: ref, Live: true})
	if err == nil && len(rows) == 0 { // then the name is that of the newest released cluster
		rows, _, err = s.store.List(ctx, store.Filter{Named: ref, Limit: 1})
	}
	return rows, err
}

// UsualAccess is how long a kubeconfig is valid unless somebody asks for less or more, and LeastAccess the shortest that can be made.
const (
	UsualAccess = 8 * time.Hour
	LeastAccess = profiles.LeastAccess
)

// MostAccess is how long a kubeconfig of a cluster may be valid: the installation's limit, and the profile's as of the cluster's acceptance.
func (s *Service) MostAccess(row clusters.Row) time.Duration {
	most := s.accessMost
	if row.Spec.AccessMost > 0 {
		most = min(most, row.Spec.AccessMost)
	}
	return most
}

// UsualAccess is how long a kubeconfig of a cluster is valid unless somebody asks for less or more.
func (s *Service) UsualAccess(row clusters.Row) time.Duration {
	return min(UsualAccess, s.MostAccess(row))
}

// accessAsk is the access that whoever asks for a cluster gets with it; nil: their roles do not allow it, or it would not end with the run
// that asks, to which the cluster is not bound. Such a run asks for access when it uses the cluster.
func (s *Service) accessAsk(r ClusterRequest, row clusters.Row) *access.Ask {
	if r.pool != nil {
		return nil
	}
	p := r.Request.Principal
	_, ofRun := s.Run(p, policy.PipelineRun{})
	if !p.MayOnOwn(policy.ActKubeconfig, row.Team) || !MayOpen(p, row) || ofRun && r.run == nil {
		return nil
	}
	return &access.Ask{Reader: p.ID, ReaderName: cmp.Or(p.Name, p.ID), Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: s.UsualAccess(row)}
}

// minted is the credentials mode in which the runner's keys lie in the cluster; see profiles.Profile.AdminOnly.
const minted = "Mint"

// MayOpen reports whether the principal may open a cluster at all, whoever owns or shares it: one that holds the control plane's
// own keys is only for those who may have these keys.
func MayOpen(p policy.Principal, row clusters.Row) bool {
	return mayOpen(p, row.Spec.CredentialsMode)
}

func mayOpen(p policy.Principal, credentialsMode string) bool {
	return credentialsMode != minted || p.MayHoldKeys()
}

// findVisible finds a cluster and what the principal holds of it, see access.
func (s *Service) findVisible(ctx context.Context, p policy.Principal, ref string) (clusters.Row, people.Share, error) {
	if !strings.HasPrefix(ref, ClusterIDPrefix) {
		return s.findByName(ctx, p, ref)
	}
	row, err := s.store.Cluster(ctx, ref)
	if errors.Is(err, db.ErrNotFound) {
		return clusters.Row{}, people.Share{}, nil
	}
	if err != nil {
		return clusters.Row{}, people.Share{}, fmt.Errorf("read cluster: %w", err)
	}
	held, err := s.shareOf(ctx, p, row)
	return row, held, err
}

// findByName finds the cluster with a name among those the principal may see: the live one, else the newest released one, so that
// people can still read what became of it. Two live clusters with one name, on two base domains, can only be told apart by id.
func (s *Service) findByName(ctx context.Context, p policy.Principal, name string) (clusters.Row, people.Share, error) {
	f := visibleFilter(p)
	f.Named, f.Live = name, true
	rows, _, err := s.store.List(ctx, f)
	switch {
	case err != nil:
		return clusters.Row{}, people.Share{}, fmt.Errorf("look for %s: %w", name, err)
	case len(rows) == 0:
		f.Live, f.Limit = false, 1
		if rows, _, err = s.store.List(ctx, f); err != nil {
			return clusters.Row{}, people.Share{}, fmt.Errorf("look for %s among those that are gone: %w", name, err)
		}
		if len(rows) == 0 {
			return clusters.Row{}, people.Share{}, nil
		}
	case len(rows) > 1:
		return clusters.Row{}, people.Share{}, Fail(Conflict, saySeveralClusters(name, cardsOf(rows)))
	}
	held, err := s.shareOf(ctx, p, rows[0])
	return rows[0], held, err
}

// shareOf returns what the principal holds of a cluster, as a share: to use it, to see it, or the zero Share. Somebody whose role in the
// cluster's team is enough to use it holds one of no kind, with the role admin. Further rights of the team's members follow from their
// roles. A share with a team counts for those who could use, or see, the team's own clusters.
func (s *Service) shareOf(ctx context.Context, p policy.Principal, row clusters.Row) (people.Share, error) {
	own, err := s.ownsCluster(ctx, p, row)
	if err != nil {
		return people.Share{}, err
	}
	if p.May(policy.ActKubeconfig, row.Team) || own && p.MayOnOwn(policy.ActKubeconfig, row.Team) {
		return people.Share{Access: people.AccessUse, Role: access.RoleAdmin}, nil
	}
	held, err := s.store.People.SharedWith(ctx, row.ID, p.ID, p.TeamsFor(policy.ActKubeconfig))
	if err != nil || held.Access != "" {
		return held, err
	}
	if p.May(policy.ActSee, row.Team) {
		return people.Share{Access: people.AccessSee}, nil
	}
	viewers, _ := p.Teams(policy.RolesFor(policy.ActSee)...)
	if held, err = s.store.People.SharedWith(ctx, row.ID, p.ID, viewers); held.Access == people.AccessUse {
		held.Access, held.Role = people.AccessSee, "" // the principal may only look in that team
	}
	return held, err
}

// ClusterRole returns the most that a principal may have inside a cluster; empty: nothing.
func (s *Service) ClusterRole(ctx context.Context, p policy.Principal, row clusters.Row) (policy.ClusterRole, error) {
	held, err := s.shareOf(ctx, p, row)
	if err != nil {
		return "", fmt.Errorf("look for a role in %s: %w", row.ID, err)
	}
	return policy.ClusterRole(held.Role), nil
}

// visibleFilter limits a list to what the principal may see: its teams' clusters, and those shared with it.
func visibleFilter(p policy.Principal) store.Filter {
	teams, every := p.Teams(policy.RolesFor(policy.ActSee)...)
	if every {
		return store.Filter{}
	}
	return store.Filter{Principal: p.ID, Teams: append([]string{}, teams...)}
}

// reportMissing is the error for a cluster that does not exist, or that this principal may not see. It names one that they may have meant.
func (s *Service) reportMissing(ctx context.Context, p policy.Principal, ref string) *Error {
	if len(p.Seats) == 0 {
		return noRoleError(p)
	}
	next := "See the list of your clusters."
	visible := visibleFilter(p)
	visible.Live, visible.Limit = true, mostSuggested
	rows, _, err := s.store.List(ctx, visible)
	if err != nil { // the answer is right without a suggestion
		rows = nil
	}
	names := make([]string, 0, len(rows))
	for _, row := range rows {
		names = append(names, row.Name)
	}
	if near, ok := closest.Match(ref, names); ok {
		next = fmt.Sprintf("Did you mean %s?", near)
	}
	return Fail(NotFound, fmt.Sprintf("You have no cluster called %s. %s", chatops.Bare(ref, 100), next))
}

// mostSuggested is among how many of somebody's newest clusters the one they may have meant is looked for.
const mostSuggested = 200

// noRoleError is the error for somebody without any role. A workflow that no identity may match is told why.
func noRoleError(p policy.Principal) *Error {
	if p.Proof != nil && p.Proof.UntrustedEvent() {
		return Fail(Denied, "This workflow was triggered by pull_request_target, which anybody who opens a pull request can do, and it often runs their code with "+
			"the repository's rights. No identity of the catalogue names that event for it, so it has no role. Use on: pull_request instead, or ask a platform admin "+
			"for an identity with event_name: [pull_request_target] if the workflow never runs what the pull request brings.")
	}
	if p.Proof != nil && len(p.Proof.Reused) > 0 {
		return Fail(Denied, sayNoRoleByReusedName(p.Proof.ReusedNames()))
	}
	return Fail(Denied, "You are signed in but have no role: no identity of the catalogue matches your account. "+
		"Ask a platform admin for a role in your team.")
}

func cardsOf(rows []clusters.Row) []lifecycle.Card {
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
		return noRoleError(p)
	}
	if p.HasAnywhere(policy.RolesFor(act)...) {
		return Fail(Denied, fmt.Sprintf("To %s you need the role %s in every team, because it concerns all of them; you have it in some. Ask a platform admin of every team.",
			what, policy.RoleText(act)))
	}
	return Fail(Denied, fmt.Sprintf("To %s you need the role %s. You are %s. Ask a platform admin.", what, policy.RoleText(act), p.Role().WithArticle()))
}

// saySeveralClusters tells somebody that a name means several clusters, and their ids.
func saySeveralClusters(name string, cards []lifecycle.Card) string {
	each := make([]string, 0, len(cards))
	for _, c := range cards {
		each = append(each, fmt.Sprintf("%s on %s", c.ID, c.BaseDomain))
	}
	return fmt.Sprintf("%d clusters are called %s: %s. Use the id of the one you mean.", len(cards), name, strings.Join(each, ", "))
}

// sayNoRoleByReusedName tells a job that it has no role because names in its token belong to other numbers.
func sayNoRoleByReusedName(names []policy.JobName) string {
	var texts []string
	for _, n := range names {
		texts = append(texts, fmt.Sprintf("%s %s (number %s)", n.Kind, n.Name, cmp.Or(n.Number, "unknown")))
	}
	return "No identity of the catalogue matches this job by these names of its token, because they belonged to others before: " + strings.Join(texts, ", ") +
		". If this is right, ask a platform admin for an identity that matches the number, for example repository_id."
}

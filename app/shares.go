package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// The kinds of share.
const (
	ShareTeam      = "team"
	SharePrincipal = "principal"
)

// ShareWith returns the share that a command asks for: with a role to use the cluster, without one to see it.
func ShareWith(kind, grantee string, role policy.ClusterRole) people.Share {
	share := people.Share{Kind: kind, Grantee: grantee, Access: people.AccessSee, Role: access.Role(role)}
	if role != "" {
		share.Access = people.AccessUse
	}
	return share
}

// Shares returns the shares of a cluster that the principal may see.
func (s *Service) Shares(ctx context.Context, p policy.Principal, ref string) ([]people.Share, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	return s.listShares(ctx, row)
}

func (s *Service) listShares(ctx context.Context, row clusters.Row) ([]people.Share, error) {
	list, err := s.store.People.Shares(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read shares: %w", err)
	}
	return list, nil
}

// Share gives a team or a principal access to a cluster; a second call changes it. A share to use the cluster has a role in it, edit unless
// another one is given. It returns all the cluster's shares.
func (s *Service) Share(ctx context.Context, p policy.Principal, ref string, share people.Share, origin Origin) ([]people.Share, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActShare, origin)
	if err != nil {
		return nil, err
	}
	if share.Access == "" {
		share.Access = people.AccessSee
	}
	if share.Access == people.AccessUse && share.Role == "" {
		share.Role = access.RoleEdit
	}
	wrong := s.wrongShare(share, row)
	if share.Kind == SharePrincipal && len(wrong) == 0 {
		var problem *messages.Problem
		if share.Grantee, problem = s.principalFor(share.Grantee); problem != nil {
			return nil, wrongShares(ProblemOf("with", *problem))
		}
		if share.Grantee, problem, err = s.PrincipalNamed(ctx, installationOf(row), share.Grantee); err != nil {
			return nil, err
		}
		if problem != nil {
			wrong = append(wrong, ProblemOf("with", *problem))
		}
		own, err := s.isSamePerson(ctx, p, share.Grantee)
		if err != nil {
			return nil, err
		}
		if own {
			wrong = append(wrong, ProblemOf("with", messages.Problem{"this is you: your role gives you access, and the share would give it even without the role", []string{"another person", "a team"}}))
		}
	}
	if len(wrong) > 0 {
		return nil, wrongShares(wrong...)
	}
	err = s.store.People.Share(ctx, row.ID, share, s.StoreOrigin(origin, p))
	if _, err := s.clusterAfter(ctx, row, err, messages.EndedMeanwhile(row.Name, policy.ActShare)); err != nil {
		return nil, err
	}
	return s.listShares(ctx, row)
}

func wrongShares(wrong ...Field) error {
	return &Error{Kind: Invalid, Message: "The cluster cannot be shared like this.", Fields: wrong}
}

// principalFor returns the principal id that a text means: an id as it is, and for a person of the catalogue, by any of their names, the
// identity with which they sign in.
func (s *Service) principalFor(text string) (string, *messages.Problem) {
	if strings.Contains(text, ":") {
		return text, nil
	}
	person := profiles.Spellings(s.catalogue().People)[strings.ToLower(text)]
	for _, source := range []profiles.Source{profiles.SourceSAML, profiles.SourceOIDC, ""} {
		if i := slices.IndexFunc(person.Identities, func(id string) bool { return strings.HasPrefix(id, string(source)) }); i >= 0 {
			return person.Identities[i], nil
		}
	}
	return "", &messages.Problem{fmt.Sprintf("nobody in the catalogue is called %q", text), []string{"the name of a person in the catalogue", principalIDs}}
}

// principalIDs says what a principal's id is.
const principalIDs = "a principal's id, as that person sees it on their own page: saml:…, oidc:…, aws:… or github:…"

func (s *Service) wrongShare(share people.Share, row clusters.Row) (wrong []Field) {
	if share.Access != people.AccessSee && share.Access != people.AccessUse {
		wrong = append(wrong, ProblemOf("access", sayUnknownAccess(string(share.Access), string(people.AccessSee), string(people.AccessUse))))
	}
	switch {
	case share.Access == people.AccessSee && share.Role != "":
		wrong = append(wrong, ProblemOf("role", messages.Problem{"a share that only shows the cluster has no role in it", []string{"no role", "access use"}}))
	case share.Access == people.AccessUse && !policy.ClusterRole(share.Role).Known():
		wrong = append(wrong, ProblemOf("role", messages.UnknownClusterRole(string(share.Role))))
	}
	_, known, declared := s.catalogue().Team(share.Grantee)
	switch {
	case share.Kind != ShareTeam && share.Kind != SharePrincipal:
		wrong = append(wrong, ProblemOf("kind", sayUnknownGrantee(share.Kind, ShareTeam, SharePrincipal)))
	case share.Kind == ShareTeam && share.Grantee == row.Team:
		wrong = append(wrong, ProblemOf("with", messages.Problem{"the cluster already belongs to this team", []string{"another team"}}))
	case share.Kind == ShareTeam && (declared && !known || !profiles.TeamName(share.Grantee)):
		wrong = append(wrong, ProblemOf("with", messages.UnknownShareTeam(share.Grantee)))
	case share.Kind == SharePrincipal && (share.Grantee == "" || len(share.Grantee) > maxPrincipal):
		wrong = append(wrong, ProblemOf("with", messages.Problem{"it is empty or too long", []string{principalIDs}}))
	}
	return wrong
}

// maxPrincipal is the most bytes of a principal's id.
const maxPrincipal = 500

// Unshare removes a share and returns the remaining ones. The principal that it was for may remove it too.
func (s *Service) Unshare(ctx context.Context, p policy.Principal, ref, kind, grantee string, origin Origin) ([]people.Share, error) {
	act := policy.ActShare
	if kind == SharePrincipal {
		if named, problem := s.principalFor(grantee); problem == nil {
			grantee = named
		}
	}
	if kind == SharePrincipal && !p.OfPipeline() { // other runs may have the same principal
		mine, err := s.isSamePerson(ctx, p, grantee)
		if err != nil {
			return nil, err
		}
		if mine {
			act = policy.ActSee
		}
	}
	row, origin, err := s.Authorize(ctx, p, ref, act, origin)
	if err != nil {
		return nil, err
	}
	if grantee, err = s.resolveGrantee(ctx, row, kind, grantee); err != nil {
		return nil, err
	}
	err = s.store.People.Unshare(ctx, row.ID, kind, grantee, s.StoreOrigin(origin, p))
	if errors.Is(err, db.ErrNotFound) {
		return nil, Fail(NotFound, fmt.Sprintf("%s is not shared with %s %s. The list of its shares shows with whom it is.", row.Name, kind, grantee))
	}
	if err != nil {
		return nil, fmt.Errorf("stop sharing: %w", err)
	}
	return s.listShares(ctx, row)
}

// resolveGrantee returns the grantee of the share that a typed one means: an account on GitHub may be typed with its login, and shares of before
// accounts had numbers name logins.
func (s *Service) resolveGrantee(ctx context.Context, row clusters.Row, kind, grantee string) (string, error) {
	if _, byLogin := profiles.GitHubLogin(grantee); kind != SharePrincipal || !byLogin {
		return grantee, nil
	}
	list, err := s.listShares(ctx, row)
	if err != nil || slices.ContainsFunc(list, func(one people.Share) bool { return one.Kind == kind && one.Grantee == grantee }) {
		return grantee, err
	}
	named, problem, err := s.PrincipalNamed(ctx, 0, grantee)
	if err != nil || problem != nil {
		return grantee, err
	}
	return named, nil
}

// installationOf is the App's installation through which a cluster's pull request is reached; 0: it has none.
func installationOf(row clusters.Row) int64 {
	if row.PR == nil {
		return 0
	}
	return row.PR.Installation
}

// sayUnknownAccess is the problem with an access that does not exist.
func sayUnknownAccess(access string, known ...string) messages.Problem {
	return messages.Problem{fmt.Sprintf("%q is not a kind of access", access), known}
}

// sayUnknownGrantee is the problem with a kind of grantee that does not exist.
func sayUnknownGrantee(kind string, known ...string) messages.Problem {
	return messages.Problem{fmt.Sprintf("%q is not a kind of grantee", kind), known}
}

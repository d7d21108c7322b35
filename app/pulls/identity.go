package pulls

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// actor is who acts on GitHub: a login, and GitHub's id, which tells apart two people who had the login one after the other.
type actor struct {
	login string
	id    int64
}

func (a actor) number() string { return strconv.FormatInt(a.id, 10) }

// onGitHub returns the principal who acts on a pull request: a login with what GitHub says about it.
func (s *Service) onGitHub(ctx context.Context, by actor, source policy.Source, said pullrequests.SeenPermission, pr pullrequests.PullRequest, team string) (policy.Principal, error) {
	values := map[string][]string{"login": {by.login}, "permission": {said.Permission}, "repository": {pr.Repo}}
	if team != "" {
		values["owner"] = []string{team}
	}
	if len(said.Teams) > 0 {
		values["team"] = said.Teams
	}
	return s.core.ExternalPrincipal(ctx, policy.Claims{Source: profiles.SourceGitHub, Subject: by.login, Name: by.login, Values: values}, by.number(), source)
}

// person returns the owner who linked the account, with their current roles; ok is false if nobody did, or if their last sign-in
// is too old.
func (s *Service) person(ctx context.Context, by actor, source policy.Source) (p policy.Principal, ok bool, err error) {
	proof, err := s.core.LinkedPerson(ctx, policy.Principal{ID: principalID(by.login), Name: by.login}, by.number(), source)
	if err != nil || proof.Subject == "" {
		return p, false, err
	}
	account, err := s.store.People.AccountOf(ctx, principalID(by.login))
	if err != nil {
		return p, false, fmt.Errorf("look for the account of %s: %w", by.login, err)
	}
	return policy.Principal{ID: account.Principal, Name: account.Name, Seats: policy.SeatsOf(s.catalogue().Identities, proof)}, true, nil
}

// linkByComment replies with a link that links the author's account to whoever signs in there. Others who read the comment gain
// nothing.
func (s *Service) linkByComment(ctx context.Context, c command) (reply, note string, err error) {
	origin := store.Origin{Actor: principalID(c.event.Author), Source: string(policy.SourceComment), Why: c.Line}
	link, err := s.credentials.AccountLink(ctx, principalID(c.event.Author), actor{c.event.Author, c.event.AuthorID}.number(), origin)
	if err != nil {
		return "", "", err
	}
	return messages.LinkGitHubAccount(c.event.Author, link.URL.Reveal(), link.ExpiresAt), "account link", nil
}

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// ClaimsOf is what a principal proved, as JSON, for what acts in their name later; nil: it is not known.
func ClaimsOf(p policy.Principal) ([]byte, error) {
	said := cmp.Or(p.Said, p.Proof)
	if said == nil {
		return nil, nil
	}
	out, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("keep what %s proved: %w", p.ID, err)
	}
	return out, nil
}

// PrincipalNow returns somebody who did something before, by what they proved then, with the roles that they have now: by the catalogue
// and the links in force, and by what Slack said of an account last. A linked account counts for that long after its owner's last sign-in.
func (s *Service) PrincipalNow(ctx context.Context, said policy.Claims, linked time.Duration) (policy.Principal, error) {
	if said.Source != profiles.SourceSlack {
		return s.principalOf(ctx, said, linked)
	}
	workspace, user, _ := strings.Cut(said.Subject, "/")
	account, err := s.store.People.SlackPerson(ctx, workspace, user)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return s.principalOf(ctx, said, linked)
	case err != nil:
		return policy.Principal{}, err
	case !account.IsMember():
		return policy.Principal{ID: string(said.Source) + ":" + said.Subject, Name: said.Name, Said: &said}, nil
	}
	return s.principalOf(ctx, s.SlackClaims(account, strings.Join(said.Values["channel"], ""), said.Name), linked)
}

// SlackClaims returns what counts of an account in Slack that asks in a channel: its id, and the e-mail address that Slack confirmed. The
// person who has that address in the catalogue gives the name.
func (s *Service) SlackClaims(of people.SlackPerson, channel, name string) policy.Claims {
	values := map[string][]string{"user": {of.ID}, "workspace": {of.Workspace}, "channel": {channel}}
	name = cmp.Or(name, of.Name)
	if address, mapped := strings.CutPrefix(of.Mapped, profiles.ByEmail); mapped {
		values["email"] = []string{address}
		name = cmp.Or(s.PersonNamed(of.Mapped), name)
	}
	return policy.Claims{Source: profiles.SourceSlack, Subject: of.Workspace + "/" + of.ID, Name: name, Values: values}
}

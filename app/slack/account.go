package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// linkAccount answers only the person, with a link to confirm that their account is theirs, or completes it with the code that its page showed.
func (s *Service) linkAccount(ctx context.Context, t task) (slack.Message, error) {
	account := accountOf(t.request.Workspace, t.request.User)
	if t.Code != "" {
		said := &clusters.ReplyOnce{Cause: causeOf(t.request), Build: func(out clusters.Outcome) clusters.Reply {
			const text = "This Slack account is now linked to you. Your web roles now apply in Slack too. Sign in at least once a week to keep the link. `/ocp unlink` undoes it."
			link, what, asked := s.credentials.LinkMade(out)
			if !asked {
				return replyTo(t.request, blocks.Answer(text))
			}
			return replyTo(t.request, secretAnswer(fmt.Sprintf("%s\n\nHere is what you asked for, your own %s: <%s>. The link works once, until %s, and only for you.",
				text, what, link.URL.Reveal(), chatops.Time(link.ExpiresAt))))
		}}
		return slack.Message{}, s.credentials.CompleteLink(ctx, account, t.Code, clusters.Origin{Actor: account, Source: string(policy.SourceSlack), Why: "/ocp link", Reply: said})
	}
	link, err := s.credentials.AccountLink(ctx, account, t.request.User, clusters.Origin{Actor: account, Source: string(policy.SourceSlack), Why: "/ocp link"})
	if err != nil {
		return slack.Message{}, err
	}
	return secretAnswer(fmt.Sprintf("Open <%s> and sign in to link the Slack account %s to you. The link works once, until %s. Do not share it.",
		link.URL.Reveal(), chatops.Code(subjectOf(t.request)), chatops.Time(link.ExpiresAt))), nil
}

// secretAnswer is an answer with a one-time link. It has no blocks: the link's handle is removed from the stored text once that was
// posted.
func secretAnswer(markdown string) slack.Message { return slack.Message{Text: slack.Text(markdown)} }

// unlinkAccount removes the link of the account from which it is asked.
func (s *Service) unlinkAccount(ctx context.Context, t task) (slack.Message, error) {
	account := accountOf(t.request.Workspace, t.request.User)
	said := t.onceWith(lifecycle.Reason{}, func(clusters.Outcome) string {
		return fmt.Sprintf("The Slack account %s is no longer linked. It now has only the roles that the catalogue gives to the account itself. `%s link` links it again.", chatops.Code(subjectOf(t.request)), chatops.Prefix)
	}).Reply
	err := s.store.People.Unlink(ctx, account, "", clusters.Origin{Actor: account, Source: string(policy.SourceSlack), Why: "/ocp unlink", Reply: said})
	if errors.Is(err, db.ErrNotFound) {
		return blocks.Answer("This Slack account is not linked to anybody. `/ocp link` links it."), nil
	}
	return slack.Message{}, err
}

// isInCatalogue reports whether a principal is a person of the catalogue.
func (s *Service) isInCatalogue(principal string) bool {
	_, known := s.catalogue().PersonOf(principal)
	return known
}

// principalOf returns the principal that stands for somebody in Slack: who linked the account, else the account.
func (s *Service) principalOf(ctx context.Context, workspace, person string) (string, error) {
	account := accountOf(workspace, person)
	linked, err := s.store.People.AccountOf(ctx, account)
	if errors.Is(err, db.ErrNotFound) {
		return account, nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the owner of %s: %w", account, err)
	}
	return linked.Principal, nil
}

// displayName is what somebody in Slack is called: as in Slack, else as their account.
func (s *Service) displayName(ctx context.Context, account string) string {
	_, id, _ := strings.Cut(account, "/")
	if s.slack != nil {
		if p, err := s.slack.Person(ctx, id); err == nil && p.Name != "" {
			return p.Name
		}
	}
	return s.core.NameOf(account)
}

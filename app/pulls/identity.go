package pulls

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// actor is who acts on GitHub, as an event names them: the login they had then, GitHub's number of the account, and whether the account's
// type is that of a bot. Nothing about the login tells a bot.
type actor struct {
	login string
	id    int64
	bot   bool
}

func (e PullRequestEvent) actorOf() actor  { return actor{e.Actor, e.ActorID, e.Bot} }
func (e CommentEvent) actorOf() actor      { return actor{e.Author, e.AuthorID, e.Bot} }
func (e CheckEvent) actorOf() actor        { return actor{e.Actor, e.ActorID, e.Bot} }
func (e DispatchEvent) actorOf() actor     { return actor{e.Actor, e.ActorID, e.Bot} }
func (e RepositoryEvent) actorOf() actor   { return actor{e.Actor, e.ActorID, false} }
func (e InstallationEvent) actorOf() actor { return actor{e.Actor, e.ActorID, false} }

func (a actor) numberText() string { return strconv.FormatInt(a.id, 10) }

// principalID is the id of the account's principal.
func (a actor) principalID() string { return profiles.GitHubPrincipal(a.id) }

// auditActor returns who did something on GitHub, for the audit trail; the control plane itself if nobody is known.
func (s *Service) auditActor(ctx context.Context, by actor) (string, error) {
	if by.login == "" || by.id == 0 {
		return db.Lifecycle, nil
	}
	seen, err := s.core.RecordGitHubAccount(ctx, app.GitHubAccount{ID: by.id, Login: by.login})
	return seen.Principal, err
}

// askPermission asks GitHub for an account's permission on a repository. An account that was renamed since the event is asked for by its
// current login, which is in the actor that is returned.
func (s *Service) askPermission(ctx context.Context, installation int64, repo string, by actor) (permission string, now actor, err error) {
	permission, err = s.github.Permission(ctx, installation, repo, app.GitHubAccount{ID: by.id, Login: by.login})
	if errors.Is(err, app.ErrOtherAccount) {
		var login string
		if login, err = s.github.Login(ctx, installation, by.id); err == nil && login == "" {
			return "none", by, nil // the account is gone
		}
		if err == nil {
			by.login = login
			permission, err = s.github.Permission(ctx, installation, repo, app.GitHubAccount{ID: by.id, Login: login})
		}
		if errors.Is(err, app.ErrOtherAccount) { // a bot is no collaborator anywhere
			return "none", by, nil
		}
	}
	if err != nil {
		return "", by, fmt.Errorf("ask permission of %s on %s: %w", by.login, repo, err)
	}
	return permission, by, nil
}

// onGitHub returns the principal who acts on a pull request: an account with what GitHub says about it.
func (s *Service) onGitHub(ctx context.Context, by actor, said pullrequests.SeenPermission, pr pullrequests.PullRequest, team string) (policy.Principal, error) {
	values := map[string][]string{"permission": {said.Permission}, "repository": {pr.Repo}}
	if team != "" {
		values["owner"] = []string{team}
	}
	if len(said.Teams) > 0 {
		values["team"] = said.Teams
	}
	return s.core.GitHubPrincipal(ctx, pr.Installation, app.GitHubAccount{ID: by.id, Login: said.Login}, values)
}

// linkByComment replies with a link to confirm that the author's account is theirs, or completes it with the code that its page showed.
// Others who read the comments gain nothing: the code is for this account and works once.
func (s *Service) linkByComment(ctx context.Context, c command) (reply, note string, err error) {
	account, err := s.auditActor(ctx, c.event.actorOf())
	if err != nil {
		return "", "", err
	}
	origin := clusters.Origin{Actor: account, Source: string(policy.SourceComment), Why: c.Line}
	if c.Code != "" {
		origin.Why = "/ocp link"
		origin.Reply = &clusters.ReplyOnce{Cause: c.cause, Build: func(out clusters.Outcome) clusters.Reply {
			text := fmt.Sprintf("@%s, this GitHub account is now linked to you. Commands from it now count as yours. Sign in at least once a week to keep the link.", c.event.Author)
			if link, what, asked := s.credentials.LinkMade(out); asked {
				text += fmt.Sprintf("\n\nHere is what you asked for, your own %s: %s. The link works once, until %s, and only for you.", what, link.URL.Reveal(), chatops.Time(link.ExpiresAt))
			}
			return c.replyWith(text)
		}}
		return "", "account linked", s.credentials.CompleteLink(ctx, account, c.Code, origin)
	}
	link, err := s.credentials.AccountLink(ctx, account, c.event.actorOf().numberText(), origin)
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("@%s, open %s and sign in to link the GitHub account `%s` to you. The link works once, until %s. Nobody else should use it.",
		c.event.Author, link.URL.Reveal(), c.event.Author, chatops.Time(link.ExpiresAt)), "account link", nil
}

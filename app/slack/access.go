package slack

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// sendAccessLink answers with a one-time link to a kubeconfig or an account of the console, which works only for the signed-in owner of the account.
func (s *Service) sendAccessLink(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	console := t.Verb == chatops.VerbConsole
	p, linked, err := s.core.LinkedOwner(ctx, accountOf(t.request.Workspace, t.request.User))
	if err != nil {
		return slack.Message{}, err
	}
	if !linked {
		return slack.Message{}, app.Fail(app.Denied, sayAccessNeedsLinkInSlack(s.pageURL(row.ID), messages.AccessKind(console)))
	}
	link, err := s.credentials.AccessLink(ctx, p, row.ID, credentials.Want{Role: t.Role, Console: console}, t.originWith(s.reasonOf(t)))
	if err != nil {
		return slack.Message{}, err
	}
	return secretAnswer(fmt.Sprintf("Open <%s> and sign in to get your own %s of `%s`. The link works once, until %s, and only for you.", link.URL.Reveal(), messages.AccessKind(console), row.Name, chatops.Time(link.ExpiresAt))), nil
}

// mostMembers is how many people a cluster is shared with at once: each share is a line in the audit trail.
const mostMembers = 50

func (s *Service) shareCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	if t.Group != "" {
		n, err := s.eachMember(ctx, t, func(principal string) error {
			_, err := s.core.Share(ctx, t.by, row.ID, app.ShareWith(app.SharePrincipal, principal, t.Role), t.originWith(s.reasonOf(t)))
			return err
		})
		return blocks.Answer(messages.SharedWithGroup(row.Name, n, t.Role)), err
	}
	share, shown, err := s.findGrantee(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, err = s.core.Share(ctx, t.by, row.ID, share, t.onceWith(s.reasonOf(t), func(clusters.Outcome) string {
		return messages.SharedInSlack(row.Name, shown, t.Role)
	}))
	return slack.Message{}, err
}

func (s *Service) unshareCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	if t.Group != "" {
		n, err := s.eachMember(ctx, t, func(principal string) error {
			_, err := s.core.Unshare(ctx, t.by, row.ID, app.SharePrincipal, principal, t.originWith(s.reasonOf(t)))
			if app.KindOf(err) == app.NotFound { // this member had no share, or it was removed by an earlier try
				return nil
			}
			return err
		})
		return blocks.Answer(messages.UnsharedWithGroup(row.Name, n)), err
	}
	share, shown, err := s.findGrantee(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, err = s.core.Unshare(ctx, t.by, row.ID, share.Kind, share.Grantee, t.onceWith(s.reasonOf(t), func(clusters.Outcome) string {
		return fmt.Sprintf("`%s` is no longer shared with %s.", row.Name, shown)
	}))
	if app.KindOf(err) == app.NotFound {
		err = app.Fail(app.NotFound, fmt.Sprintf("`%s` is not shared with %s. Nothing was changed.", row.Name, shown))
	}
	return slack.Message{}, err
}

// findGrantee returns whom a command means, and how to name them: a team, a principal by its id, or a person in Slack.
func (s *Service) findGrantee(ctx context.Context, t task) (share people.Share, shown string, err error) {
	switch {
	case t.Team != "":
		return app.ShareWith(app.ShareTeam, t.Team, t.Role), "team " + chatops.Code(t.Team), nil
	case t.With != "":
		return app.ShareWith(app.SharePrincipal, t.With, t.Role), "principal " + chatops.Code(t.With), nil
	case t.Person == "":
		return share, "", app.Fail(app.Invalid, "Say with whom: a person (`@somebody`), a user group (`@group`) or a team (`--team platform`).")
	}
	found, err := s.findColleague(ctx, t.Person)
	if err != nil {
		return share, "", err
	}
	principal, err := s.principalOf(ctx, t.request.Workspace, t.Person)
	return app.ShareWith(app.SharePrincipal, principal, t.Role), messages.Person(found.Name), err
}

// findColleague returns somebody in Slack whom a cluster may be given to: a full member of this organization.
func (s *Service) findColleague(ctx context.Context, id string) (slack.Person, error) {
	if s.slack == nil {
		return slack.Person{}, app.Fail(app.Conflict, messages.SlackAway)
	}
	p, err := s.slack.Person(ctx, id)
	switch {
	case errors.Is(err, slack.ErrNever):
		return p, app.Fail(app.Invalid, "Slack knows no such person here. Type `@` and choose one of the names that Slack suggests.")
	case err != nil:
		return p, fmt.Errorf("ask Slack for %s: %w", id, err)
	case p.Bot:
		return p, app.Fail(app.Invalid, "That is an app, and clusters are shared with people. Name a person.")
	case p.Deactivated:
		return p, app.Fail(app.Invalid, "That person's account in Slack is deactivated. Name somebody who works here.")
	case p.Stranger:
		return p, app.Fail(app.Invalid, "That person belongs to another organization, so ocpctl shares no cluster with them. A platform admin can give them a role.")
	case p.Guest:
		return p, app.Fail(app.Invalid, "That person is a guest of this workspace, and guests cannot use ocpctl. Name a full member.")
	}
	return p, nil
}

// eachMember calls do for each person who is in the command's user group now, those excepted whom no cluster may be given to, and returns
// their number.
func (s *Service) eachMember(ctx context.Context, t task, do func(principal string) error) (n int, err error) {
	if s.slack == nil {
		return 0, app.Fail(app.Conflict, messages.SlackAway)
	}
	ids, err := s.slack.GroupMembers(ctx, t.Group)
	switch {
	case errors.Is(err, slack.ErrGone), err == nil && len(ids) == 0:
		return 0, app.Fail(app.Invalid, "Slack knows no such user group here, or it has no members. Type `@` and choose one of the groups that Slack suggests.")
	case errors.Is(err, slack.ErrRefused):
		return 0, app.Fail(app.Conflict, "ocpctl may not read this workspace's user groups, so nothing was shared. Name the people one by one, or ask an admin to give the app the scope usergroups:read.")
	case err != nil:
		return 0, fmt.Errorf("ask Slack for the members of %s: %w", t.Group, err)
	case len(ids) > mostMembers:
		return 0, app.Fail(app.Invalid, fmt.Sprintf("This group has %d members, and a cluster is shared with at most %d at once. Share it with a team: `%s share --team platform`.", len(ids), mostMembers, chatops.Prefix))
	}
	for _, id := range ids {
		_, err := s.findColleague(ctx, id)
		if app.KindOf(err) != "" {
			continue
		}
		if err != nil {
			return n, err
		}
		principal, err := s.principalOf(ctx, t.request.Workspace, id)
		if err != nil {
			return n, err
		}
		if err := do(principal); err != nil {
			return n, err
		}
		n++
	}
	if n == 0 {
		return 0, app.Fail(app.Invalid, "Nobody in this user group can be given a cluster: its members are apps, guests, deactivated accounts or people of another organization.")
	}
	return n, nil
}

// transferCluster gives a cluster to another of the person's teams at once, and offers it to a person, who has to accept it.
func (s *Service) transferCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	switch {
	case t.Team != "":
		change, err := s.core.Transfer(ctx, t.by, row.ID, t.Team, s.nameOf(t), t.originWith(s.reasonOf(t)))
		return blocks.Answer(change.Message), err
	case t.Person != "":
		return s.offerCluster(ctx, t, row)
	}
	return slack.Message{}, app.Fail(app.Invalid, "Say to whom: a person (`@somebody`) or one of your teams (`--team platform`).")
}

// sayAccessNeedsLinkInSlack tells somebody that they have to sign in before they get a kubeconfig or a console account. page is the cluster's; empty: there
// are no pages.
func sayAccessNeedsLinkInSlack(page, what string) string {
	text := "A " + what + " is only for people who have signed in. Type `/ocp link`, open the link, sign in, and try again. The sign-in counts for a week."
	if page != "" {
		text += " You can also get it on [the cluster's page](" + page + ")."
	}
	return text
}

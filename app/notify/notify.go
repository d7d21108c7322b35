// Package notify keeps what channels in Slack want to hear of: which events of which team's or repository's clusters.
//
// It never posts anything; controller/notifier does. Whoever may see a team's clusters may have a channel hear of them.
package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

// weekly is the event of the weekly report, which is about teams.
const weekly = "weekly"

// Service subscribes channels. It is safe for concurrent use.
type Service struct {
	core  *app.Service
	store *store.Store
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, c app.Config) *Service { return &Service{core: core, store: c.Store} }

// Subscribe has a channel hear of the events of a team's clusters, or with a repository of that repository's alone; it adds to what
// the channel heard of them before. Without a team and a repository it is the principal's only team, or every team for those who see
// all. It returns the subscription with the
// events that were added; the reply has all.
func (s *Service) Subscribe(ctx context.Context, p policy.Principal, sub notices.Subscription, origin app.Origin) (notices.Subscription, error) {
	sub, err := s.About(p, sub)
	if err != nil {
		return notices.Subscription{}, err
	}
	if sub.Events, err = checkEvents(sub.Events, messages.CannotSubscribe); err != nil {
		return notices.Subscription{}, err
	}
	if sub.Repo != "" && slices.Contains(sub.Events, weekly) {
		return notices.Subscription{}, &app.Error{Kind: app.Invalid, Message: messages.CannotSubscribe, Fields: []app.Field{app.ProblemOf("events", messages.Problem{"The weekly report is about a team or about all teams, not about a repository.", []string{"weekly without --repo", "other events of the repository"}})}}
	}
	if sub.Claims, err = app.ClaimsOf(p); err != nil {
		return notices.Subscription{}, err
	}
	if err := s.store.Notices.Subscribe(ctx, sub, s.core.StoreOrigin(origin, p)); err != nil {
		return notices.Subscription{}, err
	}
	return sub, nil
}

// checkEvents returns the events sorted, or an error if there is none or one is none.
func checkEvents(events []string, refusal string) ([]string, error) {
	events = slices.Compact(slices.Sorted(slices.Values(events)))
	if len(events) > 0 && !slices.ContainsFunc(events, func(e string) bool { return !slices.Contains(commands.EventNames, e) }) {
		return events, nil
	}
	return nil, &app.Error{Kind: app.Invalid, Message: refusal, Fields: []app.Field{app.ProblemOf("events", sayUnknownEvents(events, commands.EventNames))}}
}

// Unsubscribe ends what Subscribe began, for the same team and repository: these events, or without any all of them. NotFound: there is
// no such subscription.
func (s *Service) Unsubscribe(ctx context.Context, p policy.Principal, sub notices.Subscription, origin app.Origin) (notices.Subscription, error) {
	sub, err := s.About(p, sub)
	if err != nil {
		return notices.Subscription{}, err
	}
	if len(sub.Events) > 0 {
		if sub.Events, err = s.eventsWithout(ctx, sub); err != nil {
			return notices.Subscription{}, err
		}
	}
	if sub.Claims, err = app.ClaimsOf(p); err != nil {
		return notices.Subscription{}, err
	}
	if len(sub.Events) > 0 {
		err = s.store.Notices.ReplaceSubscription(ctx, sub, s.core.StoreOrigin(origin, p))
	} else {
		err = s.store.Notices.Unsubscribe(ctx, sub, s.core.StoreOrigin(origin, p))
	}
	if errors.Is(err, db.ErrNotFound) {
		return notices.Subscription{}, app.Fail(app.NotFound, sayNotSubscribed(sub.Team, sub.Repo))
	}
	return sub, err
}

// eventsWithout returns the events of a subscription that stay without the given ones.
func (s *Service) eventsWithout(ctx context.Context, sub notices.Subscription) ([]string, error) {
	ends, err := checkEvents(sub.Events, "Nothing was changed.")
	if err != nil {
		return nil, err
	}
	list, err := s.store.Notices.Subscriptions(ctx, sub.Workspace, sub.Channel)
	if err != nil {
		return nil, fmt.Errorf("list what channels hear of: %w", err)
	}
	for _, had := range list {
		if had.Workspace == sub.Workspace && had.Team == sub.Team && had.Repo == sub.Repo {
			return slices.DeleteFunc(had.Events, func(e string) bool { return slices.Contains(ends, e) }), nil
		}
	}
	return nil, nil
}

// List returns what a channel hears of, as far as the principal may see it; an empty channel: what all channels hear of.
func (s *Service) List(ctx context.Context, p policy.Principal, workspace, channel string) ([]notices.Subscription, error) {
	if !p.MayAnywhere(policy.ActSee) {
		return nil, app.Fail(app.Denied, messages.NoRoleOnSlack)
	}
	list, err := s.store.Notices.Subscriptions(ctx, workspace, channel)
	if err != nil {
		return nil, fmt.Errorf("list what channels hear of: %w", err)
	}
	return slices.DeleteFunc(list, func(sub notices.Subscription) bool { return sub.Team != "" && !p.May(policy.ActSee, sub.Team) }), nil
}

// About completes what a subscription is about: without a team that of the repository, or the principal's only team, or every team for
// those who see all. The error is for people: the principal may not see that, or has to name a team.
func (s *Service) About(p policy.Principal, sub notices.Subscription) (notices.Subscription, error) {
	sub.CreatedBy, sub.Repo = p.ID, strings.ToLower(sub.Repo) // GitHub takes names in any case
	if sub.Repo != "" && sub.Team == "" {
		sub.Team = s.core.OwnershipOf(sub.Repo).Team
	}
	if sub.Team == "" {
		teams, every := p.Teams(policy.RolesFor(policy.ActSee)...)
		switch {
		case every:
		case len(teams) == 1:
			sub.Team = teams[0]
		default:
			return sub, &app.Error{Kind: app.Invalid, Message: messages.CannotSubscribe, Fields: []app.Field{
				app.ProblemOf("team", sayWhichTeam(teams)),
			}}
		}
	}
	if !maySee(p, sub.Team) { // the principal must not learn whether a team of others exists
		return sub, app.Fail(app.Denied, sayCannotHearOf(sub.Team, sub.Repo))
	}
	return sub, nil
}

// sayUnknownEvents says that a subscription names no event, or one that does not exist.
func sayUnknownEvents(events, known []string) messages.Problem {
	if len(events) == 0 {
		return messages.Problem{Detail: "No event is named.", Accept: known}
	}
	return messages.Problem{Detail: fmt.Sprintf("%q is not a list of events.", strings.Join(events, ",")), Accept: known}
}

// sayWhichTeam asks somebody of several teams, or of none, which one a subscription is about.
func sayWhichTeam(teams []string) messages.Problem {
	if len(teams) == 0 {
		return messages.Problem{Detail: "You have no role in a team, so there are no clusters whose events you may see."}
	}
	return messages.Problem{Detail: "You are in several teams. Say which one: `--team " + teams[0] + "`.", Accept: teams}
}

// sayCannotHearOf refuses a subscription to what somebody may not see.
func sayCannotHearOf(team, repo string) string {
	switch {
	case repo != "":
		return fmt.Sprintf("You may not see the clusters of the repository %s, so no channel hears of them for you.", chatops.Code(repo))
	case team != "":
		return fmt.Sprintf("There is no team %s whose clusters you may see.", chatops.Code(team))
	}
	return "Only somebody with a role in every team may subscribe a channel to all teams. Name a team: `--team platform`."
}

// sayNotSubscribed tells somebody that there is nothing to end.
func sayNotSubscribed(team, repo string) string {
	of := "every team"
	switch {
	case repo != "":
		of = "the repository " + chatops.Code(repo)
	case team != "":
		of = "team " + chatops.Code(team)
	}
	return "This channel is not subscribed to the clusters of " + of + ". Subscriptions from a repository's file are managed in that file, under `notify.slack`."
}

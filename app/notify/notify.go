// Package notify keeps what channels in Slack want to hear of: which events of which team's or repository's clusters.
//
// It never posts anything; internal/notifier does. Whoever may see a team's clusters may have a channel hear of them.
package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/notices"
)

// Service subscribes channels. It is safe for concurrent use.
type Service struct {
	core  *app.Service
	store *store.Store
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, c app.Config) *Service { return &Service{core: core, store: c.Store} }

// Subscribe has a channel hear of the events of a team's clusters, or with a repository of that repository's alone; it replaces what
// the channel heard of them before. Without a team and a repository it is the principal's only team, or every team for those who see
// all. It returns the subscription as it is kept.
func (s *Service) Subscribe(ctx context.Context, p policy.Principal, sub notices.Subscription, origin app.Origin) (notices.Subscription, error) {
	sub, err := s.about(p, sub)
	if err != nil {
		return notices.Subscription{}, err
	}
	slices.Sort(sub.Events)
	sub.Events = slices.Compact(sub.Events)
	if wrong := slices.IndexFunc(sub.Events, func(e string) bool { return !slices.Contains(commands.EventNames, e) }); wrong >= 0 || len(sub.Events) == 0 {
		return notices.Subscription{}, &app.Error{Kind: app.Invalid, Message: messages.CannotSubscribe, Fields: []app.Field{
			app.ProblemOf("events", messages.UnknownEvents(sub.Events, commands.EventNames)),
		}}
	}
	if err := s.store.Notices.Subscribe(ctx, sub, s.core.StoreOrigin(origin, p)); err != nil {
		return notices.Subscription{}, err
	}
	return sub, nil
}

// Unsubscribe ends what Subscribe began, for the same team and repository. NotFound: there is no such subscription.
func (s *Service) Unsubscribe(ctx context.Context, p policy.Principal, sub notices.Subscription, origin app.Origin) (notices.Subscription, error) {
	sub, err := s.about(p, sub)
	if err != nil {
		return notices.Subscription{}, err
	}
	err = s.store.Notices.Unsubscribe(ctx, sub, s.core.StoreOrigin(origin, p))
	if errors.Is(err, store.ErrNotFound) {
		return notices.Subscription{}, app.Fail(app.NotFound, messages.NotSubscribed(sub.Team, sub.Repo))
	}
	return sub, err
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

// about completes what a subscription is about, and returns an error unless the principal may see that.
func (s *Service) about(p policy.Principal, sub notices.Subscription) (notices.Subscription, error) {
	sub.CreatedBy = p.ID
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
				app.ProblemOf("team", messages.SayWhichTeam(teams)),
			}}
		}
	}
	team := sub.Team
	if team == "" {
		team = policy.EveryTeam
	}
	if !p.May(policy.ActSee, team) { // the principal must not learn whether a team of others exists
		return sub, app.Fail(app.Denied, messages.CannotHearOf(sub.Team, sub.Repo))
	}
	return sub, nil
}

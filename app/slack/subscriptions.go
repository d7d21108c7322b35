package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/notify"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/notices"
)

// linkKeeps is how long a linked account keeps a subscription after its owner's last sign-in: longer than they may act by it, because
// people on holiday do not sign in.
const linkKeeps = 30 * 24 * time.Hour

// JudgeSubscriptions ends the subscriptions of those who may no longer have what they subscribed to posted where they subscribed it. What
// Slack does not say ends nothing. The next call begins with those that this one could not judge because Slack limits how much is asked. The
// error names the subscriptions that could not be judged.
func (s *Service) JudgeSubscriptions(ctx context.Context) error {
	if s.slack == nil {
		return nil
	}
	all, err := s.store.Notices.All(ctx)
	if err != nil {
		return err
	}
	var failed []error
	asked := channelsAsked{slack: s.slack, info: map[string]slack.Channel{}}
	for _, sub := range all {
		why, err := s.whyEnded(ctx, sub, &asked)
		switch {
		case err == nil && why != "":
			err = s.store.Notices.End(ctx, sub, why)
		case !errors.As(err, new(slack.RateLimited)) && app.KindOf(err) != app.Busy: // those come first the next time
			err = errors.Join(err, s.store.Notices.Judged(ctx, sub))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("judge the subscription of channel %s to team %q: %w", sub.Channel, sub.Team, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// channelsAsked asks Slack about channels, once about each, until Slack says that it is asked too often.
type channelsAsked struct {
	slack   Slack
	info    map[string]slack.Channel
	limited error
}

// look returns what Slack says of a channel, and of a person in it.
func (a *channelsAsked) look(ctx context.Context, id, person string) (seen notify.Channel, err error) {
	if a.limited != nil {
		return seen, a.limited
	}
	defer func() {
		if errors.As(err, new(slack.RateLimited)) {
			a.limited = err
		}
	}()
	channel, known := a.info[id]
	if !known {
		if channel, err = a.slack.Channel(ctx, id); err != nil {
			return seen, err
		}
		a.info[id] = channel
	}
	in, err := a.slack.InChannel(ctx, id, person)
	if errors.Is(err, slack.ErrTooMany) {
		in, err = true, nil
	}
	return notify.Channel{HasPerson: in, Outside: channel.External}, err
}

// whyEnded says why a subscription ends; empty: it goes on. One that was not made in Slack goes on, because nobody there answers for it.
func (s *Service) whyEnded(ctx context.Context, sub notices.Subscription, asked *channelsAsked) (notices.Ending, error) {
	account, inSlack := strings.CutPrefix(sub.CreatedBy, string(profiles.SourceSlack)+":")
	workspace, user, _ := strings.Cut(account, "/")
	if !inSlack {
		return "", nil
	}
	known, err := s.readPerson(ctx, inbound.Request{Workspace: workspace, User: user})
	switch {
	case err != nil:
		return "", err
	case !known.IsMember():
		return notices.EndedNoMember, nil
	}
	said := s.core.SlackClaims(known, sub.Channel, "")
	if sub.Claims != nil {
		said = policy.Claims{}
		if err := json.Unmarshal(sub.Claims, &said); err != nil {
			return "", fmt.Errorf("read what %s proved: %w", sub.CreatedBy, err)
		}
	}
	p, err := s.core.PrincipalNow(ctx, said, linkKeeps)
	if err != nil {
		return "", err
	}
	if why := notify.WhyEnded(p, sub.Team, notify.Channel{HasPerson: true}); why != "" {
		return why, nil
	}
	channel, err := asked.look(ctx, sub.Channel, user)
	if err != nil {
		return "", err
	}
	return notify.WhyEnded(p, sub.Team, channel), nil
}

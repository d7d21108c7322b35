package slack

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
)

// mostSubscriptions is how many subscriptions are listed.
const mostSubscriptions = 30

// handleSubscription subscribes a channel to events, ends that, or lists what channels get.
func (s *Service) handleSubscription(ctx context.Context, t task) (slack.Message, error) {
	sub := notices.Subscription{Workspace: t.request.Workspace, Channel: t.Channel, Team: t.Team, Repo: t.Repo, Events: t.Events}
	if sub.Channel == "" && isShared(t.request.Channel) {
		sub.Channel = t.request.Channel
	}
	if len(sub.Events) == 0 && !t.Off {
		return s.listSubscriptions(ctx, t, sub.Channel)
	}
	if !isShared(sub.Channel) {
		return slack.Message{}, app.Fail(app.Invalid, "Say which channel: `/ocp notify #channel ready,failed`. Direct messages cannot be subscribed.")
	}
	if t.Off {
		return s.unsubscribeChannel(ctx, t, sub)
	}
	return s.subscribeChannel(ctx, t, sub)
}

// subscribeChannel has a channel get messages about events. The answer is saved with that.
func (s *Service) subscribeChannel(ctx context.Context, t task, sub notices.Subscription) (slack.Message, error) {
	sub, err := s.notify.About(t.by, sub)
	if err != nil {
		return slack.Message{}, err
	}
	channel, err := s.checkWritable(ctx, sub.Channel)
	if err != nil {
		return slack.Message{}, err
	}
	if err := s.mayPost(ctx, t.by, t.request, channel, sub.Team); err != nil {
		return slack.Message{}, err
	}
	_, err = s.notify.Subscribe(ctx, t.by, sub, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		return messages.Subscribed(messages.Channel(channel.Name, sub.Channel), out.EventsBefore, out.EventsAfter, sub.Team, sub.Repo, channel.External)
	}))
	return slack.Message{}, err
}

// unsubscribeChannel ends that, also for a channel in which ocpctl is no more.
func (s *Service) unsubscribeChannel(ctx context.Context, t task, sub notices.Subscription) (slack.Message, error) {
	sub, err := s.notify.About(t.by, sub)
	if err != nil {
		return slack.Message{}, err
	}
	channel := s.channelName(ctx, sub.Channel)
	_, err = s.notify.Unsubscribe(ctx, t.by, sub, t.onceWith(s.reasonOf(t), func(clusters.Outcome) string {
		return messages.Unsubscribed(channel, t.Events, sub.Team, sub.Repo)
	}))
	return slack.Message{}, err
}

// listSubscriptions lists what a channel gets, or all channels (an empty one), as far as the person may see it.
func (s *Service) listSubscriptions(ctx context.Context, t task, channel string) (slack.Message, error) {
	list, err := s.notify.List(ctx, t.by, t.request.Workspace, channel)
	if err != nil {
		return slack.Message{}, err
	}
	names := map[string]string{}
	name := func(id string) string {
		if names[id] == "" {
			names[id] = s.channelName(ctx, id)
		}
		return names[id]
	}
	switch {
	case len(list) == 0 && channel == "":
		return blocks.Answer("No channel gets messages about clusters that you may see. `/ocp notify #channel ready,failed` starts it."), nil
	case len(list) == 0:
		return blocks.Answer(fmt.Sprintf("%s gets no messages about clusters that you may see. `/ocp notify #channel ready,failed` starts it.", name(channel))), nil
	}
	var b strings.Builder
	if channel == "" {
		b.WriteString(messages.NotifiedHere(""))
	} else {
		b.WriteString(messages.NotifiedHere(name(channel)))
	}
	for _, sub := range list[:min(len(list), mostSubscriptions)] {
		b.WriteString(messages.SubscriptionLine(name(sub.Channel), sub.Events, sub.Team, sub.Repo))
	}
	if more := len(list) - mostSubscriptions; more > 0 {
		b.WriteString(fmt.Sprintf("- and %d more. To see those of one channel, name it: `/ocp notify #channel`.\n", more))
	}
	return blocks.Answer(b.String()), nil
}

// channelName names a channel for people. If Slack does not say its name, its id has to do.
func (s *Service) channelName(ctx context.Context, id string) string {
	if s.slack == nil {
		return messages.Channel("", id)
	}
	channel, err := s.slack.Channel(ctx, id)
	if err != nil {
		return messages.Channel("", id)
	}
	return messages.Channel(channel.Name, cmp.Or(channel.ID, id))
}

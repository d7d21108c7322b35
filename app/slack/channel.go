package slack

import (
	"context"
	"errors"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/notify"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
)

// checkWritable returns a channel in which ocpctl may post. app.Conflict: it may not. app.Denied: Slack does not let it look who reads there.
// app.Busy: Slack does not answer.
func (s *Service) checkWritable(ctx context.Context, id string) (slack.Channel, error) {
	if s.slack == nil {
		return slack.Channel{}, app.Fail(app.Conflict, messages.SlackAway)
	}
	channel, err := s.slack.Channel(ctx, id)
	switch {
	case errors.Is(err, slack.ErrRefused):
		return channel, app.Fail(app.Denied, messages.ChannelHidden)
	case errors.Is(err, slack.ErrChannel), errors.Is(err, slack.ErrNever):
		return channel, app.Fail(app.Conflict, messages.NotifyNotSeen)
	case err != nil:
		return channel, busyOrDone(ctx)
	case channel.Archived:
		return channel, app.Fail(app.Conflict, messages.ChannelArchived)
	case !channel.Member:
		return channel, app.Fail(app.Conflict, messages.NotifyNotSeen)
	}
	return channel, nil
}

// mayPost says whether a person may have messages about a team's clusters posted in a channel that writable returned. app.Denied: no.
func (s *Service) mayPost(ctx context.Context, p policy.Principal, r inbound.Request, channel slack.Channel, team string) error {
	in := channel.ID == r.Channel && (r.Kind == inbound.Command || r.Kind == inbound.Mention) // only members type there
	if !in {
		var err error
		in, err = s.slack.InChannel(ctx, channel.ID, r.User)
		switch {
		case errors.Is(err, slack.ErrTooMany):
			return app.Fail(app.Denied, "This channel has so many members that ocpctl does not look for you among them. Type the command in the channel itself.")
		case errors.Is(err, slack.ErrRefused):
			return app.Fail(app.Denied, messages.ChannelHidden)
		case errors.Is(err, slack.ErrChannel):
			return app.Fail(app.Conflict, messages.NotifyNotSeen)
		case err != nil:
			return busyOrDone(ctx)
		}
	}
	return notify.MayPost(p, team, notify.Channel{HasPerson: in, Outside: channel.External})
}

// busyOrDone is app.Busy, or why the work ends.
func busyOrDone(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return app.Fail(app.Busy, "Nothing was done, because Slack did not say who is in this channel and which organizations share it. Try again in a few minutes.")
}

package slack

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

// The codes under which what happened to a channel or workspace is known, as Slack's methods give them.
const (
	codeArchived    = "is_archived"
	codeNotIn       = "not_in_channel"
	codeGone        = "channel_not_found"
	codeUninstalled = "account_inactive"
	codeRevoked     = "token_revoked"
)

// appChanged notes what happened to the app, a channel or a person, so that nothing is sent where it cannot arrive, and everything again
// where it can.
func (s *Service) appChanged(ctx context.Context, r inbound.Request) (note string, err error) {
	channel, code := r.Subject, ""
	switch r.Event {
	case "channel_archive", "group_archive":
		code = codeArchived
	case "channel_left", "group_left", "member_left_channel":
		code = codeNotIn
	case "channel_deleted", "group_deleted":
		code = codeGone
	case "channel_unarchive", "group_unarchive", "member_joined_channel":
	case "app_uninstalled":
		channel, code = "", codeUninstalled
	case "tokens_revoked":
		channel, code = "", codeRevoked
	case "channel_id_changed":
		moved, err := s.store.Notices.MoveChannel(ctx, r.Workspace, channel, r.Value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", r.Event, err)
		}
		return fmt.Sprintf("%s is %s now: %d rows follow it", channel, r.Value, moved), nil
	case "user_change":
		return "Slack is asked again who " + r.Subject + " is", s.store.People.SlackPersonChanged(ctx, r.Subject)
	default:
		return r.Event + " changes nothing", nil
	}
	if err := s.store.Notices.ChannelProblem(ctx, r.Workspace, channel, code); err != nil {
		return "", fmt.Errorf("%s: %w", r.Event, err)
	}
	if code == "" {
		return "messages are written in " + channel + " again", nil
	}
	return "no message is written until somebody puts it right: " + code, nil
}

package slack

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	api "github.com/slack-go/slack"
)

// The answers a caller tells apart; any other may pass by itself.
var (
	// ErrRefused says that Slack does not take our token, or not for this: it will say so until a person changes something.
	ErrRefused = errors.New("refused by Slack")
	// ErrNever says that these words can never reach this person.
	ErrNever = errors.New("cannot reach this person in Slack")
)

// RateLimited says that Slack wants this call later. Nothing was posted.
type RateLimited struct{ RetryAfter time.Duration }

// Error implements error.
func (e RateLimited) Error() string {
	return fmt.Sprintf("rate limited by Slack, again in %s", e.RetryAfter.Round(time.Second))
}

// pause is for a limit that names no time.
const pause = time.Minute

// What Slack's codes come to, as its methods' pages list them:
// https://docs.slack.dev/reference/methods/chat.postEphemeral, …/chat.postMessage, …/conversations.open
var (
	// unseen: the bot cannot speak to the person in this channel, but maybe alone.
	unseen = []string{"not_in_channel", "channel_not_found", "user_not_in_channel", "is_archived", "no_permission",
		"restricted_action", "restricted_action_read_only_channel", "channel_type_not_supported"}
	// never: not to this person, and not later.
	never = []string{"user_not_found", "users_not_found", "user_disabled", "user_not_visible", "cannot_dm_bot", "method_not_supported_for_channel_type",
		"messages_tab_disabled", "msg_too_long", "no_text", "channel_not_found", "is_archived", "not_in_channel", "user_not_in_channel"}
	// refused: our token, or what it is allowed.
	refused = map[string]string{
		"invalid_auth": "the bot token is not valid", "not_authed": "no bot token was sent", "account_inactive": "the bot's account was switched off, or the app removed",
		"token_revoked": "the bot token was revoked", "token_expired": "the bot token expired", "missing_scope": "the app lacks a scope",
		"not_allowed_token_type": "it is no bot token", "access_denied": "the workspace does not allow it", "team_access_not_granted": "the app has no access to this workspace",
		"restricted_action": "the workspace's rules do not let the app write", "no_permission": "the workspace's rules do not let the app write",
		"org_login_required": "the workspace is being moved", "ekm_access_denied": "the workspace's administrators suspended it",
	}
	limited = []string{"ratelimited", "rate_limited", "message_limit_exceeded"}
)

// code is Slack's own word for what is wrong; empty: it said none.
func code(err error) string {
	var said api.SlackErrorResponse
	if errors.As(err, &said) {
		return said.Err
	}
	return ""
}

// explain sorts what the library answers, with what was being done.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var late *api.RateLimitedError
	var status api.StatusCodeError
	said := code(err)
	why, no := refused[said]
	switch {
	case errors.As(err, &late):
		return fmt.Errorf("%s: %w", doing, RateLimited{max(late.RetryAfter, time.Second)})
	case errors.As(err, &status) && status.Code == http.StatusTooManyRequests, slices.Contains(limited, said):
		return fmt.Errorf("%s: %w", doing, RateLimited{pause})
	case no:
		return fmt.Errorf("%s: %w: %s (%s)", doing, ErrRefused, why, said)
	case slices.Contains(never, said):
		return fmt.Errorf("%s: %w (%s)", doing, ErrNever, said)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

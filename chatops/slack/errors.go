package slack

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	api "github.com/slack-go/slack"
)

// The errors that callers distinguish; any other may be temporary.
var (
	// ErrRefused says that Slack does not accept our token, or not for this call, until a person changes something.
	ErrRefused = errors.New("refused by Slack")
	// ErrNever says that this text can never reach this person.
	ErrNever = errors.New("cannot reach this person in Slack")
	// ErrExpired says that a form cannot be opened any more: Slack takes three seconds.
	ErrExpired = errors.New("too late to open a form in Slack")
	// ErrGone says that a message or form no longer exists.
	ErrGone = errors.New("it no longer exists in Slack")
)

// RateLimited says that Slack wants this call later. Nothing was posted.
type RateLimited struct{ RetryAfter time.Duration }

// Error implements error.
func (e RateLimited) Error() string {
	return fmt.Sprintf("rate limited by Slack, again in %s", e.RetryAfter.Round(time.Second))
}

// pause is the wait for a limit that names no time.
const pause = time.Minute

// Slack's error codes by meaning, from https://docs.slack.dev/reference/methods/chat.postEphemeral, …/chat.postMessage,
// …/conversations.open
var (
	// unseen: the bot cannot reach the person in this channel, but maybe in a direct message.
	unseen = []string{"not_in_channel", "channel_not_found", "user_not_in_channel", "is_archived", "no_permission",
		"restricted_action", "restricted_action_read_only_channel", "channel_type_not_supported"}
	// never: the bot can never reach this person.
	never = []string{"user_not_found", "users_not_found", "user_disabled", "user_not_visible", "cannot_dm_bot", "method_not_supported_for_channel_type",
		"messages_tab_disabled", "msg_too_long", "no_text", "channel_not_found", "is_archived", "not_in_channel", "user_not_in_channel"}
	// refused: the token or its permissions.
	refused = map[string]string{
		"invalid_auth": "the bot token is not valid", "not_authed": "no bot token was sent", "account_inactive": "the bot's account was switched off, or the app removed",
		"token_revoked": "the bot token was revoked", "token_expired": "the bot token expired", "missing_scope": "the app lacks a scope",
		"not_allowed_token_type": "it is no bot token", "access_denied": "the workspace does not allow it", "team_access_not_granted": "the app has no access to this workspace",
		"restricted_action": "the workspace's rules do not let the app write", "no_permission": "the workspace's rules do not let the app write",
		"org_login_required": "the workspace is being moved", "ekm_access_denied": "the workspace's administrators suspended it",
	}
	limited = []string{"ratelimited", "rate_limited", "message_limit_exceeded"}
)

// code returns Slack's error code; empty: there was none.
func code(err error) string {
	var said api.SlackErrorResponse
	if errors.As(err, &said) {
		return said.Err
	}
	return ""
}

// explain classifies the library's errors and says what was being done.
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

package slack

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// The errors that callers distinguish; any other may be temporary.
var (
	// ErrRefused says that Slack does not accept our token, or not for this call, until a person changes something.
	ErrRefused = errors.New("refused by Slack")
	// ErrChannel says that the bot cannot write in this channel, or read it, until a person changes something.
	ErrChannel = errors.New("the channel cannot be used in Slack")
	// ErrNever says that this message can never reach this person.
	ErrNever = errors.New("cannot reach this person in Slack")
	// ErrExpired says that a form cannot be opened any more: Slack takes three seconds.
	ErrExpired = errors.New("too late to open a form in Slack")
	// ErrTooMany says that a channel has more members than are looked through.
	ErrTooMany = errors.New("the channel has too many members in Slack")
	// ErrGone says that a message or form no longer exists.
	ErrGone = errors.New("it no longer exists in Slack")
)

// RateLimited says that Slack wants this call later. Nothing was posted.
type RateLimited struct {
	RetryAfter time.Duration
	Channel    bool // the limit is of the one channel; else the whole workspace has to wait
}

// Error implements error.
func (e RateLimited) Error() string {
	return fmt.Sprintf("rate limited by Slack, again in %s", duration.Format(e.RetryAfter))
}

// CodeOf returns Slack's error code, e.g. is_archived; empty: Slack gave none.
func CodeOf(err error) string {
	var known refusal
	if errors.As(err, &known) {
		return known.code
	}
	return errorCode(err)
}

// TokenRefused reports that Slack accepts no call with our token, wherever it leads.
func TokenRefused(err error) bool {
	return errors.Is(err, ErrRefused) && slices.Contains(everyCall, CodeOf(err))
}

// NotTaken reports that Slack answered and took nothing, so that nothing was posted. After any other error nobody knows whether the
// message arrived.
func NotTaken(err error) bool {
	var limited RateLimited
	return errors.As(err, &limited) || errors.Is(err, ErrChannel) || errors.Is(err, ErrRefused) || errors.Is(err, ErrGone)
}

// refusal is one of Slack's error codes with its meaning.
type refusal struct {
	is        error
	why, code string
}

// Error implements error.
func (r refusal) Error() string { return fmt.Sprintf("%s: %s (%s)", r.is, r.why, r.code) }

// Unwrap returns the meaning.
func (r refusal) Unwrap() error { return r.is }

const (
	// pause is the wait for a limit that names no time.
	pause = time.Minute
	// channelPause is the wait for the limit of one channel, about one message per second.
	channelPause = 5 * time.Second
)

// errorCode returns Slack's error code; empty: there was none.
func errorCode(err error) string {
	var answer api.SlackErrorResponse
	if errors.As(err, &answer) {
		return answer.Err
	}
	return ""
}

// explainError classifies the library's errors and says what was being done. What a code means depends on what was asked for: the first
// meaning that knows it counts, and the token's is the last.
func explainError(doing string, err error, about ...meaning) error {
	if err == nil {
		return nil
	}
	var late *api.RateLimitedError
	var status api.StatusCodeError
	answer := errorCode(err)
	switch {
	case errors.As(err, &late):
		return fmt.Errorf("%s: %w", doing, RateLimited{RetryAfter: max(late.RetryAfter, time.Second)})
	case errors.As(err, &status) && status.Code == http.StatusTooManyRequests, slices.Contains(limited, answer):
		return fmt.Errorf("%s: %w", doing, RateLimited{RetryAfter: pause})
	case answer == channelLimited:
		return fmt.Errorf("%s: %w", doing, RateLimited{RetryAfter: channelPause, Channel: true})
	}
	for _, m := range append(about, ofToken) {
		if why, known := m.codes[answer]; known {
			return fmt.Errorf("%s: %w", doing, refusal{m.is, why + missingScope(err), answer})
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// missingScope names the scope that is missing.
func missingScope(err error) string {
	var answer api.SlackErrorResponse
	if errors.As(err, &answer) && answer.Needed != "" {
		return ": " + answer.Needed
	}
	return ""
}

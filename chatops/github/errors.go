package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// The errors that callers distinguish.
var (
	// ErrGone says that the comment, check run or deployment to change no longer exists: create it again, with external id 0.
	ErrGone = errors.New("gone from GitHub")
	// ErrNotFound says that the repository, pull request, file or installation does not exist or is not visible to the App.
	ErrNotFound = errors.New("not found on GitHub")
	// ErrRefused says that GitHub understood the call and refused it (a locked conversation, a missing permission, a bad key, a
	// suspended installation). It will refuse the same call until a person changes something.
	ErrRefused = errors.New("refused by GitHub")
	// ErrLocked is an ErrRefused for comments on one pull request: its conversation is locked until a person unlocks it.
	ErrLocked = errors.New("the conversation is locked")
	// ErrSuspended is an ErrRefused for the whole App: it may do nothing in an installation until an owner unsuspends it.
	ErrSuspended = errors.New("the installation is suspended")
)

// RateLimited says that GitHub or our own pace wants this call later. Nothing was changed.
type RateLimited struct {
	RetryAfter time.Duration
	Spread     bool // GitHub did not refuse: the remaining calls are spread over the time until the reset
}

// Error implements error.
func (e RateLimited) Error() string {
	return fmt.Sprintf("rate limited by GitHub, again in %s", duration.Format(e.RetryAfter))
}

// convertError converts the client libraries' errors to the ones above, and says what was being done.
func convertError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if reason := byStatus(responseOf(err)); reason != nil && !isConverted(err) {
		err = fmt.Errorf("%w: %w", reason, err)
	}
	err = fmt.Errorf("%s: %w", doing, err)
	return withoutTokens(err)
}

// isConverted reports whether an error already is one of the above.
func isConverted(err error) bool {
	var limited RateLimited
	return errors.As(err, &limited) || errors.Is(err, ErrGone) || errors.Is(err, ErrNotFile) || errors.Is(err, ErrRefused)
}

// byStatus classifies errors that are not rate limits.
func byStatus(r *http.Response) error {
	if r == nil {
		return nil
	}
	switch r.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return ErrNotFound
	case http.StatusForbidden:
		return suspensionError(r)
	case http.StatusUnauthorized, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUnavailableForLegalReasons:
		return ErrRefused
	}
	return nil
}

// suspensionError says what to do about a suspended installation, which GitHub reports when a token is requested.
func suspensionError(r *http.Response) error {
	var got struct{ Message string }
	raw, _ := io.ReadAll(r.Body) // in memory, see peek
	if err := json.Unmarshal(raw, &got); err == nil && strings.Contains(got.Message, "suspended") {
		return fmt.Errorf("%w: %s; an owner of the organisation can lift that in its settings, under GitHub Apps", ErrRefused, got.Message)
	}
	return ErrRefused
}

// responseOf returns the HTTP response inside an error: of the call itself, or of fetching its token.
func responseOf(err error) *http.Response {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) {
		return answer.Response
	}
	return tokenAnswer(err)
}

func hasStatus(err error, status int) bool {
	var answer *gh.ErrorResponse
	return errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode == status
}

// asGone distinguishes a deleted object from other failures to change it.
func asGone(err error) error {
	if hasStatus(err, http.StatusNotFound) || hasStatus(err, http.StatusGone) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// tokens are the credentials that this package handles: an installation's token and the App's JWT.
var tokens = regexp.MustCompile(`\b(gh[a-z]_|github_pat_)[A-Za-z0-9_]+|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`)

// cleaned is an error with a token removed from its text: a proxy may quote what it was sent.
type cleaned struct {
	text string
	err  error
}

func (e cleaned) Error() string { return e.text }
func (e cleaned) Unwrap() error { return e.err }

func withoutTokens(err error) error {
	if text := err.Error(); tokens.MatchString(text) {
		return cleaned{tokens.ReplaceAllString(text, "***"), err}
	}
	return err
}

func atLeastASecond(d time.Duration) time.Duration { return max(d, time.Second) }

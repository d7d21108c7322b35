package github

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
)

// The answers a caller tells apart.
var (
	// ErrGone says that the comment or check run to change is not there any more: post anew, with external id 0.
	ErrGone = errors.New("gone from GitHub")
	// ErrNotFound says that the repository, pull request or installation is not there for us.
	ErrNotFound = errors.New("not found on GitHub")
	// ErrRefused says that GitHub understood and will not do it (a locked conversation, a missing permission, a bad
	// key): the same call will be refused again until a person changes something.
	ErrRefused = errors.New("refused by GitHub")
)

// RateLimited says that GitHub, or our own pace, wants this call later. Nothing was changed.
type RateLimited struct{ RetryAfter time.Duration }

// Error implements error.
func (e RateLimited) Error() string {
	return fmt.Sprintf("rate limited by GitHub, again in %s", e.RetryAfter.Round(time.Second))
}

// pause is what GitHub's documentation asks for when a limit names no time.
const pause = time.Minute

// explain turns what the client libraries answer into the errors above, with what was being done.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var ours RateLimited
	if errors.As(err, &ours) || errors.Is(err, ErrGone) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	var primary *gh.RateLimitError
	if errors.As(err, &primary) {
		return fmt.Errorf("%s: %w", doing, RateLimited{atLeastASecond(time.Until(primary.Rate.Reset.Time))})
	}
	var secondary *gh.AbuseRateLimitError
	if errors.As(err, &secondary) {
		wait := pause
		if secondary.RetryAfter != nil {
			wait = *secondary.RetryAfter
		}
		return fmt.Errorf("%s: %w", doing, RateLimited{atLeastASecond(wait)})
	}
	if reason := byStatus(response(err), err.Error()); reason != nil {
		return fmt.Errorf("%s: %w: %w", doing, reason, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// byStatus sorts what go-github v66 leaves unsorted: 429, limits without its known documentation link, plain 4xx.
func byStatus(r *http.Response, words string) error {
	if r == nil {
		return nil
	}
	limited := r.StatusCode == http.StatusTooManyRequests ||
		r.StatusCode == http.StatusForbidden && (r.Header.Get("Retry-After") != "" || strings.Contains(words, "rate limit"))
	switch {
	case limited:
		wait := pause
		if s, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil {
			wait = time.Duration(s) * time.Second
		}
		return RateLimited{atLeastASecond(wait)}
	case r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusGone:
		return ErrNotFound
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden ||
		r.StatusCode == http.StatusUnprocessableEntity || r.StatusCode == http.StatusUnavailableForLegalReasons:
		return ErrRefused
	}
	return nil
}

// response finds the HTTP answer inside an error: of the call itself, or of the token fetched for it.
func response(err error) *http.Response {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) {
		return answer.Response
	}
	var token *ghinstallation.HTTPError
	if errors.As(err, &token) && token.Response != nil {
		_ = token.Response.Body.Close() // the library leaves it open for us
		return token.Response
	}
	return nil
}

func unauthorized(err error) bool {
	var answer *gh.ErrorResponse
	return errors.As(err, &answer) && answer.Response.StatusCode == http.StatusUnauthorized
}

func atLeastASecond(d time.Duration) time.Duration { return max(d, time.Second) }

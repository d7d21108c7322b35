package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

const (
	awayAfter  = 3                // failures in a row before GitHub counts as unavailable
	firstProbe = time.Second      // delay until the next call, doubled with each failure
	lastProbe  = 20 * time.Second // so that pending updates are shown within a minute of GitHub's return
)

// Unavailable says that GitHub does not respond, or only with server errors. It can be handled as a RateLimited: retry the call after
// that time. Unlike with RateLimited, a write may have been done.
type Unavailable struct {
	RetryAfter time.Duration
	Err        error // of the last call that was made
}

// Error implements error.
func (e Unavailable) Error() string {
	return fmt.Sprintf("GitHub does not answer, again in %s: %v", duration.Format(e.RetryAfter), e.Err)
}

// Unwrap returns the error of the last call that was made.
func (e Unavailable) Unwrap() error { return e.Err }

// As allows an Unavailable to be handled as a RateLimited.
func (e Unavailable) As(target any) bool {
	limited, ok := target.(*RateLimited)
	if ok {
		limited.RetryAfter = e.RetryAfter
	}
	return ok
}

// health blocks calls while GitHub does not respond, except for an occasional probe: workers that wait for timeouts would be missing
// elsewhere.
type health struct {
	now   func() time.Time
	first time.Duration // see Config.Probe

	mu       sync.Mutex
	failures int // in a row
	err      error
	next     time.Time // no call before this, while GitHub is unavailable
}

// unavailableError returns the error for a call that would not be made now; nil: it would be made.
func (h *health) unavailableError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unavailableErrorLocked(h.now())
}

// unavailableErrorLocked is away without locking. Called with h.mu held.
func (h *health) unavailableErrorLocked(now time.Time) error {
	if wait := h.next.Sub(now); h.failures >= awayAfter && h.first >= 0 && wait > 0 {
		return Unavailable{RetryAfter: atLeastASecond(wait), Err: h.err}
	}
	return nil
}

// refuseOrProbe returns the error for a call that must not be made; nil: make it. While GitHub is unavailable, one probe is made at a time.
func (h *health) refuseOrProbe() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if err := h.unavailableErrorLocked(now); err != nil {
		return err
	}
	if h.failures >= awayAfter && h.first >= 0 {
		h.next = now.Add(h.nextProbeIn())
	}
	return nil
}

// nextProbeIn returns the time until the next call is allowed. Called with h.mu held.
func (h *health) nextProbeIn() time.Duration {
	return min(h.first<<min(h.failures-awayAfter, 10), lastProbe)
}

// recordFailure records that GitHub did not respond to a call, and returns the error for the caller.
func (h *health) recordFailure(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
	h.err = err
	if h.failures < awayAfter || h.first < 0 {
		return err
	}
	wait := h.nextProbeIn()
	h.next = h.now().Add(wait)
	return Unavailable{RetryAfter: atLeastASecond(wait), Err: err}
}

// recordSuccess records that GitHub responded.
func (h *health) recordSuccess() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.err = 0, nil
}

// maxSaid limits how much of an error response is quoted.
const maxSaid = 300

// noAnswer returns what went wrong if GitHub did not respond, or only with a server error; nil: it responded.
func noAnswer(ctx context.Context, answer *http.Response, err error) error {
	if err != nil {
		token := tokenAnswer(err)
		if token == nil && !errors.Is(ctx.Err(), context.Canceled) || token != nil && isOutageStatus(token.StatusCode) {
			return err
		}
		return nil // GitHub refused the token, or the caller cancelled
	}
	if !isOutageStatus(answer.StatusCode) {
		return nil
	}
	return fmt.Errorf("GitHub answered %s: %.*s", answer.Status, maxSaid, peekBody(answer))
}

func isOutageStatus(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	awayAfter  = 3                // failures in a row, before GitHub counts as away
	firstProbe = time.Second      // until the next call is let through, doubled with each failure
	lastProbe  = 20 * time.Second // so that what waits is shown within a minute of GitHub's return
)

// Unavailable says that GitHub does not answer, or answers only that it cannot. It can be taken for a RateLimited: the call is
// worth another try after that time. Unlike there, a write may have been done.
type Unavailable struct {
	RetryAfter time.Duration
	Err        error // of the last call that was tried
}

// Error implements error.
func (e Unavailable) Error() string {
	return fmt.Sprintf("GitHub does not answer, again in %s: %v", e.RetryAfter.Round(time.Second), e.Err)
}

// Unwrap returns the error of the last call that was tried.
func (e Unavailable) Unwrap() error { return e.Err }

// As lets an Unavailable be handled as a RateLimited.
func (e Unavailable) As(target any) bool {
	limited, ok := target.(*RateLimited)
	if ok {
		limited.RetryAfter = e.RetryAfter
	}
	return ok
}

// health keeps a client from calling a GitHub that does not answer, but for one call now and then that finds out whether it does
// again: workers that wait for timeouts would be missing elsewhere.
type health struct {
	now   func() time.Time
	first time.Duration // see Config.Probe

	mu       sync.Mutex
	failures int // in a row
	err      error
	next     time.Time // no call before, while GitHub is away
}

// away is the error for a call that would not be made now; nil: it would.
func (h *health) away() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waits(h.now())
}

// waits is away. Called with h.mu held.
func (h *health) waits(now time.Time) error {
	if wait := h.next.Sub(now); h.failures >= awayAfter && h.first >= 0 && wait > 0 {
		return Unavailable{RetryAfter: atLeastASecond(wait), Err: h.err}
	}
	return nil
}

// refused is the error for a call that is not made; nil: it is to be made. Of those that find out whether GitHub answers again
// one is made at a time.
func (h *health) refused() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if err := h.waits(now); err != nil {
		return err
	}
	if h.failures >= awayAfter && h.first >= 0 {
		h.next = now.Add(h.probe())
	}
	return nil
}

// probe is the time until the next call is let through. Called with h.mu held.
func (h *health) probe() time.Duration {
	return min(h.first<<min(h.failures-awayAfter, 10), lastProbe)
}

// failed notes that GitHub did not answer a call, and returns the error to hand on.
func (h *health) failed(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
	h.err = err
	if h.failures < awayAfter || h.first < 0 {
		return err
	}
	wait := h.probe()
	h.next = h.now().Add(wait)
	return Unavailable{RetryAfter: atLeastASecond(wait), Err: err}
}

// well notes that GitHub answered.
func (h *health) well() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.err = 0, nil
}

// maxSaid is how much is told of what an outage was answered with.
const maxSaid = 300

// noAnswer returns what went wrong where GitHub did not answer, or only said that it cannot; nil: it answered.
func noAnswer(ctx context.Context, answer *http.Response, err error) error {
	if err != nil {
		token := tokenAnswer(err)
		if token == nil && !errors.Is(ctx.Err(), context.Canceled) || token != nil && ill(token.StatusCode) {
			return err
		}
		return nil // GitHub refused the token, or whoever asked went away
	}
	if !ill(answer.StatusCode) {
		return nil
	}
	return fmt.Errorf("GitHub answered %s: %.*s", answer.Status, maxSaid, peek(answer))
}

func ill(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

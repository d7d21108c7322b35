package github

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
)

const (
	pause         = time.Minute     // GitHub's wait for a limit that names no time, doubled each time it is hit again
	longPause     = time.Hour       // longest wait that is believed: GitHub's limits end within an hour, so a longer one comes from a wrong clock or proxy
	notifyTimeout = 5 * time.Second // timeout for notifying the other processes
)

// The budgets that GitHub counts separately; a secondary limit applies to both.
const (
	rest    = "core"
	graphQL = "graphql"
	both    = ""
)

// limits is what GitHub has reported about the calls of one installation, or of the App itself. No call is made while a limit lasts:
// clients that go on may be banned.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
type limits struct {
	installation int64 // 0: the App itself
	now          func() time.Time
	reserve      int // percent of GitHub's limit that is kept for decisions
	perMinute    int // points of the secondary limit; 0: not counted
	health       *health
	notify       Config // its functions are notified of limits

	mu       sync.Mutex
	until    map[string]time.Time // by budget
	missed   [2]int               // consecutive limits that named no time: for reads, for writes
	budgets  map[string]Budget    // as reported last, by resource
	reported map[string]time.Time // when budgets were passed on
	written  time.Time            // when the last write had its turn
	slot     time.Time            // the time given to the last waiting write
	kept     time.Time            // the reset until which others were told that only the reserve is left
	spent    []point              // towards the secondary limit, in the last minute
	answers  *bool                // whether GitHub responds, as last passed on; nil: nothing yet
}

// checkWritable returns the error for a write that would not be made now.
func (l *limits) checkWritable(ctx context.Context) error {
	if err := l.checkCall(rest, rankOf(ctx)); err != nil {
		return err
	}
	return l.health.unavailableError()
}

// remainingBlock returns for how long no call may be made.
func (l *limits) remainingBlock(budget string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.until[both]
	if own := l.until[budget]; own.After(end) {
		end = own
	}
	return end.Sub(l.now())
}

// recordLimit records that a call hit a limit and returns how long it lasts.
func (l *limits) recordLimit(ctx context.Context, budget string, write bool, h http.Header) time.Duration {
	wait, reach := l.readLimit(budget, write, h)
	wait = min(atLeastASecond(wait), longPause)
	l.holdUntil(reach, l.now().Add(wait))
	// Almost all writes use REST, and the App itself writes nothing.
	if l.notify.Limited != nil && l.installation != 0 && reach != graphQL {
		runNotification(ctx, func(ctx context.Context) { l.notify.Limited(ctx, l.installation, wait) })
	}
	return wait
}

// runNotification runs a notification even if the call that caused it is cancelled.
func runNotification(ctx context.Context, notify func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	notify(ctx)
}

// reportHealth passes on whether GitHub responds, if that changed.
func (l *limits) reportHealth(ctx context.Context, does bool) {
	l.mu.Lock()
	news := l.answers == nil || *l.answers != does
	l.answers = &does
	l.mu.Unlock()
	if news && l.notify.Answers != nil {
		runNotification(ctx, func(ctx context.Context) { l.notify.Answers(ctx, l.installation, does) })
	}
}

// learnBudget records the budget that a response reports. If only the reserve is left, the other processes are told that writes wait.
func (l *limits) learnBudget(ctx context.Context, resource string, h http.Header) {
	b, ok := budgetOf(resource, h)
	if !ok {
		return
	}
	report, wait := l.storeBudget(b)
	if report && l.notify.Budget != nil {
		runNotification(ctx, func(ctx context.Context) { l.notify.Budget(ctx, l.installation, b) })
	}
	if wait > 0 && l.notify.Limited != nil && l.installation != 0 && resource == rest {
		runNotification(ctx, func(ctx context.Context) { l.notify.Limited(ctx, l.installation, wait) })
	}
}

// holdUntil blocks the calls of a budget until then, or until a later time that is known.
func (l *limits) holdUntil(budget string, end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if latest := l.now().Add(longPause); end.After(latest) {
		end = latest
	}
	if end.After(l.until[budget]) {
		l.until[budget] = end
	}
}

// readLimit reads how long a limit lasts and which budget it applies to.
func (l *limits) readLimit(budget string, write bool, h http.Header) (time.Duration, string) {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		return time.Duration(min(s, int(longPause/time.Second))) * time.Second, both // a larger one would overflow
	}
	if reset, spent := isPrimaryLimitSpent(h); spent {
		return reset.Sub(l.now()), budget
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &l.missed[kindOfCall(write)]
	wait := min(pause<<min(*n, 10), longPause)
	*n++
	return wait, both
}

// recordSuccess records that a call succeeded.
func (l *limits) recordSuccess(write bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed[kindOfCall(write)] = 0
}

func kindOfCall(write bool) int {
	if write {
		return 1
	}
	return 0
}

// isPrimaryLimitSpent reports that nothing is left of the primary limit, and until when.
func isPrimaryLimitSpent(h http.Header) (reset time.Time, ok bool) {
	at, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	return time.Unix(at, 0), err == nil && h.Get("X-Ratelimit-Remaining") == "0"
}

// gate is the transport that enforces the limits. It returns RateLimited itself: go-github v66 knows neither 429 nor a limit without
// a time, and would take the primary limit's reset for the end of a secondary one.
type gate struct {
	next http.RoundTripper
	*limits
}

// RoundTrip implements http.RoundTripper.
func (g gate) RoundTrip(req *http.Request) (*http.Response, error) {
	budget := rest
	if strings.HasSuffix(req.URL.Path, "/graphql") {
		budget = graphQL
	}
	write := budget == rest && req.Method != http.MethodGet || isMutation(req.Context())
	err := g.checkCall(budget, rankOf(req.Context()))
	if err == nil {
		err = g.health.refuseOrProbe()
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing of it was read
		}
		return nil, err
	}
	g.countCall(write)
	answer, err := g.next.RoundTrip(req)
	if away := noAnswer(req.Context(), answer, err); away != nil {
		return g.passOutage(req.Context(), answer, away)
	}
	heard := answer
	if err != nil {
		if heard = tokenAnswer(err); heard == nil {
			return nil, err
		}
	}
	g.health.recordSuccess()
	g.reportHealth(req.Context(), true)
	if answer != nil { // the headers of a token response are about the App's own limit
		g.learnBudget(req.Context(), budget, heard.Header)
	}
	if heard.StatusCode < http.StatusBadRequest {
		g.recordSuccess(write)
		if reset, last := isPrimaryLimitSpent(heard.Header); last {
			g.holdUntil(budget, reset)
			heard.Header.Del("X-Ratelimit-Reset") // go-github would keep a limit of its own and confuse GraphQL's with REST's on GitHub Enterprise Server
		}
		return answer, nil
	}
	if body := peekBody(heard); isRateLimit(heard, body) {
		return nil, RateLimited{RetryAfter: g.recordLimit(req.Context(), budget, write, heard.Header)}
	}
	return answer, err
}

// checkCall returns the error for a call of a rank that the limits block now.
func (l *limits) checkCall(budget string, r rank) error {
	if wait := max(l.remainingBlock(budget), l.waitForReserve(budget, r)); wait > 0 {
		return RateLimited{RetryAfter: atLeastASecond(wait)}
	}
	return nil
}

// passOutage passes on that GitHub did not respond. A response is kept as long as it does not count as an outage.
func (g gate) passOutage(ctx context.Context, answer *http.Response, why error) (*http.Response, error) {
	err := g.health.recordFailure(why)
	var down Unavailable
	if !errors.As(err, &down) {
		if answer != nil {
			return answer, nil
		}
		return nil, err
	}
	if answer != nil {
		_ = answer.Body.Close()
	}
	g.reportHealth(ctx, false)
	return nil, err
}

// tokenAnswer returns GitHub's response to a token request, if that request failed.
func tokenAnswer(err error) *http.Response {
	var token *ghinstallation.HTTPError
	if errors.As(err, &token) {
		return token.Response
	}
	return nil
}

const maxComplaint = 64 << 10

// peekBody reads the body of an error response and leaves it readable.
func peekBody(answer *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxComplaint)) // a partial text is enough
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// isRateLimit distinguishes a rate limit from other errors. A secondary one may be recognisable only by its text.
func isRateLimit(answer *http.Response, body []byte) bool {
	switch answer.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		_, primary := isPrimaryLimitSpent(answer.Header)
		return primary || answer.Header.Get("Retry-After") != "" || aboutLimits(string(body))
	}
	return false
}

func aboutLimits(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "rate limit") || strings.Contains(text, "abuse detection")
}

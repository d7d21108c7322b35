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
	pause     = time.Minute     // what GitHub asks for when a limit names no time, doubled each time it is met again
	longPause = time.Hour       // the longest that is believed: GitHub's limits are over within the hour, what says more is a clock or a proxy gone wrong
	tellTime  = 5 * time.Second // for telling the other processes
)

// The budgets GitHub counts apart; a secondary limit is one for both.
const (
	rest    = "core"
	graphQL = "graphql"
	both    = ""
)

// limits is what GitHub has said about the calls of one installation, or of the App itself. While a limit lasts no call
// is made: who goes on calling may be shut out.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
type limits struct {
	installation int64 // 0: the App itself
	now          func() time.Time
	reserve      int // percent of what GitHub allows that is kept for decisions
	perMinute    int // points of the secondary limit; 0: they are not counted
	health       *health
	tell         Config // whose functions are told of limits

	mu       sync.Mutex
	until    map[string]time.Time // by budget
	missed   [2]int               // limits met in a row that named no time: by reads, by writes
	budgets  map[string]Budget    // as reported last, by resource
	reported map[string]time.Time // when they were handed on
	written  time.Time            // when the last write had its turn
	slot     time.Time            // for when the last one that waits was told to come
	kept     time.Time            // the reset until which others were told that the reserve is kept
	spent    []point              // of the secondary limit, in the last minute
	answers  *bool                // what others were told of it: whether GitHub answers; nil: nothing
}

// writable is the error for a write that would not be made now.
func (l *limits) writable(ctx context.Context) error {
	if err := l.may(rest, rankOf(ctx)); err != nil {
		return err
	}
	return l.health.away()
}

// held says how long no call may be made.
func (l *limits) held(budget string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.until[both]
	if own := l.until[budget]; own.After(end) {
		end = own
	}
	return end.Sub(l.now())
}

// met notes that a call ran into a limit and returns how long it lasts.
func (l *limits) met(ctx context.Context, budget string, write bool, h http.Header) time.Duration {
	wait, reach := l.term(budget, write, h)
	wait = min(atLeastASecond(wait), longPause)
	l.holdUntil(reach, l.now().Add(wait))
	// What is written goes through REST alone, and the App itself writes nothing.
	if l.tell.Limited != nil && l.installation != 0 && reach != graphQL {
		telling(ctx, func(ctx context.Context) { l.tell.Limited(ctx, l.installation, wait) })
	}
	return wait
}

// telling hands something on, whatever becomes of the call that it was learnt by.
func telling(ctx context.Context, tell func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	tell(ctx)
}

// reports hands on whether GitHub answers, where that is news.
func (l *limits) reports(ctx context.Context, does bool) {
	l.mu.Lock()
	news := l.answers == nil || *l.answers != does
	l.answers = &does
	l.mu.Unlock()
	if news && l.tell.Answers != nil {
		telling(ctx, func(ctx context.Context) { l.tell.Answers(ctx, l.installation, does) })
	}
}

// learn notes the budget that an answer reports. Where only the reserve is left, the other processes hear that writes wait.
func (l *limits) learn(ctx context.Context, resource string, h http.Header) {
	b, ok := budgetOf(resource, h)
	if !ok {
		return
	}
	report, wait := l.note(b)
	if report && l.tell.Budget != nil {
		telling(ctx, func(ctx context.Context) { l.tell.Budget(ctx, l.installation, b) })
	}
	if wait > 0 && l.tell.Limited != nil && l.installation != 0 && resource == rest {
		telling(ctx, func(ctx context.Context) { l.tell.Limited(ctx, l.installation, wait) })
	}
}

// holdUntil lets no call of a budget through before the end, or before a later one that is known.
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

// term reads how long a limit lasts and which budget it is of.
func (l *limits) term(budget string, write bool, h http.Header) (time.Duration, string) {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		return time.Duration(min(s, int(longPause/time.Second))) * time.Second, both // a larger one would not fit
	}
	if reset, spent := spent(h); spent {
		return reset.Sub(l.now()), budget
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &l.missed[kind(write)]
	wait := min(pause<<min(*n, 10), longPause)
	*n++
	return wait, both
}

// fine notes that a call went through.
func (l *limits) fine(write bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed[kind(write)] = 0
}

func kind(write bool) int {
	if write {
		return 1
	}
	return 0
}

// spent tells that nothing is left of the primary limit, and until when.
func spent(h http.Header) (reset time.Time, ok bool) {
	at, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	return time.Unix(at, 0), err == nil && h.Get("X-Ratelimit-Remaining") == "0"
}

// gate is the transport that keeps the limits. It answers RateLimited itself: go-github v66 knows neither 429 nor a
// limit that names no time, and would take the primary limit's reset for the end of a secondary one.
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
	write := budget == rest && req.Method != http.MethodGet
	err := g.may(budget, rankOf(req.Context()))
	if err == nil {
		err = g.health.refused()
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing was read of it
		}
		return nil, err
	}
	g.spend(write)
	answer, err := g.next.RoundTrip(req)
	if away := noAnswer(req.Context(), answer, err); away != nil {
		return g.away(req.Context(), answer, away)
	}
	heard := answer
	if err != nil {
		if heard = tokenAnswer(err); heard == nil {
			return nil, err
		}
	}
	g.health.well()
	g.reports(req.Context(), true)
	if answer != nil { // that for a token is of the App's own limit
		g.learn(req.Context(), budget, heard.Header)
	}
	if heard.StatusCode < http.StatusBadRequest {
		g.fine(write)
		if reset, last := spent(heard.Header); last {
			g.holdUntil(budget, reset)
			heard.Header.Del("X-Ratelimit-Reset") // go-github would keep a limit of its own, which takes GraphQL's on a server for REST's
		}
		return answer, nil
	}
	if words := peek(heard); limiting(heard, words) {
		return nil, RateLimited{RetryAfter: g.met(req.Context(), budget, write, heard.Header)}
	}
	return answer, err
}

// may is the error for a call of a rank that the limits keep from being made now.
func (l *limits) may(budget string, r rank) error {
	if wait := max(l.held(budget), l.reserved(budget, r)); wait > 0 {
		return RateLimited{RetryAfter: atLeastASecond(wait)}
	}
	return nil
}

// away hands on that GitHub did not answer. What it did say is kept where it is not yet taken for an outage.
func (g gate) away(ctx context.Context, answer *http.Response, why error) (*http.Response, error) {
	err := g.health.failed(why)
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
	g.reports(ctx, false)
	return nil, err
}

// tokenAnswer is what GitHub answered when a token was asked for, where that is what went wrong.
func tokenAnswer(err error) *http.Response {
	var token *ghinstallation.HTTPError
	if errors.As(err, &token) {
		return token.Response
	}
	return nil
}

const maxComplaint = 64 << 10

// peek reads the body of a complaint and leaves it to be read again.
func peek(answer *http.Response) []byte {
	words, _ := io.ReadAll(io.LimitReader(answer.Body, maxComplaint)) // what is missing of it is missing of the words
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(words))
	return words
}

// limiting tells a limit from other complaints. A secondary one may come without a header, in words alone.
func limiting(answer *http.Response, words []byte) bool {
	switch answer.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		_, primary := spent(answer.Header)
		return primary || answer.Header.Get("Retry-After") != "" || aboutLimits(string(words))
	}
	return false
}

func aboutLimits(words string) bool {
	words = strings.ToLower(words)
	return strings.Contains(words, "rate limit") || strings.Contains(words, "abuse detection")
}

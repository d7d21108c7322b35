package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// fromGitHub requests the job's own token for an audience from GitHub Actions.
func fromGitHub(audience string, env func(string) string, send *retrier) source {
	return func(ctx context.Context) (token, error) {
		address, secret := env("ACTIONS_ID_TOKEN_REQUEST_URL"), env("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
		if address == "" || secret == "" {
			return token{}, exit.With(exit.Denied, fmt.Errorf("sign in: %w", noToken(env)))
		}
		u, err := url.Parse(address)
		if err != nil {
			return token{}, errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is not a valid address")
		}
		query := u.Query()
		query.Set("audience", audience)
		u.RawQuery = query.Encode()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return token{}, err
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("User-Agent", "ocpctl/"+send.Version)
		return send.jobToken(r)
	}
}

// jobToken requests a job's token until GitHub Actions gives it, or the job ends. GitHub's service sometimes refuses or fails for
// minutes, and without a token the job has failed anyway.
func (r *retrier) jobToken(request *http.Request) (token, error) {
	ctx := request.Context()
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		got, again, err := r.askForToken(request)
		if err == nil || again == 0 {
			return got, err
		}
		again = max(again, wait/2+rand.N(wait))
		if r.Stderr != nil {
			fmt.Fprintf(r.Stderr, "%v; trying again in %s\n", err, duration.Format(again)) // the log may be closed
		}
		if slept := r.Sleep(ctx, again); slept != nil {
			return token{}, fmt.Errorf("%w (%w)", err, slept)
		}
	}
}

// firstWait is the pause before a token is requested for the second time; each later one is twice as long, up to mostWait.
const firstWait = time.Second

// askForToken requests a token once. again is how long GitHub wants to be left alone, at least a nanosecond, if another try may help;
// zero: it cannot.
func (r *retrier) askForToken(request *http.Request) (got token, again time.Duration, err error) {
	const doing = "ask GitHub Actions for a token"
	res, err := r.sendOnce(request)
	if err != nil {
		return token{}, 1, fmt.Errorf("%s: %w", doing, withoutURL(err))
	}
	defer freeConnection(res)
	raw, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	var said struct{ Value, Message string }
	_ = json.Unmarshal(raw, &said) // what is no JSON object is quoted, or holds no token
	switch {
	case err != nil:
		return token{}, 1, fmt.Errorf("%s: %w", doing, err)
	case res.StatusCode == http.StatusOK:
		got, err := fromText([]byte(said.Value), "the response of GitHub Actions")
		return got, 0, err
	}
	err = fmt.Errorf("%s: the response was %s", doing, res.Status)
	if words := quoteText(cmp.Or(said.Message, string(raw))); words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	if isTemporary(res.StatusCode) {
		again = max(1, retryAfter(res))
	}
	return token{}, again, err
}

// isTemporary reports whether a request for a token that got this status may succeed later: GitHub refuses jobs with 403 for a while, too.
func isTemporary(status int) bool {
	return status == http.StatusForbidden || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// mostWords limits what an error quotes.
const mostWords = 300

// quoteText returns a response's text for an error: on one line, cut where it is long, and without control characters.
func quoteText(text string) string {
	words := []rune(humanize.Line(text))
	if len(words) > mostWords {
		return string(words[:mostWords]) + "…"
	}
	return string(words)
}

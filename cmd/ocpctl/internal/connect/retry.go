package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// retrier sends requests with a token, if there is one, and repeats them if that cannot do anything twice.
type retrier struct {
	client *http.Client
	keep   *keeper // nil: no token
	Options
}

const (
	tries    = 6
	mostWait = time.Minute // a longer wait is left to the person
)

// Do implements the generated client's HttpRequestDoer.
func (r *retrier) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", "ocpctl/"+r.Version)
	refused := false
	for try := 1; ; try++ {
		res, err := r.send(request)
		if err == nil && res.StatusCode == http.StatusUnauthorized && !refused && r.keep != nil {
			refused = true
			if _, other, fresh := r.keep.bearer(request.Context(), true); fresh == nil && other {
				drop(res)
				continue
			}
		}
		wait, again := patience(request, res, err, try)
		if !again {
			return res, say(err, request)
		}
		if res != nil {
			drop(res)
		}
		r.trace("retrying in %s", wait.Round(time.Millisecond))
		if err := r.Sleep(request.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// send sends the request once, with its body from the start.
func (r *retrier) send(request *http.Request) (*http.Response, error) {
	sent := request.Clone(request.Context())
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		sent.Body = body
	}
	if r.keep != nil {
		bearer, _, err := r.keep.bearer(request.Context(), false)
		if err != nil {
			return nil, err
		}
		sent.Header.Set("Authorization", "Bearer "+bearer)
	}
	began := r.Now()
	res, err := r.client.Do(sent)
	if err != nil {
		r.trace("%s %s: %v", sent.Method, path(sent), bare(err))
		return nil, err
	}
	r.trace("%s %s: %s in %s", sent.Method, path(sent), res.Status, r.Now().Sub(began).Round(time.Millisecond))
	return res, nil
}

func (r *retrier) trace(format string, args ...any) {
	if r.Trace != nil {
		r.Trace(format, args...)
	}
}

// patience decides whether and when to retry. A request answered with 429 or 503 was not executed; one without a response may have
// been, and is repeated only if the server executes it once.
func patience(request *http.Request, res *http.Response, err error, try int) (time.Duration, bool) {
	if try >= tries || request.Context().Err() != nil {
		return 0, false
	}
	backoff := time.Duration(1<<(try-1)) * 500 * time.Millisecond
	backoff = backoff/2 + rand.N(backoff)
	if err != nil {
		var signIn *exit.Error
		return backoff, !errors.As(err, &signIn) && (repeatable(request) || neverSent(err))
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
	case http.StatusBadGateway, http.StatusGatewayTimeout: // from a proxy, which may have passed it on
		return backoff, repeatable(request)
	default:
		return 0, false
	}
	if asked := retryAfter(res); asked > mostWait {
		return 0, false
	} else if asked > 0 {
		return asked + rand.N(250*time.Millisecond), true
	}
	return backoff, true
}

func retryAfter(res *http.Response) time.Duration {
	raw := res.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(raw); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(raw); err == nil {
		return time.Until(at)
	}
	return 0
}

// repeatable reports that the server executes a request only once, however often it arrives. A create has a key for that.
func repeatable(request *http.Request) bool {
	if request.Method == http.MethodGet || request.Method == http.MethodDelete || request.Header.Get("Idempotency-Key") != "" {
		return true
	}
	for _, last := range []string{"/dry-run", "/destroy", "/shares", "/transfer", "/scale-workers", "/abandon", "/retry", "/validate", "/reload", "/test-reports"} {
		if strings.HasSuffix(request.URL.Path, last) {
			return true
		}
	}
	return false
}

// neverSent reports that no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// say translates a connection error and adds the next step. An error with an exit code is left unchanged.
func say(err error, request *http.Request) error {
	var said *exit.Error
	if err == nil || errors.As(err, &said) || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) && request.Context().Err() != nil {
		return err
	}
	where := request.URL.Scheme + "://" + request.URL.Host
	if repeatable(request) {
		return fmt.Errorf("connect to %s: %w\nCheck that the server is running and that this machine can reach it", where, bare(err))
	}
	return fmt.Errorf("connect to %s: %w\nThe server may or may not have received the request. Check with ocpctl status before you repeat it", where, bare(err))
}

// path returns a request's path without secrets.
func path(r *http.Request) string {
	if before, _, link := strings.Cut(r.URL.Path, "/links/"); link {
		return before + "/links/***"
	}
	return r.URL.Path
}

// bare removes the request's URL from an error, because a link's URL is a secret.
func bare(err error) error {
	var u interface{ Unwrap() error }
	if errors.As(err, &u) {
		if inner := u.Unwrap(); inner != nil {
			return inner
		}
	}
	return err
}

// drop frees the connection for the next request.
func drop(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	res.Body.Close()
}

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
		res, err := r.sendOnce(request)
		if err == nil && res.StatusCode == http.StatusUnauthorized && !refused && r.keep != nil {
			refused = true
			switch _, other, fresh := r.keep.getBearer(request.Context(), true); {
			case errors.Is(fresh, errSignInEnded):
				freeConnection(res)
				return nil, fresh
			case fresh == nil && other:
				freeConnection(res)
				continue
			}
		}
		wait, again := retryWait(request, res, err, try)
		if !again {
			return res, explainError(err, request)
		}
		if res != nil {
			freeConnection(res)
		}
		r.traceRequest("retrying in %s", wait.Round(time.Millisecond))
		if err := r.Sleep(request.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// sendOnce sends the request once, with its body from the start.
func (r *retrier) sendOnce(request *http.Request) (*http.Response, error) {
	sent := request.Clone(request.Context())
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		sent.Body = body
	}
	if r.keep != nil {
		bearer, _, err := r.keep.getBearer(request.Context(), false)
		if err != nil {
			return nil, err
		}
		sent.Header.Set("Authorization", "Bearer "+bearer)
	}
	began := r.Now()
	res, err := r.client.Do(sent)
	if err != nil {
		r.traceRequest("%s %s: %v", sent.Method, safePath(sent), withoutURL(err))
		return nil, err
	}
	r.traceRequest("%s %s: %s in %s", sent.Method, safePath(sent), res.Status, r.Now().Sub(began).Round(time.Millisecond))
	return res, nil
}

func (r *retrier) traceRequest(format string, args ...any) {
	if r.Trace != nil {
		r.Trace(format, args...)
	}
}

// retryWait decides whether and when to retry. A request answered with 429 or 503 was not executed; one without a response may have
// been, and is repeated only if the server executes it once.
func retryWait(request *http.Request, res *http.Response, err error, try int) (time.Duration, bool) {
	if try >= tries || request.Context().Err() != nil {
		return 0, false
	}
	backoff := time.Duration(1<<(try-1)) * 500 * time.Millisecond
	backoff = backoff/2 + rand.N(backoff)
	if err != nil {
		var signIn *exit.Error
		return backoff, !errors.As(err, &signIn) && (isRepeatable(request) || neverSent(err))
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
	case http.StatusBadGateway, http.StatusGatewayTimeout: // from a proxy that may have passed it on, or a server that may have executed it
		return backoff, isRepeatable(request)
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

// isRepeatable reports that the server executes a request only once, however often it arrives. A create has a key for that.
func isRepeatable(request *http.Request) bool {
	if request.Method == http.MethodGet || request.Method == http.MethodDelete || request.Header.Get("Idempotency-Key") != "" {
		return true
	}
	for _, last := range []string{"/dry-run", "/destroy", "/shares", "/transfer", "/scale-workers", "/abandon", "/retry", "/validate", "/reload", "/test-reports", "/uses"} {
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

// explainError translates a connection error and adds the next step. An error with an exit code is left unchanged.
func explainError(err error, request *http.Request) error {
	var said *exit.Error
	if err == nil || errors.As(err, &said) || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) && request.Context().Err() != nil {
		return err
	}
	where := request.URL.Scheme + "://" + request.URL.Host
	if isRepeatable(request) {
		return fmt.Errorf("connect to %s: %w\nCheck that the server is running and that this machine can reach it", where, withoutURL(err))
	}
	return fmt.Errorf("connect to %s: %w\nThe server may or may not have received the request. Check with ocpctl status before you repeat it", where, withoutURL(err))
}

// safePath returns a request's path without secrets.
func safePath(r *http.Request) string {
	if before, _, link := strings.Cut(r.URL.Path, "/links/"); link {
		return before + "/links/***"
	}
	return r.URL.Path
}

// withoutURL removes the request's URL from an error, because a link's URL is a secret.
func withoutURL(err error) error {
	var u interface{ Unwrap() error }
	if errors.As(err, &u) {
		if inner := u.Unwrap(); inner != nil {
			return inner
		}
	}
	return err
}

// freeConnection frees the connection for the next request.
func freeConnection(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	res.Body.Close()
}

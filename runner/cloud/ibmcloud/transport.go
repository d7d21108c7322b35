package ibmcloud

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// tries of one request, and the longest wait between two: in an account whose request rate others exhaust, a response comes within
	// seconds, while an unreachable service must not cost every query its whole timeout.
	tries      = 5
	firstWait  = 250 * time.Millisecond
	maxWait    = 4 * time.Second
	headerWait = 20 * time.Second
)

// retrying repeats what did not reach a service: a request that was throttled, and a read that failed. IBM's own retries would repeat a create
// after a 500, and wait as long as a service says.
type retrying struct {
	next http.RoundTripper
	wait time.Duration // before the second try; it doubles
}

func newHTTPClient(wait time.Duration) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerWait
	return &http.Client{Timeout: callTimeout, Transport: retrying{next: transport, wait: wait}}
}

// RoundTrip implements http.RoundTripper.
func (t retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	wait := t.wait
	for try := 1; ; try++ {
		response, err := t.next.RoundTrip(r)
		if try == tries || r.Context().Err() != nil || !isRepeatable(r, response, err) {
			return response, err
		}
		pause := wait
		if response != nil {
			pause = max(wait, retryAfter(response))
			_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
			_ = response.Body.Close()
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(min(pause, maxWait)):
		}
		wait *= 2
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r = r.Clone(r.Context())
			r.Body = body
		}
	}
}

// isRepeatable reports that a request may be sent again: it was throttled, which means that nothing was done, or it only reads. A request for
// a token reads, too.
func isRepeatable(r *http.Request, response *http.Response, err error) bool {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	reads := r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/identity/token") || strings.HasSuffix(r.URL.Path, "/v3/resources/search")
	switch {
	case err != nil:
		return reads
	case response.StatusCode == http.StatusTooManyRequests:
		return true
	}
	return reads && response.StatusCode >= 500 && response.StatusCode != http.StatusNotImplemented
}

// retryAfter is how long a service wants to be left alone; zero: it does not say. A date is not read: the wait then grows as
// without it.
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

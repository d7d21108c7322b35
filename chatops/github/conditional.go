package github

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

const (
	maxKept     = 512       // answers of one installation that are remembered
	maxKeptBody = 256 << 10 // and the largest of them, in bytes
)

// conditional asks for what it was answered before on condition that it changed. GitHub answers 304 to what did not, which counts
// towards no limit; the caller gets the answer it was given then. Nothing is answered without asking GitHub.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type conditional struct {
	next http.RoundTripper

	mu    sync.Mutex
	kept  map[string]answer // by address and what kind of answer was asked for
	order []string          // oldest first
}

// answer is what GitHub answered, with the mark by which it tells whether that is still so.
type answer struct {
	etag, contentType, link string
	body                    []byte
}

// RoundTrip implements http.RoundTripper.
func (c *conditional) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.Header.Get("If-None-Match") != "" {
		return c.next.RoundTrip(req)
	}
	key := req.Header.Get("Accept") + " " + req.URL.String()
	before, known := c.get(key)
	if known {
		req = req.Clone(req.Context()) // a transport changes no request that it was given
		req.Header.Set("If-None-Match", before.etag)
	}
	got, err := c.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case known && got.StatusCode == http.StatusNotModified:
		return before.again(got), nil
	case got.StatusCode == http.StatusOK && got.Header.Get("ETag") != "":
		return c.keep(key, got)
	}
	return got, nil
}

// again is the answer of before with the headers of the new one, which tell what is left of the limits.
func (a answer) again(now *http.Response) *http.Response {
	_ = now.Body.Close() // it has none
	now.StatusCode, now.Status = http.StatusOK, "200 OK"
	now.Body, now.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
	for name, value := range map[string]string{"Content-Type": a.contentType, "Link": a.link, "ETag": a.etag} {
		if value != "" {
			now.Header.Set(name, value)
		}
	}
	return now
}

// keep remembers an answer that is not too large.
func (c *conditional) keep(key string, got *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(got.Body, maxKeptBody+1))
	if err != nil {
		_ = got.Body.Close()
		return nil, err
	}
	if len(body) > maxKeptBody { // what was read, and the rest
		got.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), got.Body), got.Body}
		return got, nil
	}
	if err := got.Body.Close(); err != nil {
		return nil, err
	}
	got.Body = io.NopCloser(bytes.NewReader(body))
	c.put(key, answer{etag: got.Header.Get("ETag"), contentType: got.Header.Get("Content-Type"), link: strings.Join(got.Header.Values("Link"), ", "), body: body})
	return got, nil
}

func (c *conditional) get(key string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[key]
	return a, ok
}

func (c *conditional) put(key string, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]answer{}
	}
	if _, ok := c.kept[key]; !ok {
		if len(c.order) == maxKept {
			delete(c.kept, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.kept[key] = a
}

package github

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

const (
	maxKept     = 512       // responses of one installation that are cached
	maxKeptBody = 256 << 10 // size limit of each, in bytes
)

// conditional makes repeated requests conditional. GitHub answers 304 if nothing changed, which counts towards no limit; the caller
// then gets the cached response. Nothing is answered without asking GitHub.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type conditional struct {
	next http.RoundTripper

	mu    sync.Mutex
	kept  map[string]answer // by URL and requested media type
	order []string          // oldest first
}

// answer is a response of GitHub with its ETag.
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
	before, known := c.getAnswer(key)
	if known {
		req = req.Clone(req.Context()) // a transport must not change the request that it is given
		req.Header.Set("If-None-Match", before.etag)
	}
	got, err := c.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case known && got.StatusCode == http.StatusNotModified:
		return before.revalidate(got), nil
	case got.StatusCode == http.StatusOK && got.Header.Get("ETag") != "":
		return c.cacheResponse(key, got)
	}
	return got, nil
}

// revalidate returns the cached response with the headers of the new one, which report the remaining limits.
func (a answer) revalidate(now *http.Response) *http.Response {
	_ = now.Body.Close() // it is empty
	now.StatusCode, now.Status = http.StatusOK, "200 OK"
	now.Body, now.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
	for name, value := range map[string]string{"Content-Type": a.contentType, "Link": a.link, "ETag": a.etag} {
		if value != "" {
			now.Header.Set(name, value)
		}
	}
	return now
}

// cacheResponse caches a response that is not too large.
func (c *conditional) cacheResponse(key string, got *http.Response) (*http.Response, error) {
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
	c.putAnswer(key, answer{etag: got.Header.Get("ETag"), contentType: got.Header.Get("Content-Type"), link: strings.Join(got.Header.Values("Link"), ", "), body: body})
	return got, nil
}

func (c *conditional) getAnswer(key string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[key]
	return a, ok
}

func (c *conditional) putAnswer(key string, a answer) {
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

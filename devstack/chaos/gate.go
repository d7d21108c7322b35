package chaos

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"

	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// call identifies a request: whose it is and what it does.
type call struct {
	pr   int
	what string
}

// hold blocks one call: before the server sees it, or after it responded and before the response arrives.
type hold struct {
	call
	nth   int // the nth of these calls, counted from 1
	after bool

	held    chan struct{} // closed when the call is blocked
	release chan struct{} // closed to release it
}

// gate is an HTTP proxy on which single calls can be held.
type gate struct {
	addr  string
	names func(*http.Request, []byte) (call, bool)
	proxy *httputil.ReverseProxy
	stop  func() error

	mu    sync.Mutex
	count map[call]int
	seen  []call
	holds []*hold
}

// startGate starts a gate to another address. names identifies the relevant calls; it gets the body of calls with a short one.
func startGate(to string, names func(*http.Request, []byte) (call, bool)) (_ *gate, err error) {
	defer must.Catch(&err)
	target := must.Get(url.Parse(to))
	listener := must.Get(listen.On(context.Background(), "", "the gate"))
	g := &gate{addr: listener.Addr().String(), names: names, count: map[call]int{}}
	g.proxy = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }, // signatures cover the host
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // break the connection instead of responding
	}
	g.stop = listen.Serve(context.Background(), listener, http.HandlerFunc(g.serve), "the gate")
	return g, nil
}

func (g *gate) close() { _ = g.stop() }

func (g *gate) serve(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.ContentLength >= 0 && r.ContentLength < 1<<20 {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	h := g.match(r, body)
	switch {
	case h == nil:
		g.proxy.ServeHTTP(w, r)
	case !h.after:
		if h.keep(r.Context()) == nil {
			g.proxy.ServeHTTP(w, r)
		}
	default:
		answer := &kept{header: http.Header{}}
		// The server has the call and executes it, even if the caller disconnected.
		g.proxy.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
		if h.keep(r.Context()) == nil {
			answer.writeTo(w)
		}
	}
}

// keep blocks a call until it is released or the caller disconnected.
func (h *hold) keep(ctx context.Context) error {
	close(h.held)
	select {
	case <-h.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// match counts a call and returns the hold that waits for it.
func (g *gate) match(r *http.Request, body []byte) *hold {
	c, ok := g.names(r, body)
	if !ok {
		return nil
	}
	return g.meet(c)
}

// meet is match for a call that is known.
func (g *gate) meet(c call) *hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count[c]++
	g.seen = append(g.seen, c)
	i := slices.IndexFunc(g.holds, func(h *hold) bool { return h.call == c && h.nth <= g.count[c] })
	if i < 0 {
		return nil
	}
	h := g.holds[i]
	g.holds = slices.Delete(g.holds, i, i+1)
	return h
}

// arm makes the gate hold a future call.
func (g *gate) arm(c call, nth int, after bool) *hold {
	h := &hold{call: c, nth: nth, after: after, held: make(chan struct{}), release: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = append(g.holds, h)
	return h
}

// disarm removes a hold that matched no call, and releases one that did.
func (g *gate) disarm(h *hold) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = slices.DeleteFunc(g.holds, func(other *hold) bool { return other == h })
	close(h.release)
}

// of returns the calls of a pull request in order.
func (g *gate) of(pr int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, c := range g.seen {
		if c.pr == pr {
			out = append(out, c.what)
		}
	}
	return out
}

// kept is a response that was not sent yet.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(p []byte) (int, error) { return k.body.Write(p) }

func (k *kept) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.header)
	if k.status != 0 {
		w.WriteHeader(k.status)
	}
	_, _ = w.Write(k.body.Bytes()) // the caller may have disconnected
}

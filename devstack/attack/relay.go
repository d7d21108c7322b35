package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// relay is a proxy between runners and the Status API. It intercepts single calls of a runner and passes them, with the attempt's
// token, to an attack, which then acts as that runner.
type relay struct {
	addr      string
	home      string // of the Status API
	clusterOf func(context.Context, string) (string, error)
	proxy     *httputil.ReverseProxy
	stop      func() error

	mu      sync.Mutex
	traps   map[trap]chan *taken
	claims  map[string]contract.Claim   // by attempt, as its runner sent it
	claimed map[string]contract.Claimed // and the response
	tokens  map[string]string           // by attempt, the newest that its runner used
}

// trap says which call of which cluster's runner is intercepted. Records of a ccoctl name and of an identity are different calls.
type trap struct{ cluster, call string }

// The calls that attacks intercept.
const (
	callRecordName     = "record a ccoctl name"
	callRecordIdentity = "record an identity"
	callCreated        = "result of a create"
)

// taken is a call for which its runner is still waiting, and everything that the runner has.
type taken struct {
	caller
	attempt string
	call    string
	body    []byte
	claim   contract.Claim
	claimed contract.Claimed
	ended   chan answer
}

// path returns a path of the attempt in the Status API.
func (k *taken) path(verb string) string { return "/api/v1/status/attempts/" + k.attempt + "/" + verb }

// stop tells the runner that its attempt is not its own any more, so that it ends.
func (k *taken) stop() {
	k.ended <- answer{status: http.StatusConflict, body: []byte(`{"detail":"The attempt is closed. Stop and exit."}`)}
}

// pass gives the runner a response of the server, as if it had made the call itself.
func (k *taken) pass(a answer) { k.ended <- a }

func startRelay(ctx context.Context, home string, clusterOf func(context.Context, string) (string, error)) (_ *relay, err error) {
	defer must.Catch(&err)
	to := must.Get(url.Parse(home))
	listener := must.Get(listen.On(ctx, "", "the relay"))
	r := &relay{
		addr: listener.Addr().String(), home: home, clusterOf: clusterOf,
		traps: map[trap]chan *taken{}, claims: map[string]contract.Claim{}, claimed: map[string]contract.Claimed{}, tokens: map[string]string{},
		proxy: &httputil.ReverseProxy{
			Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to) },
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // break the connection instead of responding
		},
	}
	r.stop = listen.Serve(context.WithoutCancel(ctx), listener, http.HandlerFunc(r.serve), "the relay")
	return r, nil
}

func (r *relay) close() { _ = r.stop() }

// set sets a trap. The channel returns the call when it comes, once.
func (r *relay) set(cluster, call string) <-chan *taken {
	caught := make(chan *taken, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traps[trap{cluster, call}] = caught
	return caught
}

func (r *relay) serve(w http.ResponseWriter, req *http.Request) {
	rest, _ := strings.CutPrefix(req.URL.Path, "/api/v1/status/attempts/")
	attempt, verb, _ := strings.Cut(rest, "/")
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	call := nameOf(verb, body)
	r.mu.Lock()
	r.tokens[attempt] = strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	claim, claimed := r.claims[attempt], r.claimed[attempt]
	r.mu.Unlock()
	if verb == "claim" {
		r.claim(w, req, attempt, body)
		return
	}
	caught := r.match(req.Context(), attempt, call)
	if caught == nil {
		r.proxy.ServeHTTP(w, req)
		return
	}
	k := &taken{
		caller:  caller{home: r.home, header: http.Header{"Authorization": req.Header["Authorization"]}},
		attempt: attempt, call: call, body: body, claim: claim, claimed: claimed, ended: make(chan answer, 1),
	}
	caught <- k
	select {
	case a := <-k.ended:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // the runner disconnected
	case <-req.Context().Done():
	}
}

// claim forwards a claim and remembers it with its response.
func (r *relay) claim(w http.ResponseWriter, req *http.Request, attempt string, body []byte) {
	c := caller{home: r.home, header: http.Header{"Authorization": req.Header["Authorization"]}}
	got, err := c.ask(req.Context(), req.Method, req.URL.Path, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var asked contract.Claim
	var reply contract.Claimed
	if err := errors.Join(json.Unmarshal(body, &asked), json.Unmarshal(got.body, &reply)); err == nil && got.status == http.StatusOK {
		r.mu.Lock()
		r.claims[attempt], r.claimed[attempt] = asked, reply
		r.mu.Unlock()
	}
	w.Header().Set("Content-Type", got.header.Get("Content-Type"))
	w.WriteHeader(got.status)
	_, _ = w.Write(got.body)
}

// match takes the trap that waits for a call.
func (r *relay) match(ctx context.Context, attempt, call string) chan *taken {
	cluster, err := r.clusterOf(ctx, attempt)
	if err != nil || call == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := trap{cluster, call}
	caught := r.traps[at]
	delete(r.traps, at)
	return caught
}

// nameOf names the calls that attacks intercept; empty: any other.
func nameOf(verb string, body []byte) string {
	switch verb {
	case "record":
		var said contract.Record
		if json.Unmarshal(body, &said) == nil && said.Identity.InfraID != "" {
			return callRecordIdentity
		}
		return callRecordName
	case "result":
		var said contract.Result
		if json.Unmarshal(body, &said) == nil && said.Outputs != nil {
			return callCreated
		}
	}
	return ""
}

// wait returns the next intercepted call.
func wait(ctx context.Context, caught <-chan *taken) (*taken, error) {
	select {
	case k := <-caught:
		return k, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the runner did not make the call: %w", ctx.Err())
	}
}

// token returns the newest token that an attempt's runner used; empty: none was seen.
func (r *relay) token(attempt string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokens[attempt]
}

// seen returns the newest tokens of the most recent attempts, at most so many.
func (r *relay) seen(most int) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]string{}
	attempts := slices.Sorted(maps.Keys(r.tokens)) // their ids begin with the time
	for _, attempt := range attempts[max(0, len(attempts)-most):] {
		found[attempt] = r.tokens[attempt]
	}
	return found
}

package ibmcloud

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// call is one request while a service processes it.
type call struct {
	*world
	server  *Server
	service string // the first part of op
	op      string // vpc:delete_vpc
	region  string
	query   url.Values
	header  http.Header
	path    func(string) string // a wildcard of the route
	route   string              // the whole path
	body    []byte
	who     caller
	full    bool // a fault: there is no capacity for what it starts

	status int // of the response; 0: 200, or 204 without a body
}

// handler executes one call under the server's lock. It returns the response's body; nil: none.
type handler func(*call) (any, error)

// try handles a call until the first error.
func (h handler) try(c *call) (body any, err error) {
	defer must.Catch(&err)
	return h(c)
}

type route struct {
	pattern string
	op      string
	do      handler
}

const largest = 64 << 20 // an image for the machines is uploaded as one object

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/_standin/", s.admin())
	for _, all := range [][]route{iamRoutes(), policyRoutes(), rcRoutes(), groupRoutes(), vpcRoutes(s.kinds), cisRoutes(), dnsRoutes(), cosRoutes(), searchRoutes(), tagRoutes()} {
		for _, r := range all {
			mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, r) })
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		service, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		s.log.Warn("ibm cloud call that is not part of the stand-in", "method", r.Method, "path", r.URL.Path)
		c := &call{server: s, service: service}
		c.respond(w, nil, refuse(http.StatusNotFound, "not_found", "%s %s is not part of this stand-in", r.Method, r.URL.Path))
	})
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, to route) {
	service, _, _ := strings.Cut(to.op, ":")
	c := &call{server: s, service: service, op: to.op, region: r.PathValue("region"), query: r.URL.Query(), header: r.Header, path: r.PathValue, route: r.URL.Path}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		http.Error(w, "request body", http.StatusRequestEntityTooLarge)
		return
	}
	c.body = body
	if c.op != "iam:create_token" {
		if err := c.authenticate(); err != nil {
			c.respond(w, nil, err)
			return
		}
	}
	t := s.troubleFor(c)
	wait(r.Context(), t.delay)
	if t.raw != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(t.raw.status)
		_, _ = io.WriteString(w, t.raw.body) // the client disconnected
		return
	}
	var out any
	if err = t.err; err == nil {
		out, err = s.do(c, to.do)
	}
	if t.lost {
		out, err = nil, refuse(http.StatusInternalServerError, "internal_error", "An internal error occurred. Try again later.")
	}
	c.respond(w, out, err)
}

func wait(ctx context.Context, delay time.Duration) {
	if delay <= 0 {
		return
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}

// do executes the call on the world and, if it changed something, waits for the state file, so that an answered change is not lost when
// the process is killed.
func (s *Server) do(c *call, h handler) (any, error) {
	out, err := s.execute(c, h)
	if err == nil && !c.reads() {
		err = s.world.File.Save(false)
	}
	return out, err
}

func (s *Server) execute(c *call, h handler) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Tick()
	c.world = s.world
	c.Reading = c.reads()
	defer func() { s.world.Reading = false }()
	var out any
	err := c.authorized()
	if err == nil {
		out, err = h.try(c)
	}
	s.note(c, err)
	if err != nil {
		s.Refused(c.op)
		return nil, err
	}
	if !c.reads() {
		err = s.world.Note()
	}
	return out, err
}

// reads reports that the call changes nothing.
func (c *call) reads() bool {
	_, name, _ := strings.Cut(c.op, ":")
	for _, verb := range []string{"list_", "get_", "head_", "search"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return c.op == "iam:create_token"
}

// decode reads the request's body.
func (c *call) decode(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return refuse(http.StatusBadRequest, "bad_request", "The request body is not valid JSON: %s", err)
	}
	return nil
}

// only refuses query parameters that the call does not know, which the real service may ignore silently.
func (c *call) only(known ...string) error {
	for name := range c.query {
		if !contains(known, name) {
			c.server.log.Warn("ibm cloud call with an unknown filter", "call", c.op, "filter", name)
			return refuse(http.StatusBadRequest, "invalid_query_parameter", "This stand-in does not know the query parameter %q of %s.", name, c.op)
		}
	}
	return nil
}

// Asked is one call that was made.
type Asked struct {
	Call    string // vpc:delete_vpc
	Account string
	By      string // IAM id of who made it
	Region  string `json:",omitempty"`
	On      string `json:",omitempty"` // the wildcards of its path
	Failed  string `json:",omitempty"` // the error's code and text
}

// mostAsked limits the memory of a long run: the oldest calls are dropped first.
const mostAsked = 10_000

// note remembers a call. The server's mutex is held.
func (s *Server) note(c *call, err error) {
	a := Asked{Call: c.op, Account: c.who.account, By: c.who.iamID, Region: c.region}
	var on []string
	for _, name := range []string{"id", "sub", "record", "bucket", "key"} {
		if v := c.path(name); v != "" {
			on = append(on, v)
		}
	}
	a.On = strings.Join(on, "/")
	if err != nil {
		a.Failed = err.Error()
	}
	if len(s.asked) >= mostAsked {
		s.asked = append(s.asked[:0], s.asked[mostAsked/2:]...)
	}
	s.asked = append(s.asked, a)
}

// Journal returns the calls that reached a service, in their order, without those that a set fault answered.
func (s *Server) Journal() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked{}, s.asked...)
}

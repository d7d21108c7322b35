package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/faults"
	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/standin"
)

// Config configures the stand-in. Every field except the keys has a default for its zero value.
type Config struct {
	Addr       string            // 127.0.0.1:0
	AccessKey  string            // the administrator's key
	SecretKey  string            //
	Account    string            // 123456789012
	Callers    []Caller          // more keys from the start
	Roles      []Role            // that can be assumed
	Boundaries map[string]string // permissions boundaries that exist, by ARN
	Buckets    string            // URL of the S3 server with the buckets of issuers; empty: no token is accepted
	TagBuckets bool              // the tagging API knows the buckets of the S3 server
	Members    []string          // accounts of Organization besides Account
	Others     []string          // accounts besides Account, with a zone and callers of their own
	Regions    []string          // us-east-1, us-east-2, us-west-2
	OptedOut   []string          // regions that exist and that the account has not opted into
	Zone       string            // the public zone that exists from the start: labs.example.com
	StatePath  string            // JSON file, read at the start and written before a change is answered; empty: only in memory
	Settle     time.Duration     // from pending to running, from shutting-down to terminated: 200ms
	Tombstone  time.Duration     // how long deleted resources are still listed: 1h
	Limits     map[string]int    // by quota code; others are generous, so that many clusters fit: see RealLimits
	Now        func() time.Time
	Log        *slog.Logger
}

// Server is the running stand-in. Its methods are safe for concurrent use; those that are not part of AWS are also served as JSON
// under /_standin/. Its faults are those of faults.Set; with short pages the tagging API, and lists of EC2 with a requested length, begin
// with an empty page.
type Server struct {
	*faults.Set
	*standin.Control[map[string]string, *Resource, Resource]

	cfg  Config
	log  *slog.Logger
	stop func() error
	addr string

	mu    sync.Mutex // guards world and used
	world *world
	used  map[string]map[string]bool // actions by caller

	documents sync.Map // policies by their text: string to iampolicy.Document
}

// Start serves until Stop is called or ctx ends.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	cfg.Account = cmp.Or(cfg.Account, "123456789012")
	cfg.Zone = cmp.Or(cfg.Zone, "labs.example.com")
	cfg.Settle = cmp.Or(cfg.Settle, 200*time.Millisecond)
	cfg.Tombstone = cmp.Or(cfg.Tombstone, time.Hour)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().UTC() }
	}
	if len(cfg.Regions) == 0 {
		cfg.Regions = []string{"us-east-1", "us-east-2", "us-west-2"}
	}
	must.FailIf(cfg.AccessKey == "" || cfg.SecretKey == "", "start the aws stand-in: an access key and its secret are needed")
	s := &Server{cfg: cfg, log: cfg.Log, Set: faults.New(), used: map[string]map[string]bool{}}
	must.Do(s.load())
	listener := must.Get(listen.On(ctx, cfg.Addr, "the aws stand-in"))
	s.addr = listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("/_standin/", s.admin())
	mux.HandleFunc("/", s.serve)
	s.stop = listen.Serve(ctx, listener, mux, "the aws stand-in")
	return s, nil
}

// URL is the value for AWS_ENDPOINT_URL.
func (s *Server) URL() string { return "http://" + s.addr }

// Stop stops the server and writes the state file a last time.
func (s *Server) Stop() error { return errors.Join(s.stop(), s.world.File.Stop()) }

// call is one request while a service processes it.
type call struct {
	*world
	server  *Server
	service string
	region  string
	action  string
	params  params
	path    []string // what the wildcards of a REST route matched
	body    []byte
	who     caller

	status   int    // of the response; 0: 200
	location string // Location header
	json     any    // the response of a JSON service
}

// handler executes one call under the server's lock. It returns the response's elements.
type handler func(*call) ([]node, error)

// try handles a call until the first error.
func (h handler) try(c *call) (nodes []node, err error) {
	defer must.Catch(&err)
	return h(c)
}

const largest = 1 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		http.Error(w, "request body", http.StatusRequestEntityTooLarge)
		return
	}
	sc, who, f := s.authenticate(r, body)
	p, known := protocolOf(sc.service, body)
	if !known {
		p = protocols["sts"]
	}
	if f != nil {
		p.refuse(w, f, id)
		return
	}
	if !known {
		p.refuse(w, fault("UnknownOperationException", "the service %q is not part of this stand-in", sc.service), id)
		return
	}
	c := &call{server: s, service: sc.service, region: sc.region, body: body, who: who}
	if f := p.read(c, r); f != nil {
		s.log.Warn("aws call refused", "service", c.service, "call", c.action, "code", f.Code)
		p.refuse(w, f, id)
		return
	}
	nodes, err := s.do(r.Context(), c, p.handlers[c.action])
	if err != nil {
		f, ok := err.(*Fault)
		if !ok {
			f = fault("InternalFailure", "%s", err)
		}
		s.log.Debug("aws call refused", "service", c.service, "call", c.action, "code", f.Code)
		p.refuse(w, f, id)
		return
	}
	p.answer(w, c, nodes, id)
}

// do executes the call on the world and, if it changed something, waits for the state file, so that an answered change is not lost
// when the process is killed.
func (s *Server) do(ctx context.Context, c *call, h handler) ([]node, error) {
	if f := c.permitted(); f != nil {
		return nil, f
	}
	refusal, delay := s.faultFor(c)
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
	if refusal != nil {
		return nil, refusal
	}
	if !s.enabled(c) {
		return nil, fault("OptInRequired", "You are not subscribed to this service in region %s. Please go to http://aws.amazon.com to subscribe.", c.region)
	}
	if c.service == "ec2" && c.params.get("DryRun") == "true" {
		return nil, fault("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
	}
	s.mu.Lock()
	s.world.Tick()
	s.world.Reading = reads(c.action)
	home := s.world.Account
	s.world.Account = cmp.Or(c.who.account, home)
	c.world = s.world.view(c)
	nodes, err := h.try(c)
	s.world.Reading, s.world.Account = false, home
	changes := err == nil && !reads(c.action)
	if err != nil {
		s.Refused(c.name())
	}
	if changes {
		err = s.world.Note()
	}
	s.mu.Unlock()
	if changes && err == nil {
		err = s.world.File.Save(false)
	}
	return nodes, err
}

func reads(action string) bool {
	return slices.ContainsFunc([]string{"Describe", "List", "Get"}, func(verb string) bool { return strings.HasPrefix(action, verb) })
}

// load reads the state file, or creates a new world with the base domain's public zone.
func (s *Server) load() error {
	w := &world{tombstone: s.cfg.Tombstone, disabled: map[string]bool{}}
	w.Settle, w.Now, w.Tombstone, w.ClusterOf = s.cfg.Settle, s.cfg.Now, w.tombstoneOf, w.clusterOf
	s.world, s.Control = w, &standin.Control[map[string]string, *Resource, Resource]{
		World: &w.World, Mutex: &s.mu, Copy: (*Resource).clone, Ways: slices.Sorted(maps.Keys(protections)),
		Lags: []string{"create", "delete", "iam"}, Quotas: RealLimits(), Given: s.cfg.Limits,
	}
	found, err := s.Open(s.cfg.StatePath, s.cfg.Account)
	if err != nil {
		return fmt.Errorf("start the aws stand-in: %w", err)
	}
	if !found {
		for _, account := range append(slices.Clone(s.cfg.Others), s.cfg.Account) {
			w.Account = account
			w.furnish(s.cfg.Zone)
		}
	}
	return w.File.Save(true) // an incomplete last line is removed before new lines are added
}

// furnish puts into a new world what an account in use has: the base domain's public zone, and the role that AWS creates with the
// first load balancer.
func (w *world) furnish(zone string) {
	z := w.zone(zone+".", "standing", "", false)
	z.Stands = true
	for _, r := range w.Every(func(r *Resource) bool { return r.Parent == z.ID }) {
		r.Stands = true
	}
	const balancers = "AWSServiceRoleForElasticLoadBalancing"
	w.Add(&Resource{
		Service: "iam", Type: role.typ, ID: role.typ + "/" + balancers, Name: balancers, Stands: true,
		Attrs: map[string]string{"path": "/aws-service-role/elasticloadbalancing.amazonaws.com/", "uniqueId": newUpper(role.prefix, 17)},
	})
}

// admin serves the methods that are not part of AWS, without signatures. Beside those of package standin:
//
//	GET  /_standin/key?domain=                                the key of an administrator of the account that has the domain, for the stand-ins of what runs in a cluster
//	POST /_standin/region {"name","value"}                    SetRegion; 0 disables it
func (s *Server) admin() http.Handler {
	mux := standin.Handler[Resource](s, map[string]standin.Act{
		"region": func(in standin.Input) error { return s.SetRegion(in.Name, in.Value != 0) },
	})
	mux.HandleFunc("GET /_standin/key", func(w http.ResponseWriter, r *http.Request) {
		id, secret := s.keyOf(r.URL.Query().Get("domain"))
		standin.Show(func() any { return map[string]string{"id": id, "secret": secret} })(w, r)
	})
	return mux
}

// keyOf returns the key of an administrator of the account that has a private zone of the domain.
func (s *Server) keyOf(domain string) (id, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	zone := s.world.First(func(r *Resource) bool {
		return r.Type == "hostedzone" && r.Name == domain+"." && slices.Contains(s.cfg.Others, r.Account)
	})
	for _, c := range s.cfg.Callers {
		if zone != nil && c.Policy == "" && strings.Split(c.ARN, ":")[4] == zone.Account {
			return c.AccessKey, c.SecretKey
		}
	}
	return s.cfg.AccessKey, s.cfg.SecretKey
}

// SetLimitIn is SetLimit for one account.
func (s *Server) SetLimitIn(account, code string, value int) error {
	return s.Change(func() { s.world.Limits[account+"/"+code] = value })
}

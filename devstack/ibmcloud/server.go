package ibmcloud

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/faults"
	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/standin"
)

// Config configures the stand-in. Every field except Callers has a default for its zero value.
type Config struct {
	Addr       string         // 127.0.0.1:0
	Account    string         // 0a1b2c3d4e5f60718293a4b5c6d7e8f9: of the first caller
	Callers    []Caller       // who has an API key from the start; at least one
	Profiles   []Profile      // trusted profiles
	Regions    []string       // us-east, us-south, eu-de
	Zone       string         // the CIS zone that exists from the start in Account: labs.example.com
	PrivateDNS string         // the zone of DNS Services that exists from the start: internal.example.com
	StatePath  string         // JSON file, read at the start and written before a change is answered; empty: only in memory
	Settle     time.Duration  // from pending to available, from deleting to gone: 200ms
	Limits     map[string]int // by the names of RealLimits; others are generous, so that many clusters fit
	RetryAfter int            // seconds, with every status 429
	TokenLife  time.Duration  // 1h
	Now        func() time.Time
	Log        *slog.Logger
}

// Server is the running stand-in. Its methods are safe for concurrent use; those that are not part of IBM Cloud are also served as
// JSON under /_standin/. Its faults are those of faults.Set.
type Server struct {
	*faults.Set
	*standin.Control[[]string, *Resource, Resource]

	cfg    Config
	log    *slog.Logger
	stop   func() error
	addr   string
	secret []byte // signs tokens
	kinds  []kind

	mu     sync.Mutex // guards everything below
	world  *world
	asked  []Asked
	expire time.Time // tokens issued before are not valid any more
}

// Start serves until Stop is called or ctx ends.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	cfg.Account = cmp.Or(cfg.Account, "0a1b2c3d4e5f60718293a4b5c6d7e8f9")
	cfg.Zone = cmp.Or(cfg.Zone, "labs.example.com")
	cfg.PrivateDNS = cmp.Or(cfg.PrivateDNS, "internal.example.com")
	cfg.Settle = cmp.Or(cfg.Settle, 200*time.Millisecond)
	cfg.TokenLife = cmp.Or(cfg.TokenLife, time.Hour)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().UTC() }
	}
	if len(cfg.Regions) == 0 {
		cfg.Regions = []string{"us-east", "us-south", "eu-de"}
	}
	must.FailIf(len(cfg.Callers) == 0 || slices.ContainsFunc(cfg.Callers, func(c Caller) bool { return c.APIKey == "" }),
		"start the ibm cloud stand-in: at least one caller is needed, and every caller needs an API key")
	s := &Server{cfg: cfg, log: cfg.Log, secret: make([]byte, 32), kinds: vpcKinds(), Set: faults.New()}
	_, _ = rand.Read(s.secret) // crypto/rand never fails
	listener := must.Get(listen.On(ctx, cfg.Addr, "the ibm cloud stand-in"))
	s.addr = listener.Addr().String()
	if err := s.load(); err != nil {
		_ = listener.Close() // the error of load says more
		return nil, err
	}
	s.stop = listen.Serve(ctx, listener, s.routes(), "the ibm cloud stand-in")
	return s, nil
}

// Stop stops the server and writes the state file a last time.
func (s *Server) Stop() error { return errors.Join(s.stop(), s.world.File.Stop()) }

// Base is the server's own address, below which every service has its path.
func (s *Server) Base() string { return "http://" + s.addr }

// URL is the address of a service as its SDK wants it: iam, rc, vpc, cis, dns, cos, search or tags. The region matters to vpc and cos.
func (s *Server) URL(service, region string) string { return addressOf(s.Base(), service, region) }

func addressOf(base, service, region string) string {
	switch service {
	case "vpc":
		return base + "/vpc/" + region + "/v1"
	case "cos":
		return base + "/cos/" + region
	case "dns":
		return base + "/dns/v1"
	}
	return base + "/" + service
}

// Environment are the variables by which a program of another process finds the stand-in.
func (s *Server) Environment() []string { return Environment(s.Base()) }

// Environment are the variables by which a program finds a stand-in at an address: its base, and each service by the name that OpenShift's
// installer gives to the service's address. {region} is replaced by the reader.
func Environment(base string) []string {
	return []string{
		"OCPCTL_STANDIN_IBMCLOUD_URL=" + base,
		"IBMCLOUD_IAM_API_ENDPOINT=" + addressOf(base, "iam", ""),
		"IBMCLOUD_RESOURCE_CONTROLLER_API_ENDPOINT=" + addressOf(base, "rc", ""),
		"IBMCLOUD_RESOURCE_MANAGEMENT_API_ENDPOINT=" + addressOf(base, "rc", ""),
		"IBMCLOUD_IS_NG_API_ENDPOINT=" + addressOf(base, "vpc", "{region}"),
		"IBMCLOUD_CIS_API_ENDPOINT=" + addressOf(base, "cis", ""),
		"IBMCLOUD_PRIVATE_DNS_API_ENDPOINT=" + addressOf(base, "dns", ""),
		"IBMCLOUD_COS_ENDPOINT=" + addressOf(base, "cos", "{region}"),
		"IBMCLOUD_GS_API_ENDPOINT=" + addressOf(base, "search", ""),
		"IBMCLOUD_GT_API_ENDPOINT=" + addressOf(base, "tags", ""),
	}
}

// admin serves the methods that are not part of IBM Cloud, without tokens. Beside those of package standin:
//
//	GET  /_standin/journal                                      Journal
//	GET  /_standin/token?account=ID                             Token
//	POST /_standin/fail    {"call","times","status","body"}     Fail
//	POST /_standin/expire  {}                                   ExpireTokens
func (s *Server) admin() http.Handler {
	mux := standin.Handler[Resource](s, map[string]standin.Act{
		"fail":   func(in standin.Input) error { s.Fail(in.Call, in.Times, in.Status, in.Body); return nil },
		"expire": func(standin.Input) error { s.ExpireTokens(); return nil },
	})
	mux.HandleFunc("GET /_standin/journal", standin.Show(func() any { return s.Journal() }))
	mux.HandleFunc("GET /_standin/token", func(w http.ResponseWriter, r *http.Request) {
		token, err := s.Token(r.URL.Query().Get("account"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		standin.Show(func() any { return token })(w, r)
	})
	return mux
}

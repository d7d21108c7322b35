// Package api is the private entry point for programs: the REST API of openapi.yaml, the Status API for runners, and the endpoints
// for probes and Prometheus.
//
// openapi.yaml comes first: api.gen.go and the packages v1 (types) and client are generated from it, requests are checked against it, and /api/docs shows it. The package
// converts between JSON and the types of the service and the store, and decides nothing. It is the only place that maps the service's
// errors to HTTP. Internal errors never leave it: they are logged and answered without their text.
package api

//go:generate go tool -modfile=../../tools/go.mod oapi-codegen --config=oapi-codegen.yaml openapi.yaml

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/internal/httpbody"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/intake"
)

// Config configures the private entry point.
type Config struct {
	App         *app.Service
	Admin       *admin.Service
	Costs       *costs.Service
	Credentials *credentials.Service
	Store       *store.Store // for the Status API, readiness and metrics
	Auth        *auth.Verifier
	AWS         *auth.Exchange  // exchanges signed AWS identities for sessions; nil: none
	Proxies     source.Networks // proxies whose information about the client is trusted; none: a request comes from its peer
	Tokens      *token.Signer   // the attempts' tokens
	Grants      Grants          // of credentials for the artifacts bucket; nil: runners use their own identity
	Runner      RunnerSettings
	UI          string              // base URL of the pages, for links in responses
	Pace        *Pace               // shared with the pages; nil: a separate one, 20 requests a second and a burst of 60 for each principal
	Streams     *eventstream.Places // shared with the pages; nil: separate ones
	Timeout     time.Duration       // of one request, except streams; zero: 30 s
	Draining    context.Context     // done when no new requests should be sent here, which /readyz reports; nil: never
	Stopping    context.Context     // done when the server stops, which ends streams; nil: never
	Now         func() time.Time    // nil: time.Now
	Log         *slog.Logger
	Metrics     *metrics.Metrics // nil: those of the store alone
}

// RunnerSettings are what every runner gets besides its cluster.
type RunnerSettings struct {
	Installation                  string
	Bucket, KMSKey, OperateKMSKey string
	Lease                         time.Duration // as in db.Options
	Heartbeat                     time.Duration
	VerifyGap                     time.Duration
	SnapshotMaxAge                time.Duration                                        // zero: an hour
	Prices                        intake.Prices                                        // of what teardowns left; nil: no price is known
	OpenID                        func(cluster string) (*contract.OpenIDClient, error) // what a cluster signs readers in with; nil: it does not
	RouteLabel                    string                                               // of the Routes in a cluster that are shown as links, key=value; empty: none is
	Site                          string                                               // of GitHub's pages, for the addresses of pull requests; empty: it has none
}

// Grants issues credentials for one attempt's part of the artifacts bucket: artifacts.Grants.
type Grants interface {
	Grant(ctx context.Context, part artifacts.Part) (aws.Credentials, error)
}

type server struct {
	Config
	document *document
}

const requestTime = 30 * time.Second

// New returns the handler of /api/…, /.well-known/ocpctl, /healthz, /readyz and /metrics.
func New(c Config) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Runner.SnapshotMaxAge == 0 {
		c.Runner.SnapshotMaxAge = time.Hour
	}
	if c.Timeout == 0 {
		c.Timeout = requestTime
	}
	if c.Pace == nil {
		c.Pace = NewPace(Rate{}, c.Now)
	}
	if c.Streams == nil {
		c.Streams = &eventstream.Places{}
	}
	if c.Metrics == nil {
		c.Metrics = metrics.New(metrics.Config{Store: c.Store, Log: c.Log})
	}
	s := &server{Config: c, document: readDocument()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", writeHealthy)
	mux.HandleFunc("GET /readyz", s.writeReady)
	mux.HandleFunc("GET "+auth.DiscoveryPath, c.Auth.ServeDiscovery(strings.TrimRight(c.UI, "/")))
	mux.Handle("GET /metrics", s.Metrics.Handler())
	newReference(s.document).registerPaths(mux)
	routes(s, func(method, path string, handle func(http.ResponseWriter, *http.Request, *parameters)) {
		operation := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, &parameters{s: s, w: w, r: r}) }))
		if strings.HasPrefix(path, statusPath) {
			operation = s.ofRunners(operation)
		}
		mux.Handle(method+" "+path, operation)
	})
	mux.HandleFunc("/api/", noSuchPath(mux))
	return s.enter(httpbody.Compress(s.authenticate(s.requireLegible(mux)), func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/kubeconfig") // the only secret that is read with GET
	}))
}

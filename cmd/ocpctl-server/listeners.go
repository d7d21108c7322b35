package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/commandline"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/app/openid"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/store"
)

// Time limits for a client: to send its headers, to send the whole request, to read the whole response (streams and exports limit
// each part instead), and to reuse an idle connection. Webhooks come from machines, so they get less time.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	webhookTimeout = 20 * time.Second // for headers and body together; each may take ten
	answerTimeout  = 2 * time.Minute
	idleTimeout    = 2 * time.Minute
)

// mostHeaders limits a request's headers: a session of four cookies, five started sign-ins, a long token.
const mostHeaders = 64 << 10

// newListener returns a listener with time limits, so that no client can hold a connection for ever.
func newListener(address string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr: address, Handler: handler, MaxHeaderBytes: mostHeaders,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
	}
}

// newPublicListener returns the listener for the internet, where a request has less time.
func newPublicListener(address string, handler http.Handler) *http.Server {
	server := newListener(address, handler)
	server.ReadTimeout = webhookTimeout
	return server
}

// httpsAlone tells browsers that use https to use only https for a year: session cookies are sent here.
func httpsAlone(next http.Handler, home string) http.Handler {
	if !strings.HasPrefix(home, "https:") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// wireHooks builds the public listener: webhooks and nothing else.
func wireHooks(ctx context.Context, cfg config.Config, s *store.Store, m *metrics.Metrics, log *slog.Logger) (*http.Server, error) {
	c := hooks.Config{
		Store: s, App: cfg.GitHub.AppID, Installations: cfg.GitHub.Installations, Repositories: listRepositories(cfg), Workspaces: cfg.Slack.Workspaces, SlackAPI: cfg.Slack.APIURL, Log: log, Counts: m,
		Proxies: config.Networks(cfg.Listen.TrustedProxies), GitHubAddresses: config.Networks(cfg.GitHub.HookAddresses),
	}
	var err error
	if c.GitHubSecret, err = cfg.Secret(ctx, "github.webhook_secret_ref", cfg.GitHub.WebhookSecretRef); err != nil {
		return nil, err
	}
	if cfg.GitHub.WebhookNextRef != "" {
		if c.GitHubNext, err = cfg.Secret(ctx, "github.webhook_secret_next_ref", cfg.GitHub.WebhookNextRef); err != nil {
			return nil, err
		}
	}
	c.SlackSocket = cfg.Slack.Mode == config.SlackSocket
	if cfg.Slack.SigningSecretRef != "" && !c.SlackSocket {
		if c.SlackSecret, err = cfg.Secret(ctx, "slack.signing_secret_ref", cfg.Slack.SigningSecretRef); err != nil {
			return nil, err
		}
	}
	handler, err := hooks.New(c)
	if err != nil {
		return nil, err
	}
	return newPublicListener(cfg.Listen.Public, handler), nil
}

// wireProbes builds the listener for probes, which tells the platform about processes that have no private listener.
func (s *server) wireProbes(cfg config.Config, m *metrics.Metrics) {
	if cfg.Listen.Probes != "" {
		s.probes = newListener(cfg.Listen.Probes, api.NewProbes(s.store, s.log, s.draining, m))
	}
}

// newGrants issues credentials for the artifacts bucket; nil if the configuration names no role for it.
func (in inner) newGrants(ctx context.Context) (api.Grants, error) {
	a := in.cfg.Artifacts
	if a.RunnerRole == "" {
		in.log.Warn("artifacts.runner_role is not set: runners use their own identity for the bucket, and each can read every cluster's state")
		return nil, nil
	}
	return artifacts.NewGrants(ctx, artifacts.Config{Bucket: a.Bucket, KMSKey: a.KMSKey, OperateKMSKey: a.OperateKMSKey}, a.RunnerRole)
}

// newCommandLines returns what signs in the command lines of people; nil if nobody can sign in to the pages.
func (in inner) newCommandLines(id identity) *commandline.Service {
	if id.signIn == nil {
		return nil
	}
	return commandline.New(commandline.Config{Store: in.store.People, Sessions: id.sessions, Home: in.cfg.UIURL, Proxies: config.Networks(in.cfg.Listen.TrustedProxies), Log: in.log})
}

// newConsoles returns what signs readers in to consoles; nil if clusters have accounts of their own for that.
func (in inner) newConsoles(core *app.Service, handout *credentials.Service, id identity) (*openid.Service, error) {
	if in.cfg.Console.SignIn != config.ConsoleOpenID {
		return nil, nil
	}
	var ca []byte
	if path := in.cfg.Console.CAFile; path != "" {
		if _, err := readRoots(path); err != nil {
			return nil, fmt.Errorf("console.ca_file: %w", err)
		}
		var err error
		if ca, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("console.ca_file: %w", err)
		}
	}
	return openid.New(openid.Config{App: core, Credentials: handout, Key: id.key, Spend: in.store.People.SpendSignature, Home: in.cfg.UIURL, CA: string(ca),
		Proxies: config.Networks(in.cfg.Listen.TrustedProxies), Log: in.log})
}

// newOwners returns what people prove with on GitHub that an account is theirs; nil if it is not configured.
func (in inner) newOwners(ctx context.Context) (*github.Owners, error) {
	c := in.cfg.GitHub
	if c.ClientID == "" {
		return nil, nil
	}
	key, err := in.cfg.Secret(ctx, "github.client_secret_ref", c.ClientSecretRef)
	if err != nil {
		return nil, err
	}
	return github.NewOwners(c.ClientID, key, c.APIURL, in.cfg.ProofURL())
}

// clientsOf returns what clusters sign readers in with; nil: nothing.
func clientsOf(consoles *openid.Service) func(string) (*contract.OpenIDClient, error) {
	if consoles == nil {
		return nil
	}
	return consoles.Client
}

// wirePrivate builds the private listener: API, Status API, pages, probes and metrics; and the one for runners. It reports that it is not ready once draining is
// done.
func (in inner) wirePrivate(ctx, draining context.Context) (private, runners *http.Server, err error) {
	cfg := in.cfg
	settings := in.appConfig(nil)
	core := app.New(settings)
	id, err := in.wireIdentity(ctx, core.ReusedNames)
	if err != nil {
		return nil, nil, err
	}
	grants, err := in.newGrants(ctx)
	if err != nil {
		return nil, nil, err
	}
	admins, handout := admin.New(core, settings), credentials.New(core, settings)
	money := costs.New(settings)
	pace := api.NewPace(api.Rate{PerSecond: cfg.API.Rate, Burst: cfg.API.Burst}, nil)
	streams := &eventstream.Places{}
	consoles, err := in.newConsoles(core, handout, id)
	if err != nil {
		return nil, nil, err
	}
	owners, err := in.newOwners(ctx)
	if err != nil {
		return nil, nil, err
	}
	stopping, stop := context.WithCancel(ctx)
	rest := api.New(api.Config{
		App: core, Admin: admins, Costs: money, Credentials: handout, Store: in.store, Auth: id.who, AWS: id.exchange, Tokens: in.signer, Log: in.log, UI: cfg.UIURL,
		Pace: pace, Proxies: config.Networks(cfg.Listen.TrustedProxies), Timeout: cfg.API.Timeout, Draining: draining, Stopping: stopping,
		Grants: grants, Metrics: in.metrics, Streams: streams,
		Runner: api.RunnerSettings{
			Installation: cfg.Installation, Bucket: cfg.Artifacts.Bucket, KMSKey: cfg.Artifacts.KMSKey,
			OperateKMSKey: cfg.Artifacts.OperateKMSKey, Lease: cfg.Runner.Lease, Heartbeat: cfg.Runner.Heartbeat,
			VerifyGap: cfg.Limits.VerifyGap, Prices: in.resourcePrice, OpenID: clientsOf(consoles),
			RouteLabel: cfg.ClusterInfo.RouteLabel, Site: github.Site(cfg.GitHub.APIURL),
		},
	})
	lines := in.newCommandLines(id)
	pages := web.New(web.Config{
		CommandLines: lines, Consoles: consoles, Owners: owners,
		App: core, Admin: admins, Costs: money, Credentials: handout, Auth: id.who, SignIn: id.signIn, Sessions: id.sessions, Pace: pace.Take, Timeout: cfg.API.Timeout, Log: in.log, Secure: strings.HasPrefix(cfg.UIURL, "https:"), Demo: cfg.Demo, Slack: cfg.Slack.SigningSecretRef+cfg.Slack.AppTokenRef != "", GitHub: github.Site(cfg.GitHub.APIURL),
		Streams: streams, Stopping: stopping, EndedSessions: in.store.People.EndedSessions,
	})
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	for _, path := range []string{"/api/", auth.DiscoveryPath, "/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, rest)
	}
	if lines != nil {
		for _, path := range []string{commandline.MetadataPath, commandline.AskPath, commandline.TokenPath, commandline.RevokePath} {
			mux.Handle(path, lines.Handler())
		}
	}
	if consoles != nil {
		for _, path := range []string{openid.DiscoveryPath, openid.KeysPath, openid.TokenPath} {
			mux.Handle(path, consoles.Handler())
		}
	}
	server := newListener(cfg.Listen.Private, httpsAlone(mux, cfg.UIURL))
	server.RegisterOnShutdown(stop) // otherwise streams would delay the shutdown until their readers disconnect
	runners, err = wireRunners(cfg.Listen, rest)
	return server, runners, err
}

package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/store"
)

// What a client may take at most: to send its headers, to send all of a request, to come back on a kept connection.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	idleTimeout    = 2 * time.Minute
)

// wireHooks builds the public listener: webhooks and nothing else.
func wireHooks(ctx context.Context, cfg config, s *store.Store, log *slog.Logger) (*http.Server, error) {
	c := hooks.Config{Store: s, Log: log}
	var err error
	if c.GitHubSecret, err = cfg.secret(ctx, "github.webhook_secret_ref", cfg.GitHub.WebhookSecretRef); err != nil {
		return nil, err
	}
	if cfg.Slack.SigningSecretRef != "" {
		if c.SlackSecret, err = cfg.secret(ctx, "slack.signing_secret_ref", cfg.Slack.SigningSecretRef); err != nil {
			return nil, err
		}
	}
	handler, err := hooks.New(c)
	if err != nil {
		return nil, err
	}
	return &http.Server{
		Addr: cfg.Listen.Public, Handler: handler,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, IdleTimeout: idleTimeout,
	}, nil
}

// wirePrivate builds the private listener: API, Status API, pages, probes and metrics.
func (in inner) wirePrivate(ctx context.Context) (*http.Server, error) {
	cfg := in.cfg
	id, err := in.wireIdentity(ctx)
	if err != nil {
		return nil, err
	}
	desk := in.desk(nil)
	stopping, stop := context.WithCancel(ctx)
	rest := api.New(api.Config{
		Desk: desk, Store: in.store, Auth: id.who, AWS: id.exchange, Tokens: in.signer, Log: in.log, UI: cfg.UIURL,
		Rate: api.Rate{PerSecond: cfg.API.Rate, Burst: cfg.API.Burst}, Timeout: cfg.API.Timeout, Stopping: stopping,
		Runner: api.RunnerSettings{
			Installation: cfg.Installation, Bucket: cfg.Artifacts.Bucket, KMSKey: cfg.Artifacts.KMSKey,
			OperateKMSKey: cfg.Artifacts.OperateKMSKey, Lease: cfg.Runner.Lease, Heartbeat: cfg.Runner.Heartbeat,
			VerifyGap: cfg.Limits.VerifyGap,
		},
	})
	pages := web.New(web.Config{
		Desk: desk, Auth: id.who, SignIn: id.signIn, Log: in.log, Secure: strings.HasPrefix(cfg.UIURL, "https:"), Demo: cfg.Demo, GitHub: cfg.GitHub.APIURL,
	})
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	for _, path := range []string{"/api/", "/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, rest)
	}
	server := &http.Server{
		Addr: cfg.Listen.Private, Handler: mux,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, IdleTimeout: idleTimeout,
	}
	server.RegisterOnShutdown(stop) // streams would hold it up until their readers leave
	return server, nil
}

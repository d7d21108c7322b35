package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/runner/dispatch"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/artifacts"
)

// server is what was wired: listeners and workers, each present if a role needs it.
type server struct {
	log     *slog.Logger
	store   *store.Store
	public  *http.Server
	private *http.Server
	workers *river.Client[pgx.Tx]
}

// wire builds the roles' parts by hand. A part that a role does not need is not built, so its credentials need not be there.
func wire(ctx context.Context, cfg config, r roles, migrate bool, log *slog.Logger) (s *server, err error) {
	s = &server{log: log}
	if s.store, err = openStore(ctx, cfg, migrate); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.store.Close()
		}
	}()
	if r.hooks {
		if s.public, err = wireHooks(cfg, s.store, log); err != nil {
			return nil, err
		}
	}
	if !r.api && !r.worker {
		return s, nil
	}
	catalogue, err := profiles.Embedded()
	if err != nil {
		return nil, err
	}
	bucket, err := artifacts.New(ctx, artifacts.Config{
		Bucket: cfg.Artifacts.Bucket, KMSKey: cfg.Artifacts.KMSKey, OperateKMSKey: cfg.Artifacts.OperateKMSKey,
	})
	if err != nil {
		return nil, err
	}
	key, err := token.LoadKey(strings.TrimPrefix(cfg.Runner.StatusKeyRef, "file:"))
	if err != nil {
		return nil, fmt.Errorf("runner.status_key_ref: %w", err)
	}
	signer := token.NewSigner(key, time.Hour)
	if r.api {
		desk := app.New(deskConfig(cfg, s.store, catalogue, nil, bucket, log))
		s.private = wirePrivate(cfg, desk, s.store, signer, log)
	}
	if r.worker {
		s.workers, err = wireWorkers(ctx, cfg, s.store, catalogue, bucket, signer, log)
	}
	return s, err
}

func openStore(ctx context.Context, cfg config, migrate bool) (*store.Store, error) {
	url, err := secret.Lookup(cfg.DatabaseURLRef)
	if err != nil {
		return nil, fmt.Errorf("database_url_ref: %w", err)
	}
	if migrate {
		if err := store.Migrate(ctx, url.Reveal()); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, url.Reveal(), store.Options{
		Limits: cfg.Limits.lifecycle(), Lease: cfg.Runner.Lease, Installation: cfg.Installation,
	})
}

func wireHooks(cfg config, s *store.Store, log *slog.Logger) (*http.Server, error) {
	githubSecret, err := secret.Lookup(cfg.GitHub.WebhookSecretRef)
	if err != nil {
		return nil, fmt.Errorf("github.webhook_secret_ref: %w", err)
	}
	if err := cfg.refuseDemoSecret("github.webhook_secret_ref", githubSecret.Reveal()); err != nil {
		return nil, err
	}
	var slackSecret secret.Text
	if cfg.Slack.SigningSecretRef != "" {
		if slackSecret, err = secret.Lookup(cfg.Slack.SigningSecretRef); err != nil {
			return nil, fmt.Errorf("slack.signing_secret_ref: %w", err)
		}
		if err := cfg.refuseDemoSecret("slack.signing_secret_ref", slackSecret.Reveal()); err != nil {
			return nil, err
		}
	}
	handler, err := hooks.New(hooks.Config{Store: s, GitHubSecret: githubSecret, SlackSecret: slackSecret, Log: log})
	if err != nil {
		return nil, err
	}
	return &http.Server{Addr: cfg.Listen.Public, Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}, nil
}

func wirePrivate(cfg config, desk *app.Desk, s *store.Store, signer *token.Signer, log *slog.Logger) *http.Server {
	var issuers []auth.Issuer
	for _, i := range cfg.OIDC {
		issuers = append(issuers, auth.Issuer{URL: i.Issuer, Audience: i.Audience})
	}
	who := auth.New(auth.Config{Issuers: issuers})
	rest := api.New(api.Config{
		Desk: desk, Store: s, Auth: who, Tokens: signer, Log: log,
		Runner: api.RunnerSettings{
			Installation: cfg.Installation, Bucket: cfg.Artifacts.Bucket, KMSKey: cfg.Artifacts.KMSKey,
			OperateKMSKey: cfg.Artifacts.OperateKMSKey, Lease: cfg.Runner.Lease, Heartbeat: cfg.Runner.Heartbeat,
			VerifyGap: cfg.Limits.VerifyGap,
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/", web.New(web.Config{Desk: desk, Auth: who, Log: log, Secure: strings.HasPrefix(cfg.UIURL, "https:"), Demo: cfg.Demo}))
	for _, path := range []string{"/api/", "/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, rest)
	}
	return &http.Server{Addr: cfg.Listen.Private, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
}

// wireWorkers builds the half that acts: the inbox's worker and the controller.
func wireWorkers(ctx context.Context, cfg config, s *store.Store, catalogue profiles.Catalogue, bucket *artifacts.Store, signer *token.Signer, log *slog.Logger) (*river.Client[pgx.Tx], error) {
	appKey, err := secret.Lookup(cfg.GitHub.PrivateKeyRef)
	if err != nil {
		return nil, fmt.Errorf("github.private_key_ref: %w", err)
	}
	client, err := github.New(github.Config{
		AppID: cfg.GitHub.AppID, PrivateKey: []byte(appKey.Reveal()), BaseURL: cfg.GitHub.APIURL, Pace: cfg.GitHub.Pace,
	})
	if err != nil {
		return nil, err
	}
	processes, err := dispatch.NewProcess(dispatch.Config{
		Runner: cfg.Runner.Program, Installers: cfg.Runner.Installers, WorkDir: cfg.Runner.WorkDir, StatusURL: cfg.Runner.StatusURL,
	})
	if err != nil {
		return nil, err
	}
	engine := controller.New(controller.Config{
		Store: s, Dispatcher: processes, Poster: client, Spool: bucket, Signer: signer,
		Limits: cfg.Limits.lifecycle(), Links: chatops.Links{UI: cfg.UIURL}, Log: log, Wake: cfg.Limits.Wake,
	})
	desk := app.New(deskConfig(cfg, s, catalogue, hooks.Asker{Client: client}, bucket, log))
	workers := river.NewWorkers()
	engine.Register(workers)
	river.AddWorker(workers, hooks.NewInboxWorker(s, desk, log))
	warnings := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})) // River counts jobs at INFO
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("ask for this host's name: %w", err)
	}
	instance, err := s.Instance(ctx, host)
	if err != nil {
		return nil, err
	}
	return store.NewClient(ctx, s.Pool(), workers, store.RiverConfig{
		Instance: instance, Periodic: engine.Periodic(), Logger: warnings,
	})
}

func deskConfig(cfg config, s *store.Store, catalogue profiles.Catalogue, gh app.GitHub, bucket *artifacts.Store, log *slog.Logger) app.Config {
	var repos []app.Repository
	for _, r := range cfg.Repositories {
		repos = append(repos, app.Repository{Match: r.Match, Ownership: policy.Ownership{
			Team: r.Team, Owner: r.Owner, CostCenter: r.CostCenter, Environment: r.Environment,
		}})
	}
	return app.Config{
		Store: s, Catalogue: catalogue, GitHub: gh, Artifacts: bucket, UI: cfg.UIURL, Log: log, Repositories: repos,
		Policy: policy.Settings{Hour: cfg.Hour, Grace: cfg.Grace, Installation: cfg.Installation},
		Runs: app.Runs{
			DefaultProfile: "aws-minimal-test", PullSecretRef: cfg.Runner.PullSecretRef, SSHKey: cfg.Runner.SSHKey, Account: cfg.Account,
		},
	}
}

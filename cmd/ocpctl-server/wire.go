package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/app/socketmode"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

// tokenLife is how long an attempt's token is valid; every response of the Status API renews it.
const tokenLife = time.Hour

// server is what was wired: listeners and workers, each only if a role needs it.
type server struct {
	log       *slog.Logger
	store     *store.Store
	catalogue *catalogue.Live             // nil if no requests are judged
	reload    time.Duration               // how often the catalogue is checked
	people    func(context.Context) error // stores the people whom the catalogue links
	public    *http.Server
	private   *http.Server
	runners   *http.Server         // nil unless listen.runners is set
	probes    *http.Server         // nil unless listen.probes is set
	slack     *socketmode.Receiver // nil unless Slack's requests come over a socket
	workers   *river.Client[pgx.Tx]
	watch     func(context.Context) // watches runners; nil without workers
	instance  *db.Instance          // this process's name in the queue; nil without workers

	drainDelay time.Duration
	draining   context.Context // done as soon as the server is asked to stop
	drain      context.CancelFunc
}

// wireServer builds the roles' parts by hand. A part that no role needs is not built, so its credentials may be missing.
func wireServer(ctx context.Context, cfg config.Config, r config.Roles, migrate bool, log *slog.Logger) (*server, error) {
	db, err := openStore(ctx, cfg, migrate, log)
	if err != nil {
		return nil, err
	}
	s := &server{log: log, store: db, drainDelay: cfg.Listen.DrainDelay}
	s.draining, s.drain = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.buildParts(ctx, cfg, r); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

func openStore(ctx context.Context, cfg config.Config, migrate bool, log *slog.Logger) (*store.Store, error) {
	url, err := cfg.Secret(ctx, "database_url_ref", cfg.DatabaseURLRef)
	if err != nil {
		return nil, err
	}
	if migrate {
		if err := store.Migrate(ctx, url.Reveal()); err != nil {
			return nil, err
		}
	}
	db, err := store.Open(ctx, url.Reveal(), db.Options{
		Limits: cfg.Lifecycle(), Lease: cfg.Runner.Lease, Installation: cfg.Installation,
	})
	if err != nil {
		return nil, err
	}
	schema, err := db.Schema(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	if schema.Newer() {
		log.Warn("the database was migrated by a newer release, and works with this one", "known", schema.Known, "database", schema.Database)
	}
	return db, nil
}

// wirePublic builds what GitHub and Slack reach, if the process has that role.
func (s *server) wirePublic(ctx context.Context, cfg config.Config, r config.Roles, m *metrics.Metrics) (err error) {
	if !r.Has(config.HooksRole) {
		return nil
	}
	if s.public, err = wireHooks(ctx, cfg, s.store, m, s.log); err != nil {
		return err
	}
	if cfg.Slack.Mode == config.SlackSocket {
		s.slack, err = wireSocket(ctx, cfg, s.store, s.log)
	}
	return err
}

func (s *server) buildParts(ctx context.Context, cfg config.Config, r config.Roles) (err error) {
	if !r.Has(config.APIRole) && !r.Has(config.WorkerRole) {
		m := metrics.New(metrics.Config{Store: s.store, Log: s.log, ProcessOnly: true})
		s.wireProbes(cfg, m)
		return s.wirePublic(ctx, cfg, r, m)
	}
	in, err := wireInner(ctx, cfg, s.store, s.log)
	if err != nil {
		return err
	}
	if in.catalogue, err = openCatalogue(cfg, r, s.log); err != nil {
		return err
	}
	var scraper secret.Text
	if cfg.Metrics.TokenRef != "" && r.Has(config.APIRole) {
		if scraper, err = cfg.Secret(ctx, "metrics.token_ref", cfg.Metrics.TokenRef); err != nil {
			return err
		}
	}
	var core *app.Service
	in.metrics = metrics.New(metrics.Config{
		Store: s.store, Log: s.log, Token: scraper, ProcessOnly: !r.Has(config.APIRole),
		Catalogue: func() (time.Time, error) {
			status := in.catalogue.Status()
			return status.LoadedAt, status.Err
		},
		Pools:    func(ctx context.Context) ([]metrics.PoolLevel, error) { return poolLevels(ctx, core) },
		Accounts: func(ctx context.Context) ([]metrics.AccountLevel, error) { return accountLevels(ctx, core) },
	})
	core = app.New(in.appConfig(nil))
	s.wireProbes(cfg, in.metrics)
	if err := s.wirePublic(ctx, cfg, r, in.metrics); err != nil {
		return err
	}
	s.catalogue, s.reload, s.people = in.catalogue, cfg.Catalogue.Reload, core.KeepPeople
	if r.Has(config.APIRole) {
		if s.private, s.runners, err = in.wirePrivate(ctx, s.draining); err != nil {
			return err
		}
	}
	if r.Has(config.WorkerRole) {
		err = in.wireWorkers(ctx, s)
	}
	return err
}

// inner is what the roles api and worker share.
type inner struct {
	cfg       config.Config
	log       *slog.Logger
	store     *store.Store
	catalogue *catalogue.Live
	bucket    *artifacts.Store
	signer    *token.Signer
	metrics   *metrics.Metrics
}

// openCatalogue reads the catalogue. An invalid one prevents the start only without the role worker: clusters must still end whatever
// a file contains, and nothing new is allowed until the catalogue is fixed.
func openCatalogue(cfg config.Config, r config.Roles, log *slog.Logger) (*catalogue.Live, error) {
	live, err := catalogue.Open(catalogue.Config{Dir: cfg.Catalogue.Dir, Log: log, GitHubIssuers: cfg.GitHubIssuers(), RoleIssuers: cfg.RoleIssuers(), Off: cfg.Features.PlatformsOff()})
	switch {
	case err == nil:
		return live, nil
	case !r.Has(config.WorkerRole):
		return nil, underFolder(cfg.Catalogue.Dir, err)
	}
	log.Error("catalogue is not sound; nothing is allowed until it is", "dir", cfg.Catalogue.Dir, "err", err)
	return live, nil
}

func wireInner(ctx context.Context, cfg config.Config, s *store.Store, log *slog.Logger) (in inner, err error) {
	in = inner{cfg: cfg, log: log, store: s}
	in.bucket, err = artifacts.New(ctx, artifacts.Config{
		Bucket: cfg.Artifacts.Bucket, KMSKey: cfg.Artifacts.KMSKey, OperateKMSKey: cfg.Artifacts.OperateKMSKey,
	})
	if err != nil {
		return in, err
	}
	pem, err := cfg.Secret(ctx, "runner.status_key_ref", cfg.Runner.StatusKeyRef)
	if err != nil {
		return in, err
	}
	key, err := token.ParseKey([]byte(pem.Reveal()))
	if err != nil {
		return in, fmt.Errorf("runner.status_key_ref: %w", err)
	}
	in.signer = token.NewSigner(key, tokenLife)
	return in, nil
}

// repositoryTable returns the repository table.
func repositoryTable(c config.Config) (list []app.Repository) {
	for _, r := range c.Repositories {
		list = append(list, app.Repository{Match: r.Match, Ownership: policy.Ownership{
			Team: r.Team, Owner: r.Owner, CostCenter: r.CostCenter, Environment: r.Environment,
		}})
	}
	return list
}

// listRepositories are those whose webhooks are handled: those that may have clusters, and the catalogue's.
func listRepositories(c config.Config) []app.Repository {
	list := repositoryTable(c)
	if home := c.Catalogue.Repository; home != "" && len(list) > 0 {
		list = append(list, app.Repository{Match: home})
	}
	return list
}

// appConfig wires the application and its entry points; gh is nil if there are no requests from GitHub.
func (in inner) appConfig(gh app.GitHub) app.Config {
	cfg := in.cfg
	site := github.Site(cfg.GitHub.APIURL)
	return app.Config{
		Store: in.store, Catalogue: in.catalogue.Current, Keeper: in.newKeeper(), LoadCatalogue: in.catalogue.Load, CatalogueIn: app.CatalogueHome{Repository: cfg.Catalogue.Repository, Path: strings.Trim(cfg.Catalogue.Path, "/")}, GitHub: gh, GitHubSite: site, JobIssuer: cfg.JobIssuer(site), GitHubIssuers: cfg.GitHubIssuers(), Artifacts: in.bucket, AccessMost: cfg.Limits.Access, Accounts: in.listScanAccounts, RunnersIn: cfg.RunnersIn, UI: cfg.UIURL, OpenID: cfg.Console.SignIn == config.ConsoleOpenID, Log: in.log, Repositories: repositoryTable(cfg), SlackEmails: cfg.Slack.EmailDomains, Tekton: cfg.TektonIssuers(),
		Policy:   policy.Settings{Hour: cfg.Hour, Grace: cfg.Grace, MaxGrace: cfg.GitHub.MaxGrace, Permission: cfg.GitHub.Permission, Forks: cfg.GitHub.Forks, UsageDecays: cfg.Limits.UsageHalfLife > 0, Installation: cfg.Installation},
		Installs: in.installSettings(),
	}
}

// newKeeper returns what reloads the catalogue when its files changed; nil for the embedded one.
func (in inner) newKeeper() app.Keeper {
	if in.cfg.Catalogue.Dir == "" {
		return nil
	}
	return in.catalogue
}

// installSettings returns what every cluster's spec is frozen with.
func (in inner) installSettings() app.Installs {
	r, clouds := in.cfg.Runner, map[string]app.Cloud{}
	for _, platform := range config.Platforms {
		of := in.cfg.Cloud(platform)
		clouds[platform] = app.Cloud{Account: of.Account, CredentialsRef: of.CredentialsRef}
	}
	return app.Installs{
		PullSecretRef: r.PullSecretRef, SSHKey: r.SSHKey, SSHKeyRef: r.SSHKeyRef,
		Releases: r.Releases, Clouds: clouds,
	}
}

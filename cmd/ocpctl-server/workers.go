package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/controller/notifier"
	"github.com/ocpctl/ocpctl/internal/cur"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// wireWorkers builds the workers: the inbox's worker and the controller.
func (in inner) wireWorkers(ctx context.Context, s *server) error {
	client, err := in.wireGitHub(ctx)
	if err != nil {
		return err
	}
	asker := hooks.NewAsker(client, in.cfg.GitHub.Installations...)
	cfg := in.appConfig(asker)
	core := app.New(cfg)
	links := credentials.New(core, cfg)
	pullRequests := pulls.New(core, links, cfg)
	office := admin.New(core, cfg)
	engine, err := in.wireController(client, core, pullRequests, office)
	if err != nil {
		return err
	}
	told := notifier.Config{Store: in.store, AdminChannel: in.cfg.Slack.AdminChannel, Links: chatops.Links{UI: in.cfg.UIURL}, Log: in.log}
	if told.Weekly, err = weeklyReport(in.cfg.Reports.Weekly); err != nil {
		return err
	}
	var bot slackapp.Slack // nil without a bot token
	if in.cfg.Slack.BotTokenRef != "" {
		client, err := in.wireSlack(ctx)
		if err != nil {
			return err
		}
		engine.Teller, told.Slack, bot = client, client, client
	}
	s.watch = engine.Watch
	workers := river.NewWorkers()
	engine.Register(workers)
	tells := notifier.New(told)
	tells.Register(workers)
	gh := in.cfg.GitHub
	poller := hooks.NewPoller(in.store, client, gh.Look, in.log, gh.Installations...)
	labels := hooks.NewLabelPoller(in.store, client, repositoryTable(in.cfg), in.log, gh.Installations...)
	missed := hooks.NewMissed(in.store, client, gh.Installations, gh.Deliveries, in.log)
	inSlack := slackapp.New(core, links, office, bot, cfg)
	homes := hooks.NewHomes(in.store)
	subscriptions := hooks.NewSubscriptions(inSlack, in.log)
	pipelineRuns, err := in.cfg.TektonClient()
	if err != nil {
		return err
	}
	ofRuns := runs.New(runs.Config{Store: in.store, GitHub: asker, Tekton: pipelineRuns, Site: cfg.GitHubSite, Every: gh.RunLook, Use: in.cfg.Limits.Use, Log: in.log})
	runPoller := hooks.NewRunPoller(ofRuns, gh.RunLook)
	river.AddWorker(workers, hooks.NewInboxWorker(in.store, pullRequests, ofRuns, inSlack, gh.AppID, in.log))
	river.AddWorker(workers, runPoller)
	river.AddWorker(workers, hooks.NewPullWorker(pullRequests))
	river.AddWorker(workers, homes)
	river.AddWorker(workers, subscriptions)
	river.AddWorker(workers, hooks.NewHomeWorker(inSlack, in.log))
	river.AddWorker(workers, poller)
	river.AddWorker(workers, labels)
	river.AddWorker(workers, missed)
	money := costs.New(cfg)
	bill, err := in.wireBill(ctx, money)
	if err != nil {
		return err
	}
	budgets := costs.NewBudgetsWorker(money)
	river.AddWorker(workers, budgets)
	river.AddWorker(workers, bill)
	if s.instance, err = in.registerProcess(ctx); err != nil {
		return err
	}
	s.workers, err = queue.NewClient(ctx, in.store.Pool(), workers, queue.RiverConfig{
		Instance: s.instance.Name(), Periodic: append(slices.Concat(engine.Periodic(), tells.Periodic()), poller.Periodic(), labels.Periodic(), runPoller.Periodic(), missed.Periodic(), homes.Periodic(), subscriptions.Periodic(), budgets.Periodic(), bill.Periodic()),
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), // River logs statistics at INFO
		Log:    in.log, OnError: in.metrics.JobFailed, Notify: func(queue string) { in.store.QueueNotifier.Notify(queue) },
	})
	return err
}

// wireBill builds the worker that reads what the cloud billed.
func (in inner) wireBill(ctx context.Context, s *costs.Service) (*costs.BillWorker, error) {
	b := in.cfg.Bill
	if !b.On() {
		return costs.NewBillWorker(s, nil, b.Every), nil
	}
	export, err := cur.New(ctx, cur.Config{Bucket: b.Bucket, Prefix: b.Prefix, Name: b.Name, Region: b.Region, Installation: in.cfg.Installation})
	if err != nil {
		return nil, err
	}
	return costs.NewBillWorker(s, export, b.Every), nil
}

// weeklyReport returns when and where the weekly report is posted; nil: there is none.
func weeklyReport(cfg config.WeeklyReport) (*notifier.Weekly, error) {
	if !cfg.Enabled {
		return nil, nil
	}
	zone, err := cfg.Location()
	if err != nil {
		return nil, fmt.Errorf("reports.weekly.zone: %w", err)
	}
	day, _ := cfg.Day() // the configuration was checked
	return &notifier.Weekly{Weekday: day, Hour: cfg.Hour, Zone: zone, Channel: cfg.Channel}, nil
}

// registerProcess gives this process its name in the queue, and takes over the jobs of dead ones.
func (in inner) registerProcess(ctx context.Context) (*db.Instance, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("get this host's name: %w", err)
	}
	instance, taken, err := in.store.Instance(ctx, host, 0)
	if err != nil {
		return nil, err
	}
	in.log.Info("registered in the queue", "instance", instance.Name())
	logTakenOver(in.log, taken)
	return instance, nil
}

func logTakenOver(log *slog.Logger, taken db.TakenOver) {
	if len(taken.From) > 0 {
		log.Warn("took over from processes that ended without a graceful stop", "from", taken.From, "jobs", taken.Jobs, "discarded", taken.Discarded)
	}
}

// wireGitHub builds the GitHub client, whose pace all processes share.
func (in inner) wireGitHub(ctx context.Context) (*github.Client, error) {
	cfg := in.cfg
	key, err := cfg.Secret(ctx, "github.private_key_ref", cfg.GitHub.PrivateKeyRef)
	if err != nil {
		return nil, err
	}
	return github.New(github.Config{
		AppID: cfg.GitHub.AppID, PrivateKey: []byte(key.Reveal()), BaseURL: cfg.GitHub.APIURL,
		Leave: func(ctx context.Context, installation int64) (time.Duration, error) {
			return in.store.Outbox.TakePace(ctx, installation, cfg.GitHub.WritePace())
		},
		Reserve: cfg.GitHub.Reserve(), Points: cfg.GitHub.Points(), Limited: in.storeLimit, Budget: in.storeBudget, Answers: in.storeHealth,
	})
}

// storeLimit, budget and answers store what GitHub reports about its limits, for the other processes, the pages and the metrics.
func (in inner) storeLimit(ctx context.Context, installation int64, wait time.Duration) {
	in.log.Warn("GitHub's rate limit holds writes back", "installation", installation, "wait", wait)
	in.notKept(installation, in.store.Outbox.HoldPace(ctx, installation, wait))
}

func (in inner) storeBudget(ctx context.Context, installation int64, b github.Budget) {
	in.notKept(installation, in.store.Outbox.SeeBudget(ctx, outbox.GitHubBudget{
		Installation: installation, Resource: b.Resource, Allowed: b.Allowed, Remaining: b.Remaining, ResetsAt: b.ResetsAt,
	}))
}

func (in inner) storeHealth(ctx context.Context, installation int64, answers bool) {
	if !answers {
		in.log.Warn("GitHub does not answer", "installation", installation)
	}
	in.notKept(installation, in.store.Outbox.GitHubAnswers(ctx, installation, answers))
}

func (in inner) notKept(installation int64, err error) {
	if err != nil {
		in.log.Error("what GitHub said of its limits was not kept", "installation", installation, "err", err)
	}
}

func (in inner) wireController(client *github.Client, core *app.Service, catalogue controller.Catalogue, changes controller.CatalogueChanges) (*controller.Controller, error) {
	cfg := in.cfg
	dispatcher, err := wireDispatcher(cfg)
	if err != nil {
		return nil, err
	}
	return controller.New(controller.Config{
		Store: in.store, Dispatcher: dispatcher, GitHub: client, Catalogue: catalogue, Changes: changes, CataloguePath: strings.Trim(cfg.Catalogue.Path, "/"), Spool: in.bucket, Remover: in.bucket, Archives: in.bucket, Cleanup: in.wireCleanup(), Pools: core, Signer: in.signer,
		Bucket: cfg.Artifacts.Bucket, Installation: cfg.Installation,
		Limits: cfg.Lifecycle(), Hours: in.hoursOf, FindingLimits: cfg.FindingLimits(), Breaker: cfg.Breaker(), Accounts: in.scanAccounts(core.WantedProofs), Links: chatops.Links{UI: cfg.UIURL}, Log: in.log,
		Wake: cfg.Limits.Wake, FindEvery: cfg.Limits.Findings, Keep: cfg.Limits.Keep, Retention: cfg.Artifacts.Retention,
		RepositoryFile: profiles.RepositoryFilePath, Pace: cfg.GitHub.WritePace(), Progress: cfg.GitHub.Progress,
	}), nil
}

// hoursOf says what the catalogue in force says of a moment.
func (in inner) hoursOf(profile, team string, now time.Time) lifecycle.Hours {
	c := in.catalogue.Current()
	p, _ := c.Get(profile)
	return lifecycle.HoursAt(c.HoursOf(profile, team), now, p.OffHours.WakeAhead, p.OffHours.AwakeFor)
}

// wireDispatcher builds what starts runners.
func wireDispatcher(cfg config.Config) (controller.Dispatcher, error) {
	r := cfg.Runner
	env, err := runnerEnvironment(r)
	if err != nil {
		return nil, err
	}
	if r.Dispatch != config.DispatchKubernetes {
		return dispatch.NewProcess(dispatch.Config{
			Runner: r.Program, Installers: r.Installers, WorkDir: r.WorkDir, StatusURL: r.StatusURL,
			Env: append(os.Environ(), env...),
		})
	}
	return wireKubernetes(cfg, env)
}

// wireKubernetes builds what starts runners as Jobs.
func wireKubernetes(cfg config.Config, env []string) (*kubernetes.Dispatcher, error) {
	to, err := kubernetes.Connect(cfg.Runner.Kubernetes.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.New(to, kubernetes.Config{
		Settings: cfg.Runner.Kubernetes, Installation: cfg.Installation, StatusURL: cfg.Runner.StatusURL, Env: env,
	})
}

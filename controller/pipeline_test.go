package controller_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/pulls"
	appruns "github.com/ocpctl/ocpctl/app/runs"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/github"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	hubruns "github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	catalogues "github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// pipeline is a front with its entry point: what the stand-in GitHub sends is stored and worked, and the jobs of its runs ask for
// clusters.
type pipeline struct {
	*front
	core  *app.Service
	inbox *hooks.InboxWorker
	asked int
}

func newPipeline(t testing.TB) *pipeline {
	t.Helper()
	return newPipelineWith(t, servicetest.Catalogue(t, nil))
}

func newPipelineWith(t testing.TB, terms catalogues.Catalogue) *pipeline {
	t.Helper()
	p := &pipeline{front: newFront(t, quick)}
	const signs = "pipeline-webhook-secret"
	repositories := []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}}}
	handler, err := hooks.New(hooks.Config{Store: p.store, GitHubSecret: secret.New(signs), App: hub.AppID, Repositories: repositories})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.hub.SetWebhook(server.URL+"/webhooks/github", signs)

	client, err := github.New(github.Config{AppID: hub.AppID, PrivateKey: p.hub.KeyPEM(), BaseURL: p.hub.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	asker := hooks.NewAsker(client)
	cfg := app.Config{
		Store: p.store, Catalogue: func() catalogues.Catalogue { return terms }, GitHub: asker, GitHubSite: github.Site(p.hub.URL()), Repositories: repositories,
		Policy: policy.Settings{Grace: time.Minute, Installation: "test"}, Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"},
	}
	p.core = app.New(cfg)
	links := credentials.New(p.core, cfg)
	ofRuns := appruns.New(appruns.Config{Store: p.store, GitHub: asker, Site: cfg.GitHubSite, Every: 2 * time.Minute, Use: 6 * time.Hour})
	p.inbox = hooks.NewInboxWorker(p.store, pulls.New(p.core, links, cfg), ofRuns, slackapp.New(p.core, links, admin.New(p.core, cfg), nil, cfg), hub.AppID, nil)
	return p
}

// arrive waits until the stand-in has tried to send everything.
func (p *pipeline) arrive() {
	p.t.Helper()
	waiting := func(d hub.Delivery) bool { return d.State == hub.Waiting }
	require.Eventually(p.t, func() bool { return !slices.ContainsFunc(p.hub.Deliveries(), waiting) }, 30*time.Second, time.Millisecond)
}

// goOn works what came in, and what follows from it, until nothing is left.
func (p *pipeline) goOn() {
	p.t.Helper()
	for range 50 {
		p.arrive()
		rows := p.texts(`SELECT id::text FROM deliveries WHERE state = 'received' ORDER BY id`)
		for _, row := range rows {
			id, err := strconv.ParseInt(row, 10, 64)
			require.NoError(p.t, err)
			require.NoError(p.t, p.inbox.Process(context.WithoutCancel(p.ctx), id), "%v", p.notes())
		}
		if p.collect(); len(rows) == 0 && len(p.jobs) == 0 {
			return
		}
		p.settle()
	}
	require.FailNow(p.t, "it never comes to rest")
}

func (p *pipeline) notes() []string {
	return p.texts(`SELECT concat_ws(' ', event, topic, state, note) FROM deliveries ORDER BY id`)
}

func (p *pipeline) texts(sql string, args ...any) []string {
	p.t.Helper()
	rows, err := p.store.Pool().Query(p.ctx, sql, args...)
	require.NoError(p.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(p.t, err)
	return out
}

// create asks for a cluster as a job.
func (p *pipeline) create(job int64, r app.RunRequest) app.Created {
	p.t.Helper()
	p.asked++
	made, err := p.core.Create(p.ctx, servicetest.OfJob(p.t, p.hub, job), app.CreateRequest{
		Name: fmt.Sprintf("c%d", p.asked), Profile: "aws-minimal-test", CostCenter: "sandbox", Environment: "test", Source: policy.SourceAPI, Run: &r,
	})
	require.NoError(p.t, err)
	return made
}

// run is a run as it is now.
func (p *pipeline) run(id int64) hub.Run {
	p.t.Helper()
	run, ok := p.hub.Runs().Get(id)
	require.True(p.t, ok)
	return run
}

// last is the newest attempt of a run's job.
func (p *pipeline) last(run int64, key string) hub.Job {
	p.t.Helper()
	var out hub.Job
	for _, j := range p.run(run).Jobs {
		if j.Key == key && j.Attempt >= out.Attempt {
			out = *j
		}
	}
	require.NotZero(p.t, out.ID)
	return out
}

// finishes has every job of a run succeed, or end otherwise.
func (p *pipeline) finishes(run int64, conclusion string) {
	p.t.Helper()
	require.NoError(p.t, p.hub.Runs().CompleteAll(run, conclusion))
	p.goOn()
}

// begins has a queued job begin.
func (p *pipeline) begins(job int64) {
	p.t.Helper()
	require.NoError(p.t, p.hub.Runs().Begin(job))
	p.goOn()
}

// ends is why a cluster ends with its run, and after how long.
func (p *pipeline) ends(id string) string {
	p.t.Helper()
	ends := p.cluster(id).Ends
	if ends.RunFinished.IsZero() {
		return ""
	}
	return ends.RunFinished.Sub(p.now()).Round(time.Minute).String() + " " + ends.RunWhy.String()
}

// gone lets a cluster whose end came be decided about.
func (p *pipeline) gone(row clusters.Row) clusters.Row {
	p.t.Helper()
	p.reconcile(row.ID)
	p.goOn()
	return p.cluster(row.ID)
}

func TestARunThatDoesNotWaitLeavesItsClusterToTheRunThatItsSignalStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		on       app.OnReady
		event    string
		told     []string // the states of the deployments
		dispatch int
	}{
		{app.OnReadyDeployment, "deployment_status", []string{"in_progress", "success", "inactive"}, 0},
		{app.OnReadyDispatch, "repository_dispatch", nil, 1},
	} {
		t.Run(string(c.on), func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			m := hub.Registered()
			m.Permissions["contents"] = "write"
			p.hub.SetManifest(m)
			first, err := p.hub.Runs().Start(hub.NewRun{})
			require.NoError(t, err)
			p.begins(first.Jobs[0].ID)
			row := p.create(first.Jobs[0].ID, app.RunRequest{Slot: "e2e/0/", OnReady: c.on}).Row
			p.finishes(first.ID, hubruns.Success)
			require.Empty(t, p.ends(row.ID), "the run is over, and its cluster stays for the one that the signal starts")
			p.becomesReady(row)
			p.goOn()
			require.Equal(t, lifecycle.SignalReady, p.cluster(row.ID).Signal.Told, "%+v", p.cluster(row.ID).Signal)
			require.Equal(t, "15m0s its workflow run finished, and no run that its signal started took it over", p.ends(row.ID))

			second, err := p.hub.Runs().Start(hub.NewRun{Event: c.event})
			require.NoError(t, err)
			p.begins(second.Jobs[0].ID)
			use, fresh, err := p.core.AskUse(p.ctx, servicetest.OfJob(t, p.hub, second.Jobs[0].ID), row.ID, policy.PipelineRun{}, app.Origin{Source: policy.SourceAPI})
			require.NoError(t, err)
			require.Equal(t, []any{true, "granted"}, []any{fresh, string(use.State())})
			require.Empty(t, p.ends(row.ID), "the run that the signal started has it")
			require.Equal(t, fmt.Sprint(second.ID), p.cluster(row.ID).Run.Key)
			p.finishes(second.ID, hubruns.Success)
			require.Equal(t, "0s its workflow run finished", p.ends(row.ID))
			require.Equal(t, lifecycle.Absent, p.gone(row).Desired)

			var told []string
			if all := p.deployments("ocpctl/" + row.Profile); len(all) == 1 {
				told = all[0]
			}
			require.Equal(t, c.told, told)
			sent := 0
			for _, call := range p.hub.Calls() {
				if call.Method == "POST" && call.Path == "/repos/acme/shop/dispatches" {
					sent++
				}
			}
			require.Equal(t, c.dispatch, sent)
		})
	}
}

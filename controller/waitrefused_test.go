package controller_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	hubruns "github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// without removes a permission of the App's installation, or lowers it to reading.
func (p *pipeline) without(permission, level string) {
	m := hub.Registered()
	delete(m.Permissions, permission)
	if level != "" {
		m.Permissions[permission] = level
	}
	p.hub.SetManifest(m)
}

// startsToWait starts a run whose job waits for the environment, and works nothing.
func (p *pipeline) startsToWait() hub.Run {
	p.t.Helper()
	require.NoError(p.t, p.hub.Protect(environment, true))
	clock := time.Now() // as the stand-in's
	p.clock.Store(&clock)
	run, err := p.hub.Runs().Start(hub.NewRun{Jobs: []hub.NewJob{{Key: "e2e", Environment: environment}}})
	require.NoError(p.t, err)
	p.arrive()
	return run
}

// tries processes the rule's deliveries that are not done, and returns their errors.
func (p *pipeline) tries() (errs []error) {
	p.t.Helper()
	for _, row := range p.texts(`SELECT id::text FROM deliveries WHERE state = 'received' AND event = 'deployment_protection_rule' ORDER BY id`) {
		id, err := strconv.ParseInt(row, 10, 64)
		require.NoError(p.t, err)
		if err := p.inbox.Process(context.WithoutCancel(p.ctx), id); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// reviewPosts is how often the App answered about an environment since a call.
func (p *pipeline) reviewPosts(since int) (n int) {
	for _, call := range p.hub.Calls()[since:] {
		if call.Method == http.MethodPost && strings.HasSuffix(call.Path, "/deployment_protection_rule") {
			n++
		}
	}
	return n
}

func TestAJobWhoseRunTheAppMayNotReadIsRejectedWithTheReason(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.without("actions", "")
	run := p.startsToWait()
	errs := p.tries()
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], app.ErrRefused)
	require.Empty(t, p.texts(`SELECT id FROM effects`))
	p.pass(16 * time.Minute)
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, []any{hubruns.Completed, hubruns.Rejected}, []any{job.Status, job.Reviews[0].State}, "%v", p.notes())
	require.Len(t, p.said(job), 1)
	require.Contains(t, p.said(job)[0], "permission Actions: read")
	require.Empty(t, p.waited())
	require.Equal(t, []string{"failed"}, p.texts(`SELECT state FROM deliveries WHERE event = 'deployment_protection_rule'`))
}

func TestARunThatGitHubDoesNotShowYetIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.hub.FailNext(1, hub.APIFault{Status: http.StatusNotFound, Method: http.MethodGet, Path: "/actions/runs/"})
	run := p.startsToWait()
	require.Len(t, p.tries(), 1)
	p.goOn()
	p.becomesReady(p.onlyWaited())
	p.goOn()
	require.Equal(t, hubruns.Approved, p.last(run.ID, "e2e").Reviews[0].State)
}

func TestAJobIsRejectedAfterALongOutageOfGitHub(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.startsToWait()
	down := func() {
		p.hub.FailNext(1000, hub.APIFault{Status: http.StatusServiceUnavailable, Path: "/actions/runs/"})
		defer p.hub.Recover()
		require.Len(t, p.tries(), 1)
	}
	down()
	p.pass(23 * time.Hour)
	down()
	require.Empty(t, p.texts(`SELECT id FROM effects`))
	p.pass(2 * time.Hour)
	p.hub.FailNext(1000, hub.APIFault{Status: http.StatusServiceUnavailable, Path: "/actions/runs/"})
	require.Empty(t, p.tries(), "it is given up")
	require.Equal(t, []string{"reject"}, p.texts(`SELECT kind FROM effects WHERE done_at IS NULL`), "it is written down before it is sent")
	p.until(p.now().Add(time.Hour))
	require.Equal(t, []string{"reject"}, p.texts(`SELECT kind FROM effects WHERE done_at IS NULL`), "GitHub is still away")
	p.hub.Recover()
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, hubruns.Rejected, job.Reviews[0].State)
	require.Contains(t, p.said(job)[0], "Run the job again.")
}

func TestARejectionWhoseAnswerWasLostIsNotSentForEver(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.without("actions", "")
	run := p.startsToWait()
	require.Len(t, p.tries(), 1)
	p.pass(16 * time.Minute)
	p.hub.FailNext(1, hub.APIFault{After: true, Method: http.MethodPost, Path: "/deployment_protection_rule"})
	before := len(p.hub.Calls())
	p.goOn()
	require.Equal(t, hubruns.Rejected, p.last(run.ID, "e2e").Reviews[0].State)
	require.LessOrEqual(t, p.reviewPosts(before), 3)
	require.Equal(t, []string{"no job waits for it any more"}, p.texts(`SELECT note FROM effects`))
}

// cannotBeTold is a run whose job waits for a cluster that became ready, while the App may not say so.
func (p *pipeline) cannotBeTold() (hub.Run, clusters.Row) {
	p.t.Helper()
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	p.without("deployments", "read")
	p.becomesReady(row)
	return run, row
}

func TestADecisionThatGitHubRefusesIsShownAndTriedAgainEveryHour(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run, row := p.cannotBeTold()
	before := len(p.hub.Calls())
	p.until(p.now().Add(5 * time.Hour))
	require.NotEmpty(t, p.jobs)
	require.LessOrEqual(t, p.reviewPosts(before), 10, "it is no storm")
	events, err := p.store.Timeline(p.ctx, row.ID)
	require.NoError(t, err)
	i := slices.IndexFunc(events, func(e store.Event) bool { return e.Action == "wait_untold" })
	require.GreaterOrEqual(t, i, 0)
	require.Contains(t, events[i].Why, "permission to write deployments. It is tried again every hour.")

	p.hub.SetManifest(hub.Registered())
	p.until(p.now().Add(time.Hour))
	require.Equal(t, hubruns.Approved, p.last(run.ID, "e2e").Reviews[0].State)
	require.Equal(t, []string{"approved"}, p.decisions())
	require.Empty(t, p.jobs)
}

func TestADecisionThatGitHubRefusesEndsWithTheRun(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run, _ := p.cannotBeTold()
	p.until(p.now().Add(2 * time.Hour))
	require.NotEmpty(t, p.jobs)
	require.NoError(t, p.hub.Runs().Cancel(run.ID, "maya"))
	p.goOn()
	require.Empty(t, p.jobs)
	require.Equal(t, []string{"over"}, p.decisions())
}

// GitHub may lose sight of a waiting job for a moment right after it was away.
func TestADecisionThatWasLateIsSentAgainIfGitHubStillListsTheJob(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	const decision = "/deployment_protection_rule"
	p.hub.FailNext(1, hub.APIFault{Status: http.StatusTooManyRequests, RetryAfter: "600", Method: http.MethodPost, Path: decision})
	p.hub.FailNext(2, hub.APIFault{Status: http.StatusUnprocessableEntity, Message: "no pending deployment", Method: http.MethodPost, Path: decision})
	p.becomesReady(row)
	p.until(p.now().Add(20 * time.Minute))
	require.Equal(t, hubruns.Approved, p.last(run.ID, "e2e").Reviews[0].State)
	require.Equal(t, []string{"approved"}, p.decisions())
}

package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/hooks"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	hubruns "github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

const environment = "ocp/aws-minimal-test"

// waits starts a run whose job e2e waits for the environment, and works what follows.
func (p *pipeline) waits(n hub.NewRun) hub.Run {
	p.t.Helper()
	require.NoError(p.t, p.hub.Protect(environment, true))
	if len(n.Jobs) == 0 {
		n.Jobs = []hub.NewJob{{Key: "e2e", Environment: environment}}
	}
	run, err := p.hub.Runs().Start(n)
	require.NoError(p.t, err)
	p.goOn()
	return p.run(run.ID)
}

// waited are the clusters that were made for environments, oldest first.
func (p *pipeline) waited() (rows []clusters.Row) {
	p.t.Helper()
	for _, id := range p.texts(`SELECT id FROM clusters WHERE source = 'environment' ORDER BY id`) {
		rows = append(rows, p.cluster(id))
	}
	return rows
}

func (p *pipeline) onlyWaited() clusters.Row {
	p.t.Helper()
	rows := p.waited()
	require.Len(p.t, rows, 1, "%v", p.notes())
	return rows[0]
}

// said is what the App said about a job's environment, each without its links.
func (p *pipeline) said(j hub.Job) (out []string) {
	p.t.Helper()
	require.Len(p.t, j.Reviews, 1)
	for _, one := range j.Reviews[0].Comments {
		before, _, _ := strings.Cut(one, " Its page: ")
		out = append(out, before)
	}
	return out
}

// decisions are how the waits ended, in the order in which they began.
func (p *pipeline) decisions() []string {
	return p.texts(`SELECT decision FROM waits ORDER BY id`)
}

func TestAnEnvironmentWaitsUntilTheClusterOfTheRunIsReady(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	require.Regexp(t, `^shop-[a-z2-7]{5}$`, row.Name)
	require.Equal(t, []any{"github:id/2001", "platform", "environment"}, []any{row.RequestedBy, row.Team, row.Source})
	require.Equal(t, []any{fmt.Sprint(run.ID), 1, "environment/aws-minimal-test", lifecycle.LifetimeRun}, []any{row.Run.Key, row.Run.Attempt, row.Run.Slot, row.Run.Lifetime})
	require.Nil(t, row.PR)
	require.Equal(t, hubruns.Waiting, p.last(run.ID, "e2e").Status)
	require.Equal(t, []string{row.Name + " is being created."}, p.said(p.last(run.ID, "e2e")))

	p.becomesReady(row)
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, []any{hubruns.Queued, hubruns.Approved}, []any{job.Status, job.Reviews[0].State})
	require.Regexp(t, `^`+row.Name+` is ready until .* UTC\. No runner waited for it: 34 min saved\.$`, p.said(job)[1])
	require.Equal(t, []string{"approved"}, p.decisions())

	p.begins(job.ID)
	got := p.create(job.ID, app.RunRequest{Slot: "e2e/0/", Reuse: policy.ReuseRun})
	require.Equal(t, []any{true, row.ID}, []any{got.Reused, got.Row.ID}, "create-cluster in the job finds it by its profile")
	other := p.create(job.ID, app.RunRequest{Slot: "e2e/0/"})
	require.NotEqual(t, row.ID, other.Row.ID, "without reuse a job gets a cluster of its own")
	p.finishes(run.ID, hubruns.Success)
	require.Equal(t, "0s its workflow run finished", p.ends(row.ID))
	require.Equal(t, lifecycle.Absent, p.gone(row).Desired)
	require.Len(t, p.said(p.last(run.ID, "e2e")), 2, "nothing is said after the decision")
}

func TestAnEnvironmentIsRejectedWithTheReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, environment string
		run               hub.NewRun
		why               string
	}{
		{"without a permission", environment, hub.NewRun{Actor: "rita"}, "rita has only read permission on acme/shop; to create a cluster, write is needed."},
		{"a bot", environment, hub.NewRun{Actor: "github-merge-queue[bot]"}, "github-merge-queue\\[bot\\] is a bot. A bot starts runs for people"},
		{"unknown profile", "ocp/aws-maximal", hub.NewRun{}, "aws-maximal"},
		{"admins only", "ocp/aws-minimal-mint", hub.NewRun{}, "admin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPipeline(t)
			require.NoError(t, p.hub.Protect(c.environment, true))
			c.run.Jobs = []hub.NewJob{{Key: "e2e", Environment: c.environment}}
			run := p.waits(c.run)
			job := p.last(run.ID, "e2e")
			require.Equal(t, []any{hubruns.Completed, hubruns.Failure, hubruns.Rejected}, []any{job.Status, job.Conclusion, job.Reviews[0].State}, "%v", p.notes())
			require.Contains(t, p.said(job)[0], "There is no cluster for this environment, and nothing was changed.")
			require.Contains(t, p.said(job)[0], c.why)
			require.Empty(t, p.waited())
			require.Equal(t, []string{"rejected"}, p.decisions())
		})
	}
}

func TestNothingRunsForAForksCodeByAnEnvironment(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	number, err := p.hub.OpenFork("Pay faster", "sam")
	require.NoError(t, err)
	run := p.waits(hub.NewRun{Pull: number, Actor: "maya"})
	job := p.last(run.ID, "e2e")
	require.Equal(t, hubruns.Rejected, job.Reviews[0].State)
	require.Contains(t, p.said(job)[0], "The run's commit is in a fork.")
	require.Empty(t, p.waited())
}

func TestAnEnvironmentOfSomebodyElseIsIgnored(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	require.NoError(t, p.hub.Protect("production", true))
	run := p.waits(hub.NewRun{Jobs: []hub.NewJob{{Key: "e2e", Environment: "production"}}})
	require.Equal(t, hubruns.Waiting, p.last(run.ID, "e2e").Status)
	require.Empty(t, p.texts(`SELECT id::text FROM deliveries WHERE event = 'deployment_protection_rule'`), "nothing is stored")
}

func TestAnEnvironmentIsRejectedIfItsClusterWillNotBeReady(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	_, open := p.install(row)
	p.results(open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "BootstrapFailed", Message: "Bootstrap did not complete in time.", Retryable: true})
	p.reconcile(row.ID)
	p.goOn()
	require.Equal(t, hubruns.Waiting, p.last(run.ID, "e2e").Status, "another attempt follows")
	_, err := p.store.Destroy(p.ctx, row.ID, origin)
	require.NoError(t, err)
	p.pass(time.Hour)
	p.reconcile(row.ID)
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, hubruns.Rejected, job.Reviews[0].State)
	require.Equal(t, []string{
		row.Name + " is being created.",
		"An attempt to create " + row.Name + " failed: Bootstrap did not complete in time. What it left is being removed, and another attempt may follow.",
	}, p.said(job)[:2])
	require.Contains(t, p.said(job)[2], row.Name+" will not be ready: ")
	require.Equal(t, []string{"rejected"}, p.decisions())
}

func TestARunThatEndsMeanwhileIsToldNothing(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	require.NoError(t, p.hub.Runs().Cancel(run.ID, "maya"))
	p.goOn()
	require.Equal(t, "0s its workflow run was cancelled", p.ends(row.ID))
	p.gone(row)
	require.Equal(t, []string{"over"}, p.decisions())
	require.Len(t, p.said(p.last(run.ID, "e2e")), 1)
}

func TestAnotherAttemptWaitsAnew(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	p.becomesReady(row)
	p.goOn()
	p.finishes(run.ID, hubruns.Failure)
	require.Equal(t, "15m0s its workflow run failed", p.ends(row.ID))

	require.NoError(t, p.hub.Runs().Rerun(run.ID, "will"))
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, []any{2, hubruns.Approved}, []any{job.Attempt, job.Reviews[0].State}, "the cluster of the first attempt is still there")
	require.Empty(t, p.ends(row.ID))
	require.Equal(t, 2, p.cluster(row.ID).Run.Attempt)

	p.finishes(run.ID, hubruns.Success)
	p.gone(row)
	require.NoError(t, p.hub.Runs().Rerun(run.ID, "will"))
	p.goOn()
	rows := p.waited()
	require.Len(t, rows, 2)
	require.NotEqual(t, rows[0].Name, rows[1].Name)
	require.Equal(t, []any{3, "github:id/2002"}, []any{rows[1].Run.Attempt, rows[1].RequestedBy})
	require.Equal(t, []string{"approved", "approved", ""}, p.decisions())
}

func TestAnotherAttemptThatABotStartsIsRejected(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	require.NoError(t, p.hub.AddAccount("retry[bot]", true))
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	p.becomesReady(row)
	p.goOn()
	p.finishes(run.ID, hubruns.Failure)
	require.NoError(t, p.hub.Runs().Rerun(run.ID, "retry[bot]"))
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, []any{2, hubruns.Rejected}, []any{job.Attempt, job.Reviews[0].State})
	require.Equal(t, []string{"A bot started this attempt of the run, and environments get no clusters for bots. Re-run the workflow yourself."}, p.said(job))
	require.Equal(t, []string{"approved", "rejected"}, p.decisions())
}

func TestALaterJobOfTheEnvironmentIsLetThroughToo(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{Jobs: []hub.NewJob{{Key: "e2e", Environment: environment}, {Key: "more", Needs: []string{"e2e"}, Environment: environment}}})
	row := p.onlyWaited()
	p.becomesReady(row)
	p.goOn()
	job := p.last(run.ID, "e2e")
	p.begins(job.ID)
	require.NoError(t, p.hub.Runs().Complete(job.ID, hubruns.Success))
	p.goOn()
	require.Equal(t, hubruns.Approved, p.last(run.ID, "more").Reviews[0].State)
	require.Len(t, p.waited(), 1)
	require.Equal(t, []string{"approved"}, p.decisions())
}

func TestALostAnswerAndACrashDecideOnce(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	lose := func() {
		p.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/deployment_protection_rule"})
	}
	lose()
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	require.Equal(t, []string{"1"}, p.texts(`SELECT notes::text FROM waits`), "what was taken back is counted once")
	again := func() { // the process died after its transaction and before it noted that the delivery is done
		_, err := p.store.Pool().Exec(p.ctx, `UPDATE deliveries SET state = 'received', finished_at = NULL WHERE event = 'deployment_protection_rule'`)
		require.NoError(t, err)
		p.goOn()
	}
	again()
	require.Len(t, p.waited(), 1)
	for _, d := range p.hub.Deliveries() { // the same one, sent again by hand
		if d.Event == "deployment_protection_rule" {
			require.NoError(t, p.hub.Redeliver(d.ID))
		}
	}
	p.goOn()
	require.Len(t, p.waited(), 1)
	p.becomesReady(row)
	lose()
	p.goOn()
	job := p.last(run.ID, "e2e")
	require.Equal(t, []any{hubruns.Queued, hubruns.Approved}, []any{job.Status, job.Reviews[0].State})
	require.Equal(t, []string{"over"}, p.decisions(), "the answer was lost, and GitHub has nothing that waits")
	require.Equal(t, 1, strings.Count(strings.Join(p.said(job), "\n"), "is ready until"))
	again()
	require.Len(t, p.waited(), 1)
	require.Equal(t, hubruns.Queued, p.last(run.ID, "e2e").Status)
}

func TestARedeliveredRefusalRejectsOnce(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{Actor: "rita"})
	_, err := p.store.Pool().Exec(p.ctx, `UPDATE deliveries SET state = 'received', finished_at = NULL WHERE event = 'deployment_protection_rule'`)
	require.NoError(t, err)
	p.goOn()
	require.Len(t, p.said(p.last(run.ID, "e2e")), 1)
	require.Len(t, p.decisions(), 1)
}

func TestAWaitIsToldAtMostFiveThings(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	tell := func(state string) {
		_, err := p.store.Pool().Exec(p.ctx, `UPDATE clusters SET status = $2, phase = $3, wake_at = now(), ready_at = CASE WHEN $2 = 'READY' THEN now() END WHERE id = $1`, row.ID, strings.Split(state, "/")[0], strings.Split(state, "/")[1])
		require.NoError(t, err)
		id := p.texts(`SELECT id FROM waits`)[0]
		p.effect(clusters.Effect{Cause: fmt.Sprintf("test:%s:%d", state, p.now().UnixNano()), Kind: "review", Content: id})
		p.pass(time.Second)
		p.settle()
	}
	for range 8 {
		tell("PENDING/awaiting_capacity")
		tell("CREATING/preflight")
	}
	require.Len(t, p.said(p.last(run.ID, "e2e")), 5)
	tell("READY/ready")
	job := p.last(run.ID, "e2e")
	require.Equal(t, hubruns.Approved, job.Reviews[0].State)
	require.Len(t, p.said(job), 6)
}

func TestAnEventOfAJobThatDoesNotWaitRequestsNothing(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	run, err := p.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	event := hub.Event{
		Name: "deployment_protection_rule", Action: "requested", Sender: "maya", Run: run,
		Deploy: hub.Deployment{ID: 77, Environment: environment, Task: "deploy", Ref: "main", CreatedAt: p.now().Add(-time.Hour)},
	}
	body, err := hub.Payload(event)
	require.NoError(t, err)
	_, err = p.store.Inbox.SaveDelivery(p.ctx, inbox.Delivery{
		Source: hooks.SourceGitHub, ID: "signed-by-somebody", Event: event.Name, Topic: "acme/shop#run 1", Body: body, Installation: hub.Installation,
	})
	require.NoError(t, err)
	p.goOn()
	require.Contains(t, p.notes()[0], "no job waits for it")
	require.Empty(t, p.waited())
}

// A job that was rejected would have to be started again by hand.
func TestAnEnvironmentsJobWaitsForTheProofOfItsAccount(t *testing.T) {
	t.Parallel()
	terms := servicetest.Catalogue(t, map[string]string{"accounts/one.yaml": "name: one\nplatform: aws\nnumber: \"123456789012\"\n"})
	p := newPipelineWith(t, terms)
	run := p.waits(hub.NewRun{})
	row := p.onlyWaited()
	p.reconcile(row.ID)
	require.Equal(t, lifecycle.Proof, p.cluster(row.ID).Why.Brake.Kind)
	require.Equal(t, hubruns.Waiting, p.last(run.ID, "e2e").Status)
	one := terms.Accounts[0]
	storetest.Prove(t, p.store, one.Platform, one.Number, one.Version(), scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	p.becomesReady(p.cluster(row.ID))
	p.goOn()
	require.Equal(t, hubruns.Approved, p.last(run.ID, "e2e").Reviews[0].State)
}

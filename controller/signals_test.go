package controller_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// signalled makes a cluster whose run wants to be told.
func (f *front) signalled(name string, run hub.Run, kind lifecycle.SignalKind) clusters.Row {
	f.t.Helper()
	ref := f.ofJob(run)
	return f.acceptAsked(name, func(a *store.Ask) {
		a.Run = &runs.Ask{Ref: ref, Slot: name, Lifetime: lifecycle.LifetimeRun}
		a.Signal = &runs.SignalAsk{Ref: ref, Kind: kind}
	}, func(a *store.Judgement) { a.Row.PR = nil })
}

// becomesReady lets the cluster's install succeed, after a while.
func (f *front) becomesReady(row clusters.Row) {
	f.t.Helper()
	f.pass(34 * time.Minute)
	_, open := f.install(row)
	f.results(open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{
		APIURL: "https://api.shop.labs.example.com:6443", ConsoleURL: "https://console.shop.labs.example.com", KubeconfigRef: "s3://b/operate/k",
	}})
	f.reconcile(row.ID)
	require.Equal(f.t, lifecycle.PhaseReady, f.cluster(row.ID).Phase)
}

func (f *front) results(attempt, token string, r attempts.ResultRow) {
	f.t.Helper()
	_, err := f.store.Attempts.Result(f.ctx, attempt, token, r)
	require.NoError(f.t, err)
}

// deployments are those of an environment, each as its states in their order.
func (f *front) deployments(environment string) (out [][]string) {
	for _, d := range f.hub.Deployments() {
		if d.Environment != environment {
			continue
		}
		var states []string
		for _, s := range d.Statuses {
			states = append(states, s.State)
		}
		out = append(out, states)
	}
	return out
}

// asSignals says of each deployment of an environment whether it tells a run that asked to be told.
func (f *front) asSignals(environment string) (signals []bool) {
	f.t.Helper()
	for _, d := range f.hub.Deployments() {
		if d.Environment != environment {
			continue
		}
		var payload struct {
			Cluster string `json:"cluster_id"`
			Signal  string `json:"signal_id"`
		}
		require.NoError(f.t, json.Unmarshal(d.Payload.(json.RawMessage), &payload))
		require.NotEmpty(f.t, payload.Cluster)
		signals = append(signals, payload.Signal != "")
	}
	return signals
}

func TestADeploymentTellsTheRunThatAskedAndDidNotWait(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	pr, _ := f.hub.PullRequest(41)
	run, err := f.hub.Runs().Start(hub.NewRun{Pull: 41})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDeployment)
	f.settle()
	require.Equal(t, [][]string{{"in_progress"}}, f.deployments("ocpctl/aws-minimal-test"))
	f.becomesReady(row)
	f.settle()
	require.Equal(t, [][]string{{"in_progress", "success"}}, f.deployments("ocpctl/aws-minimal-test"))
	d := f.hub.Deployments()[len(f.hub.Deployments())-1]
	require.Equal(t, pr.HeadSHA, d.SHA, "the commit of its branch, not that which merges")
	var payload map[string]any
	require.NoError(t, json.Unmarshal(d.Payload.(json.RawMessage), &payload))
	require.Equal(t, row.ID, payload["cluster_id"])
	require.NotEmpty(t, payload["signal_id"])
	require.Contains(t, d.Statuses[1].EnvironmentURL, "/clusters/"+row.ID+"#console")
	card := f.cluster(row.ID).Card
	require.Equal(t, lifecycle.Signal{Kind: lifecycle.SignalDeployment, Told: lifecycle.SignalReady}, card.Signal)
	require.GreaterOrEqual(t, card.SavedTime(), 34*time.Minute)

	_, err = f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.settle()
	require.Equal(t, [][]string{{"in_progress", "success", "inactive"}}, f.deployments("ocpctl/aws-minimal-test"))
}

func TestNoDeploymentIsMadeOnTheHeadOfAFork(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	number, err := f.hub.OpenFork("Pay faster", "sam")
	require.NoError(t, err)
	run, err := f.hub.Runs().Start(hub.NewRun{Pull: number, Event: "pull_request_target", Actor: "maya"})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDeployment)
	f.settle()
	require.Empty(t, f.hub.Deployments())
	require.Contains(t, f.cluster(row.ID).Signal.Problem, "The run's commit is in a fork")
	_, err = f.store.Pool().Exec(f.ctx, `UPDATE runs SET head_sha = 'abc123'`) // a test report asked for it meanwhile
	require.NoError(t, err)
	f.becomesReady(row)
	f.settle()
	require.Empty(t, f.hub.Deployments())
}

func TestADeploymentTellsThatAClusterWillNotBeReady(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	run, err := f.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDeployment)
	f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/deployments"})
	f.settle()
	_, err = f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.settle()
	require.Equal(t, [][]string{{"in_progress", "failure"}}, f.deployments("ocpctl/aws-minimal-test"), "what a lost answer left is found again")
}

func TestAClusterThatIsReadyTellsTheNextRunAtOnce(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row := f.asked("shop", 41)
	run, err := f.hub.Runs().Start(hub.NewRun{Pull: 41})
	require.NoError(t, err)
	ask := func(run hub.Run) {
		require.NoError(t, f.store.Runs.AskSignal(f.ctx, row.ID, runs.SignalAsk{Ref: f.ofJob(run), Kind: lifecycle.SignalDeployment}))
	}
	ask(run)
	f.settle()
	f.becomesReady(row)
	f.settle()
	require.Equal(t, []bool{false, true}, f.asSignals("ocpctl/aws-minimal-test"), "the pull request's own starts no tests, and that of the run does")

	f.pass(time.Hour)
	require.NoError(t, f.hub.Push(41, "will"))
	next, err := f.hub.Runs().Start(hub.NewRun{Pull: 41})
	require.NoError(t, err)
	ask(next)
	f.settle()
	require.Equal(t, []string{"success"}, f.deployments("ocpctl/aws-minimal-test")[2], "on the new commit, at once")
	require.Equal(t, []bool{false, true, true}, f.asSignals("ocpctl/aws-minimal-test"))
}

// dispatched gives the App the permission to dispatch, and returns the repository_dispatch events that it has sent since.
func (f *front) dispatched() func() []map[string]string {
	m := hub.Registered()
	m.Permissions["contents"] = "write"
	f.hub.SetManifest(m)
	var got []map[string]string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Action  string            `json:"action"`
			Payload map[string]string `json:"client_payload"`
		}
		if r.Header.Get("X-GitHub-Event") == "repository_dispatch" && assert.NoError(f.t, json.NewDecoder(r.Body).Decode(&body)) {
			body.Payload["type"] = body.Action
			got = append(got, body.Payload)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	f.t.Cleanup(receiver.Close)
	f.hub.SetWebhook(receiver.URL, "secret")
	return func() []map[string]string {
		waiting := func(d hub.Delivery) bool { return d.State == hub.Waiting }
		require.Eventually(f.t, func() bool { return !slices.ContainsFunc(f.hub.Deliveries(), waiting) }, 30*time.Second, time.Millisecond)
		return got
	}
}

func TestADispatchTellsTheRepositoryWithIdsAndAddresses(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	dispatched := f.dispatched()
	run, err := f.hub.Runs().Start(hub.NewRun{Pull: 41})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDispatch)
	f.settle()
	require.Empty(t, dispatched(), "there is nothing to tell yet")
	f.becomesReady(row)
	f.settle()
	pr, _ := f.hub.PullRequest(41)
	all := dispatched()
	require.Len(t, all, 1)
	require.NotEmpty(t, all[0]["signal_id"])
	delete(all[0], "signal_id")
	require.Equal(t, map[string]string{
		"type": "ocpctl_cluster_ready", "cluster_id": row.ID, "name": "shop", "profile": f.cluster(row.ID).Card.Profile, "reason": "",
		"url": "https://ocpctl.example.com/clusters/" + row.ID, "api_url": "https://api.shop.labs.example.com:6443",
		"console_url": "https://console.shop.labs.example.com", "sha": pr.HeadSHA, "run_url": f.ofJob(run).URL,
	}, all[0])

	lost := f.signalled("lost", run, lifecycle.SignalDispatch)
	_, err = f.store.Destroy(f.ctx, lost.ID, origin)
	require.NoError(t, err)
	f.reconcile(lost.ID)
	f.settle()
	all = dispatched()
	require.Len(t, all, 2)
	require.Equal(t, []string{"ocpctl_cluster_failed", "It was destroyed before it was ready, because github:maya asked for that."}, []string{all[1]["type"], all[1]["reason"]})
}

func TestADispatchTellsOfAClusterThatEndedBeforeItsPipelineWasToldThatItWasReady(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	dispatched := f.dispatched()
	run, err := f.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDispatch)
	f.settle()
	f.becomesReady(row)
	_, err = f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.settle()
	all := dispatched()
	require.Len(t, all, 1)
	require.Equal(t, []string{"ocpctl_cluster_failed", "It was destroyed before its pipeline could be told that it was ready, because github:maya asked for that."}, []string{all[0]["type"], all[0]["reason"]})
	require.Equal(t, lifecycle.SignalEnded, f.cluster(row.ID).Signal.Told)
}

func TestWithoutThePermissionADispatchIsGivenUpWithWords(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	run, err := f.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDispatch)
	f.settle()
	f.becomesReady(row)
	f.until(f.now().Add(time.Minute))
	problem := f.cluster(row.ID).Signal.Problem
	require.Contains(t, problem, "It needs the permission to write contents, which is optional")
	f.until(f.now().Add(2 * time.Hour))
	require.Empty(t, f.jobs, "it is given up")
	events, err := f.store.Timeline(f.ctx, row.ID)
	require.NoError(t, err)
	told := 0
	for _, e := range events {
		if e.Action == "signal_refused" {
			told++
			require.Equal(t, problem, e.Why)
		}
	}
	require.Equal(t, 1, told)
}

func TestADispatchWhoseAnswerWasLostIsSentAgainWithTheSameId(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	dispatched := f.dispatched()
	run, err := f.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDispatch)
	f.settle()
	f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/dispatches"})
	f.becomesReady(row)
	f.settle()
	all := dispatched()
	require.Len(t, all, 2)
	require.Equal(t, all[0], all[1])
	require.NotEmpty(t, all[0]["signal_id"])
	require.Equal(t, lifecycle.SignalReady, f.cluster(row.ID).Signal.Told)
}

func TestARefusedDispatchIsTriedByOneChangeAndToldOfADeadClusterOnce(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	run, err := f.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDispatch)
	f.settle()
	f.becomesReady(row)
	f.until(f.now().Add(time.Minute))
	require.Len(t, f.jobs, 1, "it is tried again")
	_, err = f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.until(f.now().Add(15 * time.Minute))
	require.Len(t, f.jobs, 1, "what is obsolete is not tried beside it")
	dispatched := f.dispatched()
	f.until(f.now().Add(2 * time.Hour))
	require.Len(t, dispatched(), 1)
	require.Empty(t, f.jobs)
}

func TestWhatGitHubRefusesIsGivenUpAlsoIfItsJobWasMadeAgain(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	run, err := f.hub.Runs().Start(hub.NewRun{})
	require.NoError(t, err)
	row := f.signalled("shop", run, lifecycle.SignalDispatch)
	f.settle()
	f.becomesReady(row)
	f.until(f.now().Add(time.Minute))
	require.Len(t, f.jobs, 1)
	job := f.jobs[0]
	f.jobs = nil // it was lost
	f.until(f.now().Add(2 * time.Hour))
	require.NoError(t, f.Work(f.ctx, job.args, f.now()), "a new job does not begin the hour anew")
	var given int
	require.NoError(t, f.store.Pool().QueryRow(f.ctx, `SELECT count(*) FROM effects WHERE note LIKE 'given up: %'`).Scan(&given))
	require.Equal(t, 1, given)
}

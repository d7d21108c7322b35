package controller_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/chatops/github"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// queueing is a pipeline whose main branch merges by a queue that requires the check; file is the repository's file, empty: none.
func queueing(t *testing.T, file string) *pipeline {
	t.Helper()
	p := newPipeline(t)
	if file != "" {
		require.NoError(t, p.hub.Commit(".github/ocpctl.yaml", file))
	}
	require.NoError(t, p.hub.Require(hub.Branch, true, gateName))
	p.goOn()
	return p
}

const ownCluster = "mergeQueue: cluster\n"

// readyIn opens a pull request with a ready cluster.
func (p *pipeline) readyIn(number int) clusters.Row {
	p.t.Helper()
	row := p.labelled(number)
	p.becomesReady(row)
	p.goOn()
	require.Equal(p.t, "completed success", p.gate(number))
	return row
}

// ofQueue are the clusters of merge queues' commits.
func (p *pipeline) ofQueue() (rows []clusters.Row) {
	p.t.Helper()
	all, _, err := p.store.List(p.ctx, store.Filter{Limit: 100})
	require.NoError(p.t, err)
	return slices.DeleteFunc(all, func(r clusters.Row) bool { return r.Source != "merge_queue" })
}

func (p *pipeline) merged(number int) bool {
	pr, _ := p.hub.PullRequest(number)
	return pr.Merged
}

func TestAMergeQueueReusesTheResultOfThePullRequest(t *testing.T) {
	t.Parallel()
	p := queueing(t, "")
	require.Error(t, p.hub.Queue(41, "maya"), "its own check has to pass first")
	p.readyIn(41)
	require.ErrorContains(t, p.hub.Merge(41, "maya"), "merge queue")
	require.NoError(t, p.hub.Queue(41, "maya"))
	head := p.hub.QueuedHead(41)
	p.goOn()
	require.Empty(t, p.hub.Queued(), "%v", p.notes())
	require.True(t, p.merged(41))
	require.Empty(t, p.ofQueue())
	checks := p.hub.ChecksOf(head)
	require.Len(t, checks, 1)
	require.Contains(t, checks[0].Summary, "This is the result of #41")
}

func TestAMergeQueueWaitsForAClusterOfItsOwn(t *testing.T) {
	t.Parallel()
	p := queueing(t, ownCluster)
	p.readyIn(41)
	require.NoError(t, p.hub.Queue(41, "maya"))
	p.goOn()
	require.Equal(t, []int{41}, p.hub.Queued(), "%v", p.notes())
	rows := p.ofQueue()
	require.Len(t, rows, 1)
	require.Equal(t, "platform", rows[0].Team)
	require.Contains(t, rows[0].RequestedBy, "github:", "whoever put it there asked for it")
	require.Len(t, p.hub.ChecksOf(p.hub.QueuedHead(41)), 2, "its own check, and the gate")
	p.becomesReady(rows[0])
	p.goOn()
	require.True(t, p.merged(41))
	require.Equal(t, lifecycle.Absent, p.cluster(rows[0].ID).Desired, "it ends with the turn in the queue")
	require.Contains(t, p.cluster(rows[0].ID).DesiredWhy.String(), "the commit of #41 left the merge queue: it was merged")
}

func TestAFailureTakesThePullRequestOutOfTheQueue(t *testing.T) {
	t.Parallel()
	p := queueing(t, ownCluster)
	p.readyIn(41)
	require.NoError(t, p.hub.Queue(41, "maya"))
	p.goOn()
	row := p.ofQueue()[0]
	p.fails(row)
	require.Empty(t, p.hub.Queued(), "%v", p.notes())
	require.False(t, p.merged(41))
	require.Equal(t, lifecycle.Absent, p.cluster(row.ID).Desired)
}

func TestWhoMayNotAskClosesTheGateOfTheQueue(t *testing.T) {
	t.Parallel()
	p := queueing(t, ownCluster)
	p.readyIn(41)
	require.NoError(t, p.hub.SetPermission("will", "read"))
	require.NoError(t, p.hub.Queue(41, "will"))
	head := p.hub.QueuedHead(41)
	p.goOn()
	require.Empty(t, p.hub.Queued(), "%v", p.notes())
	require.Empty(t, p.ofQueue())
	checks := p.hub.ChecksOf(head)
	require.Len(t, checks, 1)
	require.Equal(t, "failure", checks[0].Conclusion)
	require.Contains(t, checks[0].Summary, "only read permission")
}

func TestPollingFindsWhatMergeQueuesDidWithoutAnEvent(t *testing.T) {
	t.Parallel()
	p := queueing(t, ownCluster)
	p.readyIn(41)
	m := hub.Registered()
	m.Events = slices.DeleteFunc(m.Events, func(event string) bool { return event == "merge_group" })
	p.hub.SetManifest(m)
	client, err := github.New(github.Config{AppID: hub.AppID, PrivateKey: p.hub.KeyPEM(), BaseURL: p.hub.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	poller := hooks.NewPoller(p.store, client, time.Minute, slog.New(slog.DiscardHandler))
	looks := func() {
		t.Helper()
		p.pass(2 * time.Minute)
		require.NoError(t, poller.Look(t.Context()))
		p.goOn()
	}
	require.NoError(t, p.hub.Queue(41, "maya"))
	p.goOn()
	require.Empty(t, p.ofQueue(), "no event told of it")
	looks()
	require.Len(t, p.ofQueue(), 1, "%v", p.notes())
	require.NoError(t, p.hub.Dequeue(41))
	looks()
	require.Equal(t, lifecycle.Absent, p.cluster(p.ofQueue()[0].ID).Desired, "%v", p.notes())
}

// The process died after it made the cluster and before it put the cluster's check on the commit.
func TestAClusterEndsWithItsMergeGroupAlsoIfItsCheckIsNotThereYet(t *testing.T) {
	t.Parallel()
	p := queueing(t, ownCluster)
	p.readyIn(41)
	require.NoError(t, p.hub.Queue(41, "maya"))
	p.goOn()
	row := p.ofQueue()[0]
	_, err := p.store.Pool().Exec(p.ctx, `DELETE FROM subscribers WHERE cluster_id = $1`, row.ID)
	require.NoError(t, err)
	require.NoError(t, p.hub.Dequeue(41))
	p.goOn()
	require.Equal(t, lifecycle.Absent, p.cluster(row.ID).Desired, "%v", p.notes())
}

// The end was processed beside the request, before there was a cluster.
func TestTheClusterOfAMergeGroupThatEndedMeanwhileEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := queueing(t, ownCluster)
	p.readyIn(41)
	_, err := p.store.Pool().Exec(p.ctx, `
		CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			UPDATE merge_groups SET ended_at = now(), ended_why = 'dequeued'; RETURN NEW; END $$;
		CREATE TRIGGER ends AFTER INSERT ON clusters FOR EACH ROW EXECUTE FUNCTION ends()`)
	require.NoError(t, err)
	require.NoError(t, p.hub.Queue(41, "maya"))
	p.goOn()
	rows := p.ofQueue()
	require.Len(t, rows, 1)
	require.Equal(t, lifecycle.Absent, rows[0].Desired, "%v", p.notes())
	require.Contains(t, rows[0].DesiredWhy.String(), "the commit of #41 left the merge queue")
}

package controller_test

import (
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/reports"
)

func (h *fixture) findings() map[lifecycle.FindingKind]string {
	h.t.Helper()
	open, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{})
	require.NoError(h.t, err)
	found := map[lifecycle.FindingKind]string{}
	for _, f := range open {
		found[f.Kind] = f.Cluster
	}
	return found
}

func TestALookWritesDownWhatIsNotAsItShouldBeAndSaysItOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	h.accept("fine")
	h.work(queue.FindingsArgs{})
	require.Empty(t, h.findings())

	_, err := h.store.Pool().Exec(h.ctx, `UPDATE clusters SET end_pr_closed = $2, wake_at = $3 WHERE id = $1`,
		row.ID, h.now(), h.now().Add(24*time.Hour)) // it ended, and nobody looks before tomorrow
	require.NoError(t, err)
	h.pass(11 * time.Minute)
	_, err = h.store.Pool().Exec(h.ctx, `UPDATE subscribers SET shown_version = wanted_version`)
	require.NoError(t, err)
	_, err = h.store.Pool().Exec(h.ctx, `UPDATE clusters SET wake_at = $1 WHERE id <> $2`, h.now(), row.ID)
	require.NoError(t, err)
	h.work(queue.FindingsArgs{})
	h.work(queue.FindingsArgs{})
	require.Equal(t, map[lifecycle.FindingKind]string{lifecycle.Overdue: row.ID}, h.findings())
	lines := h.log.lines(t, "found")
	require.Len(t, lines, 1)
	require.Equal(t, "overdue", lines[0]["kind"])
	require.Equal(t, row.ID, lines[0]["cluster"])
	require.Equal(t, "shop should have ended (the pull request was closed) but is still PENDING", lines[0]["why"])

	h.reconcile(row.ID) // somebody looked
	h.work(queue.FindingsArgs{})
	require.Empty(t, h.findings())
	require.Equal(t, lifecycle.Released, h.cluster(row.ID).Phase)
}

func TestABlockedTeardownIsAFindingWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, _ := h.installing("shop")
	_, err := h.store.Pool().Exec(h.ctx, `
		UPDATE clusters SET desired = 'absent', desired_why = '{"code":"other","words":"done"}', teardown = 'DESTROY', status = 'FAILED', phase = 'destroy_blocked',
			why = '{"words": "3 teardowns left something behind"}', blockers = '[{"name": "vpc vpc-1"}]' WHERE id = $1`, row.ID)
	require.NoError(t, err)
	h.work(queue.FindingsArgs{})
	open, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{})
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.Equal(t, lifecycle.Blocked, open[0].Kind)
	require.Equal(t, []string{"vpc vpc-1"}, open[0].Evidence)
}

func TestTheDirectoriesOfClosedAttemptsAreForgottenAfterAWhile(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, ended := h.installing("shop")
	_, living := h.installing("other")
	h.yard.kept = []string{ended.Attempt, living.Attempt, "att_of_another_house"}
	h.yard.show(ended.Attempt, dispatch.Ended)
	h.reconcile(row.ID)
	h.pass(59 * time.Minute)
	h.work(queue.FindingsArgs{})
	require.Len(t, h.yard.kept, 3, "somebody may want to look into it")
	h.pass(time.Minute)
	h.work(queue.FindingsArgs{})
	require.Equal(t, []string{living.Attempt, "att_of_another_house"}, h.yard.kept)
}

func TestRiverCarriesAClusterFromItsAcceptanceToItsLaunchAndItsComment(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	workers := river.NewWorkers()
	h.Register(workers)
	client, err := queue.NewClient(h.ctx, h.store.Pool(), workers, queue.RiverConfig{
		Queues:   map[string]int{queue.QueueReconcile: 4, queue.QueueEffects: 2, queue.QueueMessages: 2},
		Periodic: h.Periodic(),
	})
	require.NoError(t, err)
	require.NoError(t, client.Start(h.ctx))
	t.Cleanup(func() { require.NoError(t, client.Stop(h.ctx)) })
	row := h.accept("shop")
	require.Eventually(t, func() bool {
		return len(h.yard.starts()) == 1 && h.place(row.ID, clusters.KindComment).ExternalID != 0 && h.place(row.ID, clusters.KindCheck).ExternalID != 0
	}, 30*time.Second, 10*time.Millisecond)
	require.Len(t, h.board.withMarker("cluster:"+row.ID), 1)
	require.Eventually(t, func() bool {
		var looked bool
		err := h.store.Pool().QueryRow(h.ctx, `SELECT EXISTS (SELECT 1 FROM river_job WHERE kind = 'findings' AND state = 'completed')`).Scan(&looked)
		require.NoError(t, err)
		return looked
	}, 30*time.Second, 10*time.Millisecond, "the periodic jobs run")
}

func TestALookForFindingsEndsSharesWithOneself(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	share := people.Share{Kind: "principal", Grantee: "saml:maya", Access: people.AccessSee}
	require.NoError(t, h.store.People.Share(h.ctx, row.ID, share, clusters.Origin{Actor: "saml:maya", Source: "web"}))
	h.work(queue.FindingsArgs{})
	left, err := h.store.People.Shares(h.ctx, row.ID)
	require.NoError(t, err)
	require.Empty(t, left)
}

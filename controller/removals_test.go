package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
)

// bin is a remover that remembers what it was asked to delete, and refuses while err is set.
type bin struct {
	asked []string
	err   error
	then  func() // after the first deletion
}

func (b *bin) RemoveAccess(_ context.Context, cluster string) (int, error) {
	b.asked = append(b.asked, "access of "+cluster)
	if len(b.asked) == 1 && b.then != nil {
		b.then()
	}
	return 3, b.err
}

func (b *bin) RemoveState(_ context.Context, cluster string, attempts []string) (int, error) {
	b.asked = append(b.asked, fmt.Sprintf("state of %s with %d attempts", cluster, len(attempts)))
	return 9, b.err
}

// gone ends a cluster that was never begun.
func (h *fixture) gone(name string) string {
	h.t.Helper()
	row := h.accept(name)
	_, err := h.store.Destroy(h.ctx, row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(h.t, err)
	h.reconcile(row.ID)
	require.Equal(h.t, lifecycle.Released, h.cluster(row.ID).Phase)
	return row.ID
}

func TestWhatAGoneClusterLeftIsDeletedOnceEach(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	b := &bin{}
	h.Remover = b
	h.installing("lives")
	id := h.gone("shop")
	h.work(queue.RemoveArgs{})
	h.work(queue.RemoveArgs{})
	require.Equal(t, []string{"access of " + id}, b.asked)
	h.pass(2 * time.Hour)
	h.work(queue.RemoveArgs{})
	h.pass(60 * 24 * time.Hour)
	h.work(queue.RemoveArgs{})
	h.work(queue.RemoveArgs{})
	require.Equal(t, []string{"access of " + id, "access of " + id, "state of " + id + " with 0 attempts"}, b.asked)
	require.Len(t, h.log.lines(t, "deleted the bucket objects of a destroyed cluster"), 3)
}

func TestWhatCannotBeDeletedIsTriedAgainAndAFinding(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	b := &bin{err: errors.New("AccessDenied: s3:DeleteObjectVersion")}
	h.Remover = b
	id := h.gone("shop")
	h.work(queue.RemoveArgs{})
	require.NotContains(t, h.findings(), lifecycle.Remains, "S3 may be away for a moment")
	h.pass(15 * time.Minute)
	h.work(queue.RemoveArgs{})
	require.Equal(t, id, h.findings()[lifecycle.Remains])
	open, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{Kind: lifecycle.Remains})
	require.NoError(t, err)
	i := slices.IndexFunc(open, func(f reports.FindingRow) bool { return f.Cluster == id })
	require.Equal(t, "shop is destroyed, but its credentials (kubeconfig, password and archives below operate/) could not be deleted from the bucket in 2 attempts", open[i].Why)
	require.Equal(t, []string{"AccessDenied: s3:DeleteObjectVersion"}, open[i].Evidence)
	h.work(queue.FindingsArgs{})
	require.Equal(t, id, h.findings()[lifecycle.Remains], "a look does not judge what it does not look at")

	b.err = nil
	h.work(queue.RemoveArgs{})
	require.NotContains(t, h.findings(), lifecycle.Remains)
	require.Len(t, b.asked, 3)
}

func TestNothingIsDeletedOfAClusterThatWasReopenedSinceItWasDue(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	first, second := h.gone("first"), h.gone("second")
	b := &bin{}
	b.then = func() { // by a leak
		for _, sql := range []string{
			`ALTER TABLE clusters DISABLE TRIGGER USER`,
			`UPDATE clusters SET status = 'DESTROYING', phase = 'destroying', destroyed_at = NULL, wake_at = now(), reopened = 1, reopened_at = now()`,
		} {
			_, err := h.store.Pool().Exec(h.ctx, sql)
			require.NoError(t, err)
		}
	}
	h.Remover = b
	h.work(queue.RemoveArgs{})
	require.Len(t, b.asked, 1, "%s and %s were due", first, second)
}

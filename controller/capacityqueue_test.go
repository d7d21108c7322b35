package controller_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// asks has a new cluster's runner claim its attempt and ask for the one VPC that the account has capacity for.
func (h *fixture) asks(name string) (clusters.Row, attempts.LaunchSpec, attempts.ReservationAnswer) {
	h.t.Helper()
	h.pass(1000)
	row := h.accept(name)
	h.reconcile(row.ID)
	open := h.open(row.ID)
	_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-1")
	require.NoError(h.t, err)
	reservation, _, err := h.store.Attempts.Reserve(h.ctx, open.Attempt, open.Token, attempts.CapacityDemand{
		Account: "123456789012", Region: "us-east-1",
		Quotas: []lifecycle.Quota{{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Limit: 1, Need: 1, Lasting: 1}},
	})
	require.NoError(h.t, err)
	return row, open, reservation
}

// waits has an attempt end because there is no capacity.
func (h *fixture) waits(row clusters.Row, open attempts.LaunchSpec, text string) {
	h.t.Helper()
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Waiting, Reason: "QuotaInUse", Message: text, Whose: "quota"})
	require.NoError(h.t, err)
	h.reconcile(row.ID)
}

// runCapacityJobs runs every job that waits for those in line, and then the looks it asked for.
func (h *fixture) runCapacityJobs() {
	h.t.Helper()
	for _, raw := range h.jobs("capacity_queue") {
		var args queue.CapacityQueueArgs
		require.NoError(h.t, json.Unmarshal([]byte(raw), &args))
		h.work(args)
	}
	for _, raw := range h.jobs("reconcile") {
		var args queue.ReconcileArgs
		require.NoError(h.t, json.Unmarshal([]byte(raw), &args))
		h.work(args)
	}
}

func TestThoseInLineMoveUpWhenOneBeforeThemGoes(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	holder, held, _ := h.asks("holder")
	var rows []clusters.Row
	for _, name := range []string{"second", "third", "fourth"} {
		row, open, reservation := h.asks(name)
		require.Equal(t, len(rows)+1, reservation.Position)
		h.waits(row, open, reservation.Wait)
		require.Equal(t, len(rows)+1, h.cluster(row.ID).Position)
		rows = append(rows, row)
	}
	_, err := h.store.Destroy(h.ctx, rows[0].ID, clusters.Origin{Actor: "github:maya", Why: "changed her mind"})
	require.NoError(t, err)
	h.pass(1000)
	h.runCapacityJobs()
	require.Equal(t, []string{"create waiting", "create open"}, h.attempts(rows[1].ID), "the next in the queue tries: it no longer has to wait for capacity")
	require.Equal(t, []string{"create waiting"}, h.attempts(rows[2].ID))
	fourth := h.cluster(rows[2].ID)
	require.Equal(t, 2, fourth.Position)
	require.Contains(t, fourth.Why.String(), "waiting for capacity in the cloud account: VPCs: 1 needed")
	require.Zero(t, fourth.Tries)

	_, err = h.store.Attempts.Result(h.ctx, held.Attempt, held.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "HostedZoneMissing", Message: "no zone", Whose: "user"})
	require.NoError(t, err)
	h.reconcile(holder.ID)
	require.Len(t, h.jobs("capacity_queue"), 6, "four asked, one left, and this one released its reservation")
	open := h.open(rows[1].ID)
	_, err = h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	reservation, _, err := h.store.Attempts.Reserve(h.ctx, open.Attempt, open.Token, attempts.CapacityDemand{
		Account: "123456789012", Region: "us-east-1", Quotas: []lifecycle.Quota{{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Limit: 1, Need: 1}},
	})
	require.NoError(t, err)
	require.Empty(t, reservation.Wait)
	h.runCapacityJobs()
	require.Equal(t, []string{"create waiting", "create open"}, h.attempts(rows[2].ID), "capacity was released since it asked, and now it is next")
}

func TestAnHourOfWaitingEditsNoComment(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.asks("holder")
	row, open, reservation := h.asks("second")
	h.waits(row, open, reservation.Wait)
	for _, kind := range []string{clusters.KindComment, clusters.KindCheck} {
		h.publish(row.ID, kind)
	}
	calls, end := h.board.called(), h.now().Add(time.Hour)
	shows := func() {
		for _, kind := range []string{clusters.KindComment, clusters.KindCheck} {
			h.publish(row.ID, kind)
		}
	}
	for h.now().Before(end) {
		h.pass(h.cluster(row.ID).WakeAt.Sub(h.now()))
		h.reconcile(row.ID)
		shows()
		open = h.open(row.ID)
		_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-1")
		require.NoError(t, err)
		_, err = h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Preflight, Percent: 5, Step: "looking"})
		require.NoError(t, err)
		h.reconcile(row.ID)
		shows()
		reservation, _, err = h.store.Attempts.Reserve(h.ctx, open.Attempt, open.Token, attempts.CapacityDemand{
			Account: "123456789012", Region: "us-east-1",
			Quotas: []lifecycle.Quota{{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Limit: 1, Need: 1, Lasting: 1}},
		})
		require.NoError(t, err)
		h.waits(row, open, reservation.Wait)
		shows()
	}
	require.Equal(t, calls, h.board.called())
	require.Len(t, h.attempts(row.ID), 24, "the first, and a look after a quarter of what it had waited, or five minutes")
}

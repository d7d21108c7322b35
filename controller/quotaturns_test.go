package controller_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// turns runs every pass that is asked for, and then the looks it asked for.
func (h *fixture) turns() {
	h.t.Helper()
	for _, raw := range h.jobs("turns") {
		var args queue.TurnsArgs
		require.NoError(h.t, json.Unmarshal([]byte(raw), &args))
		h.work(args)
	}
	for _, raw := range h.jobs("reconcile") {
		var args queue.ReconcileArgs
		require.NoError(h.t, json.Unmarshal([]byte(raw), &args))
		h.work(args)
	}
}

func TestWhoWaitsForAFullQuotaBeginsWhenAPlaceComesFree(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	holder := h.acceptAs("holder", func(a *store.Judgement) { // one that is not begun, so that it goes at once
		a.Approval = &store.ApprovalAsk{Why: []string{"dear"}, Needs: 1, By: "requester", For: time.Hour, Asked: strings.Repeat("a", 64)}
	})
	limit := lifecycle.Limit{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: "platform", What: lifecycle.CountLive, Most: 1}
	row := h.acceptAs("waits", func(a *store.Judgement) {
		a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}, Words: limit.Text()}
	})
	h.turns()
	now := h.cluster(row.ID)
	require.Equal(t, lifecycle.AwaitingCapacity, now.Phase)
	require.Contains(t, now.Why.String(), limit.Text())
	require.Equal(t, 1, now.Position)
	require.Equal(t, holder.DestroyAt, now.TurnETA)
	_, err := h.store.Attempts.OpenAttempt(h.ctx, row.ID)
	require.ErrorIs(t, err, db.ErrNotFound)

	_, err = h.store.Destroy(h.ctx, holder.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	h.reconcile(holder.ID)
	require.Equal(t, lifecycle.Released, h.cluster(holder.ID).Phase)
	h.turns()
	require.Equal(t, lifecycle.Create, h.open(row.ID).Kind)
}

func TestWhoWaitsForARunnerBeginsWhenAnAttemptEnds(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	caps := lifecycle.RunnerCaps{All: 2} // one of them is for teardowns
	h.Limits.Runners, h.store.Options.Limits.Runners = caps, caps
	first, second := h.accept("first"), h.accept("second")
	h.reconcile(first.ID)
	h.reconcile(second.ID)
	h.turns()
	now := h.cluster(second.ID)
	require.Equal(t, []any{lifecycle.AwaitingCapacity, 1}, []any{now.Phase, now.Position})
	require.NotEmpty(t, now.Why.Runner)

	open := h.open(first.ID)
	_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	_, err = h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "HostedZoneMissing", Message: "no zone"})
	require.NoError(t, err)
	h.turns()
	require.Equal(t, lifecycle.Create, h.open(second.ID).Kind, "beside the teardown of the first")
}

package controller_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
)

// proving is a fixture whose catalogue has these accounts.
func proving(t *testing.T, accounts ...string) *fixture {
	h := newFixture(t)
	var wanted []scans.WantedProof
	for _, account := range accounts {
		wanted = append(wanted, scans.WantedProof{Version: "v1", Wanted: scans.Wanted{Platform: "aws", Account: account, Spec: scans.Spec{
			HomeRegion: "us-east-1", ServiceAccounts: map[string]string{"create": account + "-create", "destroy": account + "-destroy"},
		}}})
	}
	h.Accounts.Prove = func() []scans.WantedProof { return wanted }
	return h
}

// prove sees to the proofs, and starts what is to be started.
func (h *fixture) prove() []scans.Scan {
	h.t.Helper()
	h.work(queue.RunScansArgs{News: "test"})
	runs, err := h.store.Scans.OpenRuns(h.ctx)
	require.NoError(h.t, err)
	for i, run := range runs {
		h.work(queue.LaunchScanArgs{Scan: run.ID, Runner: run.Runner})
		runs[i], err = h.store.Scans.Scan(h.ctx, run.ID)
		require.NoError(h.t, err)
	}
	return runs
}

func TestEachAccountIsProvenByARunnerOfItsOwn(t *testing.T) {
	t.Parallel()
	h := proving(t, "111111111111", "222222222222")
	runs := h.prove()
	require.Len(t, runs, 2)
	require.Equal(t, 15*time.Second, h.snoozes(queue.RunScansArgs{}, h.now()), "a proof is open")
	starts := h.yard.starts()
	require.Len(t, starts, 2, "they do not wait for each other")
	job := starts[0]
	job.Token = ""
	require.Equal(t, dispatch.Job{
		Attempt: runs[0].ID, Number: 1, Kind: contract.KindProve, Job: runs[0].JobID(), Platform: "aws", Deadline: 15 * time.Minute, ServiceAccounts: runs[0].Spec.ServiceAccounts,
	}, job, "with the identity that creates clusters there")
	claims, err := h.signer.Verify(starts[0].Token, h.now())
	require.NoError(t, err)
	require.Equal(t, runs[0].ID, claims.Attempt)

	_, err = h.store.Scans.Claim(h.ctx, runs[0].ID, runs[0].TokenID, "pod-1")
	require.NoError(t, err)
	_, err = h.store.Scans.Result(h.ctx, runs[0].ID, runs[0].TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	require.NoError(t, err)
	h.yard.show(runs[1].ID, dispatch.Ended)
	require.Equal(t, 2, h.prove()[0].Runner, "another goes on in place of a lost one")
	h.pass(15 * time.Minute)
	h.work(queue.RunScansArgs{News: "test"})
	known, err := h.store.Scans.Proofs(h.ctx)
	require.NoError(t, err)
	require.Equal(t, []string{contract.ProofProven, ""}, []string{known[0].Verdict, known[1].Verdict})
	require.Equal(t, "it did not end within 15 min", known[1].Trouble)
	require.Contains(t, known[1].TroubleNext, "docs/runbooks/account-unproven.md")
	h.pass(5 * time.Minute)
	require.Len(t, h.prove(), 1, "what was not found out is tried again")
}

func TestOnlySomeAccountsAreProvenAtOnce(t *testing.T) {
	t.Parallel()
	var accounts []string
	for i := range 10 {
		accounts = append(accounts, fmt.Sprintf("%012d", i+1))
	}
	h := proving(t, accounts...)
	for range 2 {
		h.work(queue.RunScansArgs{News: "test"})
	}
	runs, err := h.store.Scans.OpenRuns(h.ctx)
	require.NoError(t, err)
	require.Len(t, runs, 10)
	asked := func() (ids []string) {
		require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT array_agg(DISTINCT args ->> 'scan' ORDER BY args ->> 'scan') FROM river_job WHERE kind = 'launch_scan'`).Scan(&ids))
		return ids
	}
	ids := func(n int) (ids []string) {
		for _, run := range runs[:n] {
			ids = append(ids, run.ID)
		}
		slices.Sort(ids)
		return ids
	}
	require.Equal(t, ids(4), asked())
	h.pass(10 * time.Minute)
	_, err = h.store.Scans.Claim(h.ctx, runs[0].ID, runs[0].TokenID, "pod-1")
	require.NoError(t, err)
	_, err = h.store.Scans.Result(h.ctx, runs[0].ID, runs[0].TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	require.NoError(t, err)
	h.work(queue.RunScansArgs{News: "test"})
	require.Equal(t, ids(5), asked())
	h.pass(5 * time.Minute)
	h.work(queue.RunScansArgs{News: "test"})
	h.work(queue.RunScansArgs{News: "test"})
	require.Equal(t, ids(8), asked(), "three were given up")
	left, err := h.store.Scans.OpenRuns(h.ctx)
	require.NoError(t, err)
	require.Len(t, left, 6)
	require.Equal(t, runs[4].ID, left[0].ID, "its time began with its turn")
}

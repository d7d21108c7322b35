package scans_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAnAccountIsProvenOnceForEachVersionOfItsDocument(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	const again = 5 * time.Minute
	wanted := func(version string) []scans.WantedProof {
		return []scans.WantedProof{{Version: version, Wanted: scans.Wanted{Platform: "aws", Account: storetest.Lab, Spec: scans.Spec{HomeRegion: "us-east-1"}}}}
	}
	known := func() scans.Proof {
		t.Helper()
		list, err := s.Scans.Proofs(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	open := func(version string, want int) scans.Scan {
		t.Helper()
		require.NoError(t, s.Scans.OpenProofs(t.Context(), wanted(version), again))
		runs, err := s.Scans.OpenRuns(t.Context())
		require.NoError(t, err)
		require.Len(t, runs, want)
		if want == 0 {
			return scans.Scan{}
		}
		return runs[0]
	}
	run := open("v1", 1)
	require.True(t, known().Open)
	require.Equal(t, run.ID, open("v1", 1).ID, "one at a time")
	_, err := s.Scans.Claim(t.Context(), run.ID, "another", "pod-1")
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Scans.Claim(t.Context(), run.ID, run.TokenID, "pod-1")
	require.NoError(t, err)
	_, err = s.Scans.Report(t.Context(), run.ID, run.TokenID, scans.ReportRow{Seq: 1, Room: &scans.RoomRow{Profile: "small", Region: "us-east-1", Quotas: []lifecycle.Quota{{Service: "vpc", Code: "L-1", Name: "VPCs", Limit: 5, Need: 1}}}})
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM rooms`))
	_, err = s.Scans.Result(t.Context(), run.ID, run.TokenID, scans.ResultRow{Outcome: lifecycle.Failure, Proof: contract.ProofRefused, Reason: "ZoneMissing", Message: "there is no zone", Next: "create it"})
	require.NoError(t, err)
	p := known()
	require.Equal(t, []any{contract.ProofRefused, "ZoneMissing", "there is no zone", "create it", false}, []any{p.Verdict, p.Reason, p.Message, p.Next, p.Open})

	open("v1", 0)
	clock.Pass(again)
	run = open("v1", 1)
	require.Equal(t, contract.ProofRefused, known().Verdict, "until the next one finds something out")
	require.NoError(t, s.Scans.Close(t.Context(), run.ID, 1, scans.ResultRow{Outcome: lifecycle.Lost, Message: "its runner was lost"}))
	require.Equal(t, "its runner was lost", known().Trouble)
	clock.Pass(again)
	run = open("v1", 1)
	_, err = s.Scans.Claim(t.Context(), run.ID, run.TokenID, "pod-2")
	require.NoError(t, err)
	_, err = s.Scans.Result(t.Context(), run.ID, run.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	require.NoError(t, err)
	clock.Pass(24 * time.Hour)
	open("v1", 0)

	old := open("v2", 1)
	require.Empty(t, known().Verdict, "of this version nothing is known")
	require.NotEqual(t, old.ID, open("v3", 1).ID)
	_, err = s.Scans.Claim(t.Context(), old.ID, old.TokenID, "pod-3")
	require.ErrorIs(t, err, db.ErrFenced, "its document is gone")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM scans`), "no scan was opened, and none is judged")
}

// An upgrade finds clusters in an account.
func TestWhatWasUsedBeforeProofsIsMarkedUntilItsDocumentChanges(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO proofs (id, platform, account, round, version, used, asked_by, spec, opened_at, runner_since, token_id, closed_at, outcome)
		VALUES ('prf_before', 'aws', '111111111111', 1, '', true, 'schedule', '{}', now(), now(), 'before', now(), 'succeeded')`)
	require.NoError(t, err)
	used := func() (version string, used bool) {
		list, err := s.Scans.Proofs(t.Context())
		require.NoError(t, err)
		return list[0].Version, list[0].Used
	}
	for _, step := range []struct {
		version string
		used    bool
	}{{"v1", true}, {"v1", true}, {"v2", false}, {"v1", false}} {
		storetest.Prove(t, s, "aws", "111111111111", step.version, scans.ResultRow{Outcome: lifecycle.Failure, Proof: contract.ProofLacking})
		version, marked := used()
		require.Equal(t, step.version, version)
		require.Equal(t, step.used, marked, step.version)
	}
}

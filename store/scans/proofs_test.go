package scans_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
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
	known := func(version string) scans.Proof { t.Helper(); return proofOf(t, s, version) }
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
	require.True(t, known("v1").Open)
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
	p := known("v1")
	require.Equal(t, []any{contract.ProofRefused, "ZoneMissing", "there is no zone", "create it", false}, []any{p.Verdict, p.Reason, p.Message, p.Next, p.Open})

	open("v1", 0)
	clock.Pass(again)
	run = open("v1", 1)
	require.Equal(t, contract.ProofRefused, known("v1").Verdict, "until the next one finds something out")
	require.NoError(t, s.Scans.Close(t.Context(), run.ID, 1, scans.ResultRow{Outcome: lifecycle.Lost, Message: "its runner was lost", Next: "look at it"}))
	require.Equal(t, []string{"its runner was lost", "look at it"}, []string{known("v1").Trouble, known("v1").TroubleNext})
	clock.Pass(again)
	run = open("v1", 1)
	_, err = s.Scans.Claim(t.Context(), run.ID, run.TokenID, "pod-2")
	require.NoError(t, err)
	_, err = s.Scans.Result(t.Context(), run.ID, run.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
	require.NoError(t, err)
	clock.Pass(24 * time.Hour)
	open("v1", 0)

	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM scans`), "no scan was opened, and none is judged")
}

// The account's owner writes the external id down in the role, so it never changes, and nobody else's account has it.
func TestAnAccountWithARoleKeepsItsExternalID(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	wanted := func(account, version string) scans.WantedProof {
		return scans.WantedProof{Version: version, Wanted: scans.Wanted{Platform: "aws", Account: account, Spec: scans.Spec{HomeRegion: "us-east-1", CloudRole: &contract.CloudRole{ARN: "arn:aws:iam::" + account + ":role/" + version}}}}
	}
	open := func(account, version string) string {
		w := wanted(account, version)
		require.NoError(t, s.Scans.AskProof(t.Context(), w, storetest.Maya("try")))
		require.Empty(t, w.Spec.CloudRole.ExternalID, "what was given stays as it is")
		runs, err := s.Scans.OpenRuns(t.Context())
		require.NoError(t, err)
		for _, run := range runs {
			if run.Account == account && run.Spec.CloudRole.ARN == w.Spec.CloudRole.ARN {
				return run.Spec.CloudRole.ExternalID
			}
		}
		return ""
	}
	id := open("222222222222", "v1")
	require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, id)
	require.Equal(t, id, open("222222222222", "v2"), "of another role of the account")
	require.NotEqual(t, id, open("333333333333", "v1"))
	list, err := s.Scans.Proofs(t.Context())
	require.NoError(t, err)
	require.Equal(t, id, list[0].ExternalID)
}

// proofOf is what is known of the account by a version of its document.
func proofOf(t *testing.T, s *store.Store, version string) scans.Proof {
	t.Helper()
	list, err := s.Scans.Proofs(t.Context())
	require.NoError(t, err)
	for _, p := range list {
		if p.Version == version {
			return p
		}
	}
	require.Fail(t, "nothing is known of the version", version)
	return scans.Proof{}
}

// While a catalogue is rolled out, replicas have different documents of one account.
func TestEachVersionOfADocumentIsProvenByItself(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	opens := func(version string) {
		t.Helper()
		require.NoError(t, s.Scans.OpenProofs(t.Context(), []scans.WantedProof{{Version: version, Wanted: scans.Wanted{Platform: "aws", Account: storetest.Lab}}}, 5*time.Minute))
	}
	for range 3 {
		opens("v1")
		opens("v2")
	}
	runs, err := s.Scans.OpenRuns(t.Context())
	require.NoError(t, err)
	require.Len(t, runs, 2, "neither ends the other")
	for _, run := range runs {
		_, err = s.Scans.Claim(t.Context(), run.ID, run.TokenID, "pod-1")
		require.NoError(t, err)
		_, err = s.Scans.Result(t.Context(), run.ID, run.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Proof: contract.ProofProven})
		require.NoError(t, err)
	}
	clock.Pass(24 * time.Hour)
	opens("v1")
	require.Equal(t, []string{contract.ProofProven, contract.ProofProven}, []string{proofOf(t, s, "v1").Verdict, proofOf(t, s, "v2").Verdict})
	require.False(t, proofOf(t, s, "v1").Open, "a document that is put back is proven")
}

func TestARunnerThatKnowsNoProofsHasNotProvenAnything(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Prove(t, s, "aws", storetest.Lab, "v1", scans.ResultRow{Outcome: lifecycle.Succeeded})
	p := proofOf(t, s, "v1")
	require.Equal(t, []string{"", "the runner is older than the server and cannot prove accounts", "upgrade ocpctl-runner"}, []string{p.Verdict, p.Trouble, p.TroubleNext})
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM proofs WHERE outcome = 'failed' AND reason = 'RunnerTooOld'`))
}

func TestACreateWaitsForTheFirstProofOfItsAccount(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	const account = "111111111111"
	accept := func(name string) string {
		g := storetest.Granted(name)
		g.Row.Spec.Account = account
		return storetest.Accept(t, s, g).ID
	}
	prove := func(version string) {
		require.NoError(t, s.Scans.OpenProofs(t.Context(), []scans.WantedProof{{Version: version, Wanted: scans.Wanted{Platform: "aws", Account: account}}}, time.Minute))
	}
	first, elsewhere := accept("first"), storetest.Accept(t, s, storetest.Granted("elsewhere")).ID
	prove("v1")
	require.Empty(t, storetest.Step(t, s, first).Open)
	waits := storetest.Read(t, s, first)
	require.Equal(t, []any{lifecycle.AwaitingCapacity, lifecycle.Proof, account}, []any{waits.Phase, waits.Why.Brake.Kind, waits.Why.Brake.Where.Account})
	require.Equal(t, waits.Why.Brake.Until, waits.WakeAt.UTC())
	require.Contains(t, waits.Why.String(), "new clusters on aws in the account 111111111111 have to wait until a check shows that they can be created there, at the latest until ")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, elsewhere).Open)
	ended, err := s.Brakes.Thaw(t.Context(), "", storetest.BySchedule)
	require.NoError(t, err)
	require.Empty(t, ended, "it is no freeze")

	pokes := func(id string) int { return storetest.Count(t, s, `SELECT pokes FROM clusters WHERE id = $1`, id) }
	before := pokes(first)
	storetest.Prove(t, s, "aws", account, "v1", scans.ResultRow{Outcome: lifecycle.Failure, Proof: contract.ProofRefused, Message: "there is no zone"})
	require.Equal(t, before+1, pokes(first), "it is looked at at once")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, first).Open, "its own preflight says what is wrong")

	clock.Pass(time.Hour)
	prove("v1")
	again := accept("again")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, again).Open, "something is known of this version")
	prove("v3")
	storetest.Prove(t, s, "aws", account, "v3", scans.ResultRow{Outcome: lifecycle.Failure, Reason: "RunnerLost"})
	clock.Pass(time.Hour)
	prove("v3")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, accept("after")).Open, "only the first of a version is waited for, also if it found nothing out")
	prove("v2")
	last := accept("last")
	require.Empty(t, storetest.Step(t, s, last).Open)
	clock.Pass(lifecycle.LongestProof)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, last).Open, "no wait is without end")
}

// An upgrade finds clusters in an account.
func TestWhatWasUsedBeforeProofsIsMarkedUntilItsDocumentChanges(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO proofs (id, platform, account, round, version, used, asked_by, spec, opened_at, runner_since, token_id, closed_at, outcome)
		VALUES ('prf_before', 'aws', '111111111111', 1, '', true, 'schedule', '{}', now(), now(), 'before', now(), 'succeeded')`)
	require.NoError(t, err)
	for _, step := range []struct {
		version string
		used    bool
	}{{"v1", true}, {"v1", true}, {"v2", false}, {"v1", true}, {"v3", false}} {
		storetest.Prove(t, s, "aws", "111111111111", step.version, scans.ResultRow{Outcome: lifecycle.Failure, Proof: contract.ProofLacking})
		require.Equal(t, step.used, proofOf(t, s, step.version).Used, step.version)
	}
}

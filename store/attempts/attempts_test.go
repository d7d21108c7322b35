package attempts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestTheFirstPodClaimsAndKeeps(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Launched(t, s, "shop")
	first, err := s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Equal(t, attempts.Lease{Until: clock.Now().Add(15 * time.Minute)}, first)
	clock.Pass(time.Minute)
	again, err := s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Equal(t, attempts.Lease{Until: clock.Now().Add(15 * time.Minute)}, again)

	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-2")
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, "another-token", "pod-1")
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Attempts.Claim(t.Context(), "att_none", open.Token, "pod-1")
	require.ErrorIs(t, err, db.ErrNotFound)
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, clock.Now().Add(-time.Minute), f.Open.ClaimedAt)
	require.Equal(t, lifecycle.Unknown, f.Runner)
}

func TestAnUnwantedClusterIsNotClaimed(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Launched(t, s, "shop")
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "changed my mind"})
	require.NoError(t, err)
	lease, err := s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Equal(t, attempts.Lease{Stop: "changed my mind"}, lease)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE claimed_by IS NULL`))
}

func TestARecordIsTheTransition(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	before, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)

	lease, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), []attempts.ArtifactRow{storetest.Artifact("clusters/1/a")})
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Installing, now.Phase)
	require.Equal(t, before.Version+1, now.Version)
	require.Equal(t, []string{"demo-abcde"}, now.Identities)
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.True(t, f.Open.Recorded)
	require.Equal(t, []string{"demo-abcde"}, f.Identities)

	again, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), []attempts.ArtifactRow{storetest.Artifact("clusters/1/a")})
	require.NoError(t, err)
	require.Equal(t, lease, again)
	same, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, now.Version, same.Version)

	_, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-zzzzz"), storetest.Bundles("demo-zzzzz"))
	require.ErrorIs(t, err, db.ErrConflict)

	spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
	require.NoError(t, err)
	require.Equal(t, []attempts.IdentityRow{storetest.Identity("demo-abcde")}, spec.Identities)
	require.Equal(t, []attempts.ArtifactRow{storetest.Artifact("clusters/1/a")}, spec.Artifacts)
	require.Equal(t, row.ID, spec.Row.ID)
	require.Equal(t, open.Token, spec.Token)
	require.True(t, spec.Open)
}

func TestARecordInTwoSteps(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, attempts.IdentityRow{CCOName: "demo-cco", Account: "123456789012", Region: "us-east-1"}, nil)
	require.NoError(t, err)
	whole := storetest.Identity("demo-abcde")
	whole.CCOName = "demo-cco"
	_, err = s.Record(t.Context(), open.Attempt, open.Token, whole, storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	whole.CCOName = "other-cco"
	_, err = s.Record(t.Context(), open.Attempt, open.Token, whole, nil)
	require.ErrorIs(t, err, db.ErrConflict)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"demo-abcde", "demo-cco"}, now.Identities)
	require.Equal(t, lifecycle.Installing, now.Phase)
}

func TestARecordOfAnUnwantedClusterSaysStopAndStoresNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "changed my mind"})
	require.NoError(t, err)
	lease, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), []attempts.ArtifactRow{storetest.Artifact("clusters/1/a")})
	require.NoError(t, err)
	require.Equal(t, "changed my mind", lease.Stop)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE recorded_at IS NOT NULL`))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM artifacts`))
}

func TestARecordAfterTheEndSaysStopButIsKept(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	clock.Pass(5 * time.Hour) // nobody looked since its time to live ended
	lease, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	require.NotEmpty(t, lease.Stop)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Absent, now.Desired)
	require.NotEqual(t, lifecycle.Installing, now.Phase)
}

func TestNobodyRecordsOrReportsBeforeTheClaim(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, open := storetest.Launched(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Preflight})
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure})
	require.ErrorIs(t, err, db.ErrFenced)
}

func TestTwoClustersNeverShareAnInfraID(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, one := storetest.Claimed(t, s, "one")
	_, err := s.Record(t.Context(), one.Attempt, one.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, two := storetest.Claimed(t, s, "two")
	_, err = s.Record(t.Context(), two.Attempt, two.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestAReportMovesTheClusterAndARepeatedOneOnlyRenews(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	report := attempts.ReportRow{Seq: 1, Phase: lifecycle.Rendering, Percent: 10, Step: "writing", Account: "123456789012",
		Log: "one\ntwo\n", Artifacts: []attempts.ArtifactRow{storetest.Artifact("clusters/1/a")}}
	looks := len(storetest.RiverJobs(t, s, "reconcile"))
	lease, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
	require.NoError(t, err)
	require.Equal(t, attempts.Lease{Until: clock.Now().Add(15 * time.Minute)}, lease)
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), looks+1)
	storetest.Step(t, s, row.ID)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Rendering, now.Phase)
	require.Equal(t, lifecycle.Progress{Percent: 10, Step: "writing"}, now.Progress)

	clock.Pass(time.Minute)
	report.Percent = 99
	lease, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
	require.NoError(t, err)
	require.Equal(t, clock.Now().Add(15*time.Minute), lease.Until)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM log_chunks`))
	require.Equal(t, 10, storetest.Count(t, s, `SELECT progress_percent FROM attempts`))
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), looks+1)

	heartbeat := attempts.ReportRow{Seq: 2, Phase: lifecycle.Rendering, Percent: 10, Step: "writing", Log: "three\n"}
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, heartbeat)
	require.NoError(t, err)
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), looks+1, "a heartbeat that changes nothing pokes nobody")

	late := attempts.ReportRow{Seq: 9, Phase: lifecycle.Recording, Percent: 30}
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, late)
	require.NoError(t, err)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 5, Phase: lifecycle.Rendering, Percent: 20, Log: "four\n"})
	require.NoError(t, err)
	require.Equal(t, 30, storetest.Count(t, s, `SELECT progress_percent FROM attempts WHERE phase = 'recording'`), "a late one turns nothing back")

	lines, err := s.Attempts.LogTail(t.Context(), row.JobID, 3)
	require.NoError(t, err)
	require.Equal(t, []string{"two", "three", "four"}, lines)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 10, Phase: "Dreaming of it"})
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 0, Phase: lifecycle.Rendering})
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestTheTailOfAHugeLogIsReadWithinBounds(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	line := strings.Repeat("x", 500<<10)
	for seq := 1; seq <= 20; seq++ {
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Log: fmt.Sprintf("%d %s\n", seq, line)})
		require.NoError(t, err)
	}
	lines, err := s.Attempts.LogTail(t.Context(), row.JobID, 1000)
	require.NoError(t, err)
	require.Len(t, lines, 5, "2 MiB and the chunk at its beginning")
	require.Equal(t, "20 ", lines[4][:3])
	require.Equal(t, "16 ", lines[0][:3])
}

func TestASpooledReportIsKeptAndIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	clock.Pass(15*time.Minute + storetest.Limits.LeaseGrace + time.Second)
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Rendering, Log: "last words\n", Late: true})
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM log_chunks`))
	require.Equal(t, lifecycle.Lost, storetest.Step(t, s, row.ID).Close.Outcome, "however often the spool is read")
}

func TestAReportAfterTheCloseIsFenced(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	clock.Pass(15*time.Minute + storetest.Limits.LeaseGrace + time.Second)
	require.Equal(t, lifecycle.Lost, storetest.Step(t, s, row.ID).Close.Outcome)

	lease, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Rendering, Log: "still here\n"})
	require.NoError(t, err)
	require.Contains(t, lease.Stop, "closed")
	lease, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	require.Contains(t, lease.Stop, "closed")
	lease, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Contains(t, lease.Stop, "closed")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM reports`)+storetest.Count(t, s, `SELECT count(*) FROM log_chunks`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE outcome = 'lost' AND infra_id IS NULL`))
}

func TestARunnerAskedToStopHearsItInEveryAnswer(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "enough"})
	require.NoError(t, err)
	require.True(t, storetest.Step(t, s, row.ID).StopNow)
	require.Len(t, storetest.RiverJobs(t, s, "stop"), 1)
	lease, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Rendering, Log: "winding down\n"})
	require.NoError(t, err)
	require.Equal(t, "enough", lease.Stop)
	require.False(t, lease.Until.IsZero(), "it may still tell what it does")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM log_chunks`))
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.True(t, f.Open.StopAsked)
}

func TestAResultClosesTheAttemptOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	result := attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{
		APIURL: "https://api.shop.labs.example.com:6443", ConsoleURL: "https://console", KubeconfigRef: "s3://b/k", KubeadminRef: "s3://b/p", MetadataRef: "s3://b/m"}}
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, result)
	require.ErrorIs(t, err, db.ErrConflict, "nothing was recorded")
	_, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)

	for range 2 {
		lease, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, result)
		require.NoError(t, err)
		require.Equal(t, attempts.Lease{Closed: true}, lease)
	}
	storetest.Step(t, s, row.ID)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, now.Status)
	require.Equal(t, result.Outputs, now.Outputs)
	require.Equal(t, result.Outputs.APIURL, now.Card.APIURL)

	lease, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Message: "no"})
	require.NoError(t, err)
	require.Contains(t, lease.Stop, "closed")
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Lost})
	require.ErrorIs(t, err, db.ErrConflict, "lost is not a runner's word")
}

func TestAPasswordIsNoReference(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded,
		Outputs: &clusters.Outputs{KubeadminRef: "hunter2-hunter2"}})
	require.ErrorIs(t, err, db.ErrConflict)
}

func TestAWholeLifeEndsWithTwoCleanCounts(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	job, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open)

	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, 2, open.Number)
	require.Equal(t, lifecycle.Destroy, open.Kind)
	require.Equal(t, job, open.Job)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	for i, report := range []attempts.ReportRow{
		{Phase: lifecycle.DestroyingRuns, Percent: 10},
		{Phase: lifecycle.DestroyingRuns, Percent: 50, ToolExit: &attempts.ToolExitRow{Code: 0}},
		{Phase: lifecycle.Verifying, Percent: 70, Pass: storetest.Pass(1)},
		{Phase: lifecycle.Verifying, Percent: 90, Pass: storetest.Pass(2)},
	} {
		clock.Pass(time.Second)
		report.Seq = i + 1
		_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
		require.NoError(t, err)
		storetest.Step(t, s, row.ID)
	}
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroyed, storetest.Step(t, s, row.ID).Next.Status)

	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, now.Phase)
	require.Equal(t, clock.Now(), now.ReleasedAt)
	require.True(t, now.WakeAt.IsZero())
	proof, err := s.Attempts.Verifications(t.Context(), row.ID)
	require.NoError(t, err)
	require.Len(t, proof, 2)
	require.Equal(t, 2, proof[0].Attempt)
	require.True(t, proof[1].Clean)
	require.Equal(t, time.Second, proof[1].At.Sub(proof[0].At))
	done, err := s.Reports.Job(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, lifecycle.JobSucceeded, done.Status)
	require.Equal(t, 2, done.Attempt)
}

func TestAPassIsOnlyAsCleanAsWhatItAsked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*attempts.PassRow){
		"a query was refused":       func(p *attempts.PassRow) { p.Queries = json.RawMessage(`[{"call":"DescribeVpcs","err":"denied"}]`) },
		"nothing was asked":         func(p *attempts.PassRow) { p.Queries = nil },
		"the positive control fell": func(p *attempts.PassRow) { p.Control = "" },
		"something is left": func(p *attempts.PassRow) {
			p.Leftovers = json.RawMessage(`[{"type":"vpc","id":"vpc-1","free":"delete it"}]`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := storetest.Open(t)
			row, open := storetest.Claimed(t, s, "shop")
			_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
			require.NoError(t, err)
			_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Installing, Pass: storetest.Pass(1)})
			require.ErrorIs(t, err, db.ErrConflict, "a create does not verify")
			_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Message: "broke"})
			require.NoError(t, err)
			storetest.Step(t, s, row.ID)
			destroyer, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
			if err != nil { // it waits before the teardown
				_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
				require.NoError(t, err)
				storetest.Step(t, s, row.ID)
				destroyer, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
			}
			require.NoError(t, err)
			_, err = s.Attempts.Claim(t.Context(), destroyer.Attempt, destroyer.Token, "pod-2")
			require.NoError(t, err)
			p := storetest.Pass(1)
			spoil(p)
			_, err = s.Attempts.Report(t.Context(), destroyer.Attempt, destroyer.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Verifying, Pass: p})
			require.NoError(t, err)
			proof, err := s.Attempts.Verifications(t.Context(), row.ID)
			require.NoError(t, err)
			require.Len(t, proof, 1)
			require.False(t, proof[0].Clean)
		})
	}
}

func TestAStartIsConfirmedOrItsRefusalKept(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Launched(t, s, "shop")
	require.False(t, open.Launched)
	require.Equal(t, []string{row.Team, row.Profile, row.Platform}, []string{open.Team, open.Profile, open.Platform})
	require.Equal(t, row.Spec.CreateDeadline, open.Deadline)
	why := lifecycle.Trouble{Code: "RunnerQuotaExceeded", Message: "the quota is full", Whose: "ocpctl", Next: "raise it"}
	looks := len(storetest.RiverJobs(t, s, "reconcile"))
	for range 2 {
		require.NoError(t, s.Attempts.LaunchRefused(t.Context(), open.Attempt, why))
	}
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), looks+1, "the same refusal is no news")
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, why, f.Open.Refused)
	require.True(t, f.Open.LaunchedAt.IsZero())

	at := clock.Now()
	require.NoError(t, s.Attempts.Launched(t.Context(), open.Attempt))
	clock.Pass(time.Minute)
	require.NoError(t, s.Attempts.Launched(t.Context(), open.Attempt))
	_, f, err = s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, at, f.Open.LaunchedAt, "the first time counts")
	require.Empty(t, f.Open.Refused)
	storetest.Refuses(t, s, "attempts_launch_trouble_check", `UPDATE attempts SET launch_trouble = '"text"'`)

	id, err := s.Attempts.Numbered(t.Context(), row.ID, open.Number)
	require.NoError(t, err)
	require.Equal(t, open.Attempt, id)
	_, err = s.Attempts.Numbered(t.Context(), row.ID, open.Number+1)
	require.ErrorIs(t, err, db.ErrNotFound)
	require.NoError(t, s.Attempts.RunnerChanged(t.Context(), row.ID))
	require.ErrorIs(t, s.Attempts.RunnerChanged(t.Context(), "clu_none"), db.ErrNotFound)
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), looks+2)

	c, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	f.Runner, f.Trouble = lifecycle.Ended, why
	require.NoError(t, s.Apply(t.Context(), lifecycle.Decide(c, f, storetest.Limits), c.Version))
	list, err := s.Attempts.List(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{why.Code, why.Whose, why.Next}, []string{list[0].Reason, list[0].Whose, list[0].Next})
	require.NoError(t, s.Attempts.Launched(t.Context(), open.Attempt), "of a closed attempt nothing is stored")
	require.NoError(t, s.Attempts.LaunchRefused(t.Context(), open.Attempt, why))
}

func TestALaterAttemptKnowsWhichZonesHadNoCapacity(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, first := storetest.Launched(t, s, "shop")
	_, err := s.Attempts.Claim(t.Context(), first.Attempt, first.Token, "pod-1")
	require.NoError(t, err)
	short := attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "AWSInsufficientCapacity", Whose: "cloud", Retryable: true, Zone: "us-east-1a"}
	_, err = s.Attempts.Result(t.Context(), first.Attempt, first.Token, attempts.ResultRow{Outcome: lifecycle.Stopped, Zone: "us-east-1a"})
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Attempts.Result(t.Context(), first.Attempt, first.Token, short)
	require.NoError(t, err)

	storetest.Settled(t, s, row.ID)
	clock.Pass(time.Hour)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	second, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	for attempt, want := range map[string][]string{first.Attempt: {}, second.Attempt: {"us-east-1a"}} {
		spec, err := s.Attempts.AttemptSpec(t.Context(), attempt)
		require.NoError(t, err)
		require.ElementsMatch(t, want, spec.ShortZones)
	}
}

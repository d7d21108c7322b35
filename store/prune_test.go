package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestWhatServedItsTimeIsPrunedAndEveryProofStays(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, attempt := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), attempt.Attempt, attempt.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	for seq := 1; seq <= 3; seq++ {
		_, err := s.Attempts.Report(t.Context(), attempt.Attempt, attempt.Token, attempts.ReportRow{Seq: seq, Phase: lifecycle.Claiming, Log: fmt.Sprintf("line %d\n", seq)})
		require.NoError(t, err)
	}
	require.NoError(t, s.Outbox.SaveReply(t.Context(), clusters.Reply{Cause: "comment:1:0", Installation: 1, Repo: "acme/shop", Number: 41, Body: "no"}))
	for _, id := range []string{"worked", "waiting"} {
		_, err := s.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: "github", ID: id, Event: "pull_request", Body: []byte("{}")})
		require.NoError(t, err)
	}
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), 1, "done"))
	const keep = 30 * 24 * time.Hour
	left := func(table string) int { return storetest.Count(t, s, `SELECT count(*) FROM `+table) }

	clock.Pass(keep + time.Hour)
	_, err = s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Equal(t, []int{1, 3, 3}, []int{left("deliveries"), left("reports"), left("log_chunks")}, "the attempt is open")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM deliveries WHERE state = 'received'`), "what nobody worked is never dropped")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM replies WHERE external_id = -1`))

	require.Equal(t, lifecycle.Lost, storetest.Step(t, s, row.ID).Close.Outcome)
	before, _ := moves(t, s, row.ID)
	require.Contains(t, before, "claiming")
	clock.Pass(keep - time.Minute)
	n, err := s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Zero(t, n)
	clock.Pass(time.Hour)
	n, err = s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.EqualValues(t, 5, n)
	require.Equal(t, []int{1, 0}, []int{left("reports"), left("log_chunks")})
	after, _ := moves(t, s, row.ID)
	require.Equal(t, before, after, "the timeline still has the phases that were over before anybody decided")
	require.NotZero(t, left("audit_events"))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE infra_id = 'demo-abcde'`))
	done, err := s.Outbox.Answered(t.Context(), "comment:1:0")
	require.NoError(t, err)
	require.True(t, done, "an old comment that is sent again is still known")
}

func TestWordsOfALongReleasedClusterAreGivenUp(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "enough"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
	clock.Pass(time.Hour)
	n, err := s.WakeDue(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 4, n, "all places are asked for as long as there is hope")
	clock.Pass(31 * 24 * time.Hour)
	n64, err := s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 4, n64)
	n, err = s.WakeDue(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, n)
}

// An account whose runner never starts is proven every five minutes.
func TestOfAnAccountsProofsTheNewestAndTheLastResultStay(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	now, err := s.Now(t.Context())
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `
		INSERT INTO proofs (id, platform, account, round, version, used, asked_by, spec, opened_at, runner_since, token_id, closed_at, outcome, verdict)
		SELECT 'prf_' || n, 'aws', '111111111111', n, CASE n WHEN 1 THEN '' ELSE 'v1' END, true, 'schedule', '{}', $1::timestamptz, $1, 'token ' || n,
			$1, 'failed', CASE n WHEN 2 THEN 'refused' WHEN 3 THEN 'lacking' ELSE '' END
		FROM generate_series(1, 1003) AS n`, now.Add(-48*time.Hour))
	require.NoError(t, err)
	_, err = s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM proofs WHERE used AND id IN ('prf_1', 'prf_3', 'prf_1003')`))
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM proofs`))
}

package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// installed is a cluster that was installed.
func installed(t *testing.T, s *store.Store, a store.Judgement) clusters.Row {
	t.Helper()
	row := storetest.Accept(t, s, a)
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("shop-abcde"), storetest.Bundles("shop-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, storetest.Step(t, s, row.ID).Next.Status)
	return row
}

func TestAClusterThatIsReadyIsAnnouncedAndItsWarningsEachOnce(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	a := storetest.Granted("shop")
	a.Row.WarnBefore = []time.Duration{time.Hour, 15 * time.Minute}
	row := installed(t, s, a)
	require.Equal(t, []string{row.ID + ":ready"}, storetest.Announced(t, s))
	require.Equal(t, []string{`{"cause": "` + row.ID + `:ready"}`}, storetest.RiverJobs(t, s, "announce"))

	kept, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, a.Row.WarnBefore, kept.WarnBefore, "frozen at acceptance")
	require.Equal(t, kept.DestroyAt.Add(-time.Hour), kept.WakeAt)

	clock.Pass(3 * time.Hour)
	require.Equal(t, time.Hour, storetest.Step(t, s, row.ID).Warn)
	clock.Pass(time.Minute)
	require.Zero(t, storetest.Step(t, s, row.ID).Warn)
	require.Len(t, storetest.Announced(t, s), 2)
	told, err := s.Notices.Announcement(t.Context(), storetest.Announced(t, s)[1])
	require.NoError(t, err)
	require.Equal(t, []any{"expiring", row.ID}, []any{told.Event, told.Cluster})
	var facts struct {
		End    time.Time
		Before time.Duration
	}
	require.NoError(t, json.Unmarshal(told.Facts, &facts))
	require.Equal(t, kept.DestroyAt, facts.End)
	require.Equal(t, time.Hour, facts.Before)

	_, err = s.Extend(t.Context(), row.ID, time.Hour, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	clock.Pass(time.Hour)
	require.Equal(t, time.Hour, storetest.Step(t, s, row.ID).Warn, "another end is warned of again")
	clock.Pass(50 * time.Minute)
	require.Equal(t, 15*time.Minute, storetest.Step(t, s, row.ID).Warn)
	require.Len(t, storetest.Announced(t, s), 4)
}

func TestAClusterThatWasNeverStartedIsNotAnnouncedAsGone(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
	require.Empty(t, storetest.Announced(t, s))
}

func TestWhatWaitsForAnApprovalIsAnnouncedWithIt(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("shop")
	a.Approval = &store.ApprovalAsk{Why: []string{"first"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("a", 64)}
	row := storetest.Accept(t, s, a)
	pending, _, err := s.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(t, err)
	require.Equal(t, []string{pending[0].ID}, storetest.Announced(t, s))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE event = 'approval' AND facts ->> 'approval' = $1 AND cluster_id = $2`, pending[0].ID, row.ID))
}

func TestAPartOfTheBudgetIsAnnouncedOnceAMonth(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	part := func(percent int) []usage.Threshold {
		return []usage.Threshold{{Team: "platform", Percent: percent, Cents: 900, Budget: 1000}}
	}
	for i, percent := range []int{80, 80, 100} {
		a := storetest.Granted("shop-" + string(rune('a'+i)))
		a.Budget = part(percent)
		storetest.Accept(t, s, a)
	}
	require.Equal(t, []string{"budget:2026-11:platform:80", "budget:2026-11:platform:100"}, storetest.Announced(t, s))
	clock.Pass(20 * 24 * time.Hour)
	a := storetest.Granted("shop-z")
	a.Budget = part(80)
	storetest.Accept(t, s, a)
	require.Contains(t, storetest.Announced(t, s), "budget:2026-12:platform:80")
}

func TestAFindingIsAnnouncedWhenItIsNew(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	stuck := lifecycle.Finding{Kind: lifecycle.Stuck, Cluster: row.ID, Since: clock.Now(), Why: "nobody processed it", Evidence: []string{"wake_at"}}
	judged := []lifecycle.FindingKind{lifecycle.Stuck, lifecycle.Blocked}
	blocked := stuck
	blocked.Kind = lifecycle.Blocked // announced by the cluster's own move
	for _, found := range [][]lifecycle.Finding{{stuck, blocked}, {stuck, blocked}, {}, {stuck}} {
		clock.Pass(time.Minute)
		_, err := s.Reports.SaveFindings(t.Context(), judged, found)
		require.NoError(t, err)
	}
	require.Len(t, storetest.Announced(t, s), 2, "once when it began, and once when it came back")
}

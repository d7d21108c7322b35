package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// bare has a scan see these resources of a living cluster, some of them without its tags, and judges it.
func bare(t *testing.T, s *store.Store, cluster string, parts map[string][]string, untagged ...string) {
	t.Helper()
	scan := storetest.Sees(t, s, parts)
	judged := lifecycle.Judged{Group: lifecycle.Group{Untagged: untagged}, Class: lifecycle.ClassLive, Of: &lifecycle.KnownCluster{Cluster: lifecycle.Cluster{ID: cluster}}}
	_, err := s.Scans.KeepOrphans(t.Context(), scan.ID, []lifecycle.Judged{judged}, storetest.FindingLimit)
	require.NoError(t, err)
}

func untaggedOf(t *testing.T, s *store.Store, cluster string) []int {
	t.Helper()
	_, facts, err := s.Load(t.Context(), cluster)
	require.NoError(t, err)
	var sights []int
	for _, u := range facts.Untagged {
		sights = append(sights, u.Sights)
	}
	return sights
}

func TestScansCountHowOftenAClustersResourceHasNoTags(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	for _, c := range []struct {
		says     string
		parts    map[string][]string
		untagged []string
		want     []int
	}{
		{"two are seen", map[string][]string{"a/vpc": {"vol-1"}, "b/vpc": {"vol-2"}}, []string{"vol-1", "vol-2"}, []int{1}},
		{"one was not looked at", map[string][]string{"a/vpc": {"vol-1"}, "b/vpc": nil}, []string{"vol-1", "vol-2"}, []int{1, 2}},
		{"one has its tags", map[string][]string{"a/vpc": {"vol-1"}, "b/vpc": {"vol-2"}}, []string{"vol-2"}, []int{2}},
		{"it has none again, and the other is not there", map[string][]string{"a/vpc": {"vol-1"}, "b/vpc": {}}, []string{"vol-1", "vol-2"}, []int{1, 2}},
		{"the other is gone", map[string][]string{"a/vpc": {"vol-1"}, "b/vpc": {}}, []string{"vol-1"}, []int{2}},
		{"all have their tags", map[string][]string{"a/vpc": {"vol-1"}, "b/vpc": {}}, nil, nil},
	} {
		clock.Pass(time.Hour)
		bare(t, s, row.ID, c.parts, c.untagged...)
		require.Equal(t, c.want, untaggedOf(t, s, row.ID), c.says)
	}
	storetest.Refuses(t, s, "seen_untagged", `UPDATE seen SET untagged = 1 WHERE id = 'vol-1'`)
}

func TestAScanThatSawSomethingWithoutTagsIsAReasonToDecide(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	clock.Pass(time.Hour)
	pokes := storetest.Count(t, s, `SELECT pokes FROM clusters WHERE id = $1`, row.ID)
	bare(t, s, row.ID, map[string][]string{"a/vpc": {"vol-1"}}, "vol-1")
	require.Equal(t, pokes+1, storetest.Count(t, s, `SELECT pokes FROM clusters WHERE id = $1`, row.ID))

	clock.Pass(time.Minute)
	began := clock.Now().UTC()
	open := storetest.Claims(t, s, row.ID, lifecycle.Tag)
	require.Equal(t, []any{lifecycle.PhaseReady, row.Why}, []any{storetest.Load(t, s, row.ID).Phase, storetest.Load(t, s, row.ID).Why}, "nothing is shown of it")
	clock.Pass(time.Minute)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "NotTagged", Message: "vol-1 was refused", Retryable: true})
	require.NoError(t, err)
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	got := storetest.Load(t, s, row.ID)
	require.Equal(t, []any{lifecycle.Ready, row.Tries, began}, []any{got.Status, got.Tries, got.Work[lifecycle.Tag].DoneAt.UTC()})
	require.Equal(t, "NotTagged vol-1 was refused", storetest.Text(t, s, `SELECT error_code || ' ' || error_message FROM jobs WHERE cluster_id = $1 AND job_type = 'TAG' AND status = 'FAILED'`, row.ID))

	clock.Pass(time.Hour)
	bare(t, s, row.ID, map[string][]string{"a/vpc": {"vol-1"}}, "vol-1")
	require.Equal(t, lifecycle.Tag, storetest.Step(t, s, row.ID).Open, "the second scan in a row")
}

package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

// bare has a scan see these resources of a living cluster, some of them without its tags, and judges it.
func bare(t *testing.T, s *store.Store, cluster string, parts map[string][]string, untagged ...string) {
	t.Helper()
	scan := sees(t, s, parts)
	judged := lifecycle.Judged{Group: lifecycle.Group{Untagged: untagged}, Class: lifecycle.ClassLive, Of: &lifecycle.KnownCluster{Cluster: lifecycle.Cluster{ID: cluster}}}
	_, err := s.Scans.KeepOrphans(t.Context(), scan.ID, []lifecycle.Judged{judged}, findingLimit)
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
	s, clock := open(t)
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
		clock.pass(time.Hour)
		bare(t, s, row.ID, c.parts, c.untagged...)
		require.Equal(t, c.want, untaggedOf(t, s, row.ID), c.says)
	}
	refuses(t, s, "seen_untagged", `UPDATE seen SET untagged = 1 WHERE id = 'vol-1'`)
}

func TestAScanThatSawSomethingWithoutTagsIsAReasonToDecide(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	clock.pass(time.Hour)
	pokes := count(t, s, `SELECT pokes FROM clusters WHERE id = $1`, row.ID)
	bare(t, s, row.ID, map[string][]string{"a/vpc": {"vol-1"}}, "vol-1")
	require.Equal(t, pokes+1, count(t, s, `SELECT pokes FROM clusters WHERE id = $1`, row.ID))

	clock.pass(time.Minute)
	began := clock.now().UTC()
	open := claims(t, s, row.ID, lifecycle.Tag)
	require.Equal(t, []any{lifecycle.PhaseReady, row.Why}, []any{load(t, s, row.ID).Phase, load(t, s, row.ID).Why}, "nothing is shown of it")
	clock.pass(time.Minute)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "NotTagged", Message: "vol-1 was refused", Retryable: true})
	require.NoError(t, err)
	require.Empty(t, step(t, s, row.ID).Open)
	got := load(t, s, row.ID)
	require.Equal(t, []any{lifecycle.Ready, row.Tries, began}, []any{got.Status, got.Tries, got.Work[lifecycle.Tag].DoneAt.UTC()})
	require.Equal(t, "NotTagged vol-1 was refused", text(t, s, `SELECT error_code || ' ' || error_message FROM jobs WHERE cluster_id = $1 AND job_type = 'TAG' AND status = 'FAILED'`, row.ID))

	clock.pass(time.Hour)
	bare(t, s, row.ID, map[string][]string{"a/vpc": {"vol-1"}}, "vol-1")
	require.Equal(t, lifecycle.Tag, step(t, s, row.ID).Open, "the second scan in a row")
}

// The release before would take such an attempt for a teardown: none is left when its database goes back.
func TestNoAttemptAtTagsIsLeftForTheReleaseBefore(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.New(t), newClock()
	opens := func() *store.Store {
		return openAt(t, url, db.Options{Limits: limits, Lease: 15 * time.Minute, Now: clock.now})
	}
	s := opens()
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	clock.pass(time.Hour)
	bare(t, s, row.ID, map[string][]string{"a/vpc": {"vol-1"}}, "vol-1")
	claims(t, s, row.ID, lifecycle.Tag)
	s.Close()
	goesBack(t, url, 48, lifecycle.Tag)
	s = opens()
	require.Empty(t, step(t, s, row.ID).Open)
	clock.pass(time.Hour)
	bare(t, s, row.ID, map[string][]string{"a/vpc": {"vol-1"}}, "vol-1")
	require.Equal(t, lifecycle.Tag, step(t, s, row.ID).Open, "and the next scan sees it again")
}

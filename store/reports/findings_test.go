package reports_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
)

var byRow = []lifecycle.FindingKind{lifecycle.Overdue, lifecycle.Stuck, lifecycle.Blocked}

func TestAFindingIsNewOnceAndResolvedWhenItIsNotFoundAnyMore(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	begun := clock.Now()
	stuck := lifecycle.Finding{Kind: lifecycle.Stuck, Cluster: row.ID, Since: begun, Why: "nobody looked"}
	blocked := lifecycle.Finding{Kind: lifecycle.Blocked, Cluster: row.ID, Since: begun, Why: "vpc-1 is still there", Evidence: []string{"vpc-1"}}
	orphan := lifecycle.Finding{Kind: lifecycle.Orphan, Identity: "infra-x", Since: begun, Why: "nobody's", Evidence: []string{"vpc-9"}}
	save := func(judged []lifecycle.FindingKind, found ...lifecycle.Finding) []lifecycle.Finding {
		fresh, err := s.Reports.SaveFindings(t.Context(), judged, found)
		require.NoError(t, err)
		return fresh
	}

	require.Len(t, save(append(byRow, lifecycle.Orphan), stuck, blocked, orphan), 3)
	clock.Pass(5 * time.Minute)
	blocked.Why, blocked.Evidence = "vpc-1 and sg-1 are still there", []string{"vpc-1", "sg-1"}
	require.Empty(t, save(byRow, stuck, blocked), "known since the last look")
	found, err := s.Reports.Findings(t.Context(), reports.FindingFilter{})
	require.NoError(t, err)
	require.Len(t, found, 3, "a look that did not look into the cloud says nothing about orphans")
	require.Equal(t, reports.FindingRow{
		Kind: lifecycle.Blocked, Cluster: row.ID, ClusterName: "shop", Since: begun, Why: blocked.Why, Evidence: []string{"vpc-1", "sg-1"},
		FirstSeenAt: begun, LastSeenAt: clock.Now(), TimesSeen: 2,
	}, found[1])
	require.Equal(t, begun, found[2].LastSeenAt)

	clock.Pass(5 * time.Minute)
	require.Empty(t, save(byRow, blocked))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM findings WHERE kind = 'stuck' AND resolved_at = $1`, clock.Now()))
	census, err := s.Census(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[lifecycle.FindingKind]int64{lifecycle.Orphan: 1, lifecycle.Overdue: 0, lifecycle.Stuck: 0, lifecycle.Blocked: 1, lifecycle.Remains: 0, lifecycle.FailingDelivery: 0, lifecycle.LostDelivery: 0, lifecycle.FailedJob: 0,
		lifecycle.AccessNotRevoked: 0, lifecycle.SlackChannel: 0, lifecycle.SlackRefused: 0, lifecycle.ScanFailing: 0, lifecycle.CloudGone: 0, lifecycle.ArchiveMissing: 0,
		lifecycle.ArchiveUnknown: 0, lifecycle.ShownBehind: 0, lifecycle.BreakerOpen: 0, store.AbandonedFinding: 0}, census.Findings)

	clock.Pass(5 * time.Minute)
	stuck.Since = clock.Now()
	require.Equal(t, []lifecycle.Finding{{Kind: lifecycle.Stuck, Cluster: row.ID, Since: clock.Now(), Why: "nobody looked", Evidence: []string{}}},
		save(byRow, stuck, blocked), "what is fixed and came back is told again")
	found, err = s.Reports.Findings(t.Context(), reports.FindingFilter{})
	require.NoError(t, err)
	require.Equal(t, begun, found[0].FirstSeenAt)
	require.Equal(t, lifecycle.Stuck, found[0].Kind)
	require.Equal(t, 1, found[0].TimesSeen)
}

func TestTheCensusCountsAnAbandonedTeardownApartFromABlockedOne(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	var found []lifecycle.Finding
	for _, name := range []string{"shop", "store"} {
		row := storetest.Accept(t, s, storetest.Granted(name))
		found = append(found, lifecycle.Finding{Kind: lifecycle.Blocked, Cluster: row.ID, Since: clock.Now(), Why: "vpc-1 is still there"}, lifecycle.Finding{Kind: lifecycle.Stuck, Cluster: row.ID, Since: clock.Now(), Why: "nobody looked"})
	}
	_, err := s.Reports.SaveFindings(t.Context(), byRow, found)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET abandoned = true WHERE name = 'shop'`)
	require.NoError(t, err)
	census, err := s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, census.Findings[lifecycle.Blocked], "an abandoned one alerts nobody, and hides no other")
	require.EqualValues(t, 1, census.Findings[store.AbandonedFinding])
	require.EqualValues(t, 2, census.Findings[lifecycle.Stuck])
}

func TestFindingsAboutOneThingAreOne(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	later := lifecycle.Finding{Kind: lifecycle.Orphan, Identity: "infra-x", Since: clock.Now().Add(time.Hour), Why: "nobody's", Evidence: []string{"us-east-1 vpc-1"}}
	earlier := later
	earlier.Since, earlier.Evidence = clock.Now(), []string{"us-west-2 vpc-2"}
	fresh, err := s.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Orphan}, []lifecycle.Finding{later, earlier})
	require.NoError(t, err)
	require.Len(t, fresh, 1)
	found, err := s.Reports.Findings(t.Context(), reports.FindingFilter{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []string{"us-east-1 vpc-1", "us-west-2 vpc-2"}, found[0].Evidence)
	require.Equal(t, clock.Now(), found[0].Since)
}

func TestWhatIsKnownIsEveryLiveClusterAndTheReleasedOnesThatWereSeen(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	tagged, forgotten := storetest.Released(t, s, "tagged"), storetest.Released(t, s, "forgotten")
	clock.Pass(48 * time.Hour)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("shop-abcde"), storetest.Bundles("shop-abcde"))
	require.NoError(t, err)
	other := storetest.Accept(t, s, storetest.Granted("other"))
	full, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)

	known := func(seen lifecycle.Seen) map[string]lifecycle.KnownCluster {
		k, err := s.Reports.Known(t.Context(), seen)
		require.NoError(t, err)
		require.Equal(t, clock.Now(), k.Now)
		byID := map[string]lifecycle.KnownCluster{}
		for _, c := range k.Clusters {
			byID[c.ID] = c
		}
		require.Len(t, byID, len(k.Clusters))
		return byID
	}
	shop := lifecycle.KnownCluster{
		Cluster: lifecycle.Cluster{
			ID: row.ID, Status: lifecycle.Creating, Phase: lifecycle.Installing, Why: full.Why, Desired: lifecycle.Present,
			Ends: full.Ends, WakeAt: full.WakeAt, Blockers: []lifecycle.Blocker{},
		},
		Name: "shop", Domain: "shop.labs.example.com", Owner: "maya", Team: "acme/platform", MovedAt: full.UpdatedAt,
	}
	blind := known(lifecycle.Seen{})
	require.Len(t, blind, 2)
	require.Equal(t, shop, blind[row.ID])
	require.Contains(t, blind, other.ID)

	all := known(lifecycle.Seen{Groups: []lifecycle.Group{{Identity: "shop-abcde"}, {Identity: "nobodys"}, {Domain: "tagged.labs.example.com"}, {Cluster: row.ID}}})
	require.Len(t, all, 3)
	shop.Identities = []string{"shop-abcde"}
	require.Equal(t, shop, all[row.ID])
	require.Equal(t, clock.Now().Add(-48*time.Hour), all[tagged].ReleasedAt)
	require.NotContains(t, all, forgotten)
}

func TestALookThatNeverComesAboutIsFound(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	for range 12 { // each look is asked for, and lost or failed
		storetest.Lose(t, s)
		n, err := s.WakeDue(t.Context(), 100)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		n, err = s.WakeDue(t.Context(), 100)
		require.NoError(t, err)
		require.Zero(t, n, "asked for a moment ago")
		clock.Pass(30 * time.Second)
	}
	k, err := s.Reports.Known(t.Context(), lifecycle.Seen{})
	require.NoError(t, err)
	found := lifecycle.Troubles(k, lifecycle.FindingLimits{EndMargin: time.Hour, WakeMargin: 5 * time.Minute, StillFor: time.Hour})
	require.Len(t, found, 1)
	require.Equal(t, lifecycle.Stuck, found[0].Kind)
	require.Equal(t, row.ID, found[0].Cluster)
	storetest.Step(t, s, row.ID)
	clock.Pass(storetest.Limits.LookAgain)
	n, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 1, n, "a new wake-up time is kept at once, however short ago the last one was asked for")
}

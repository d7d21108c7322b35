package scans_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAPartThatNoRunnerListsAnyMoreKeepsNothingForEver(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1"}, "us-east-1/elb": {"lb-1", "lb-2"}, "eu-west-3/ec2": {"vpc-9"}})
	renamed := func(balancers ...string) scans.Scan {
		return storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1"}, "us-east-1/balancing": balancers})
	}
	renamed("lb-1", "lb-2")
	storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1"}, "us-east-1/balancing": nil})
	last := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": nil, "us-east-1/balancing": {}})
	require.Equal(t, map[string]int{"vpc-1": 3, "lb-1": 2, "lb-2": 2, "vpc-9": 1}, there(t, s, last), "the region was not looked through completely")
	last = renamed("lb-1")
	require.Equal(t, map[string]int{"vpc-1": 4, "lb-1": 3, "lb-2": 0, "vpc-9": 1}, there(t, s, last))
	last = renamed("lb-1")
	require.Equal(t, map[string]int{"vpc-1": 5, "lb-1": 4, "vpc-9": 1}, there(t, s, last), "the region of vpc-9 may be disabled, and says nothing")
}

func TestAScanThatFailedDoesNotTellThatAPartIsGone(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1"}, "us-east-1/elb": {"lb-1"}})
	var last scans.Scan
	for range 3 {
		last = storetest.ScanOf(t, s)
		_, err := s.Scans.Report(t.Context(), last.ID, last.TokenID, scans.ReportRow{Seq: 1, Part: storetest.Page("us-east-1/ec2", true)})
		require.NoError(t, err)
		_, err = s.Scans.Result(t.Context(), last.ID, last.TokenID, scans.ResultRow{Outcome: lifecycle.Lost})
		require.NoError(t, err)
	}
	require.Equal(t, map[string]int{"lb-1": 1}, there(t, s, last), "it ended before that part, perhaps")
}

func TestAnOrphanInARegionThatIsNoLongerLookedThroughStaysAndSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	orphan := lifecycle.Judged{Class: lifecycle.ClassNobody, Why: "nobody's", Group: lifecycle.Group{Place: "vpc-9", Regions: []string{"eu-west-3"}, Resources: []string{"vpc-9"}, Sights: 1, Fresh: true}}
	round := func(parts map[string][]string) scans.OrphanRow {
		t.Helper()
		scan := storetest.Sees(t, s, parts)
		_, err := s.Scans.KeepOrphans(t.Context(), scan.ID, []lifecycle.Judged{orphan}, storetest.FindingLimit)
		require.NoError(t, err)
		list, _, err := s.Scans.Orphans(t.Context(), scans.Filter{})
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	both := map[string][]string{"us-east-1/ec2": {}, "eu-west-3/ec2": {"vpc-9"}}
	require.Equal(t, "nobody's", round(both).Why)
	require.Equal(t, "nobody's", round(map[string][]string{"us-east-1/ec2": {}, "eu-west-3/ec2": nil}).Why, "a denied region is another trouble")
	orphan.Fresh, orphan.Sights = false, 0
	for range 3 {
		o := round(map[string][]string{"us-east-1/ec2": {}})
		require.Equal(t, "nobody's; eu-west-3 is no longer looked through, so nobody knows whether it is still there", o.Why)
		require.NotEqual(t, lifecycle.OrphanGone, o.State)
	}
	require.Equal(t, "nobody's", round(both).Why)
}

func TestAPartThatWasIncompleteIsDoneWhenAnotherRunnerReportsAllOfIt(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	scan := storetest.ScanOf(t, s)
	part := func() scans.Part {
		t.Helper()
		parts, err := s.Scans.Parts(t.Context(), scan.ID)
		require.NoError(t, err)
		require.Len(t, parts, 1)
		return parts[0]
	}
	seq := 0
	report := func(p *scans.PartRow) {
		t.Helper()
		seq++
		_, err := s.Scans.Report(t.Context(), scan.ID, scan.TokenID, scans.ReportRow{Seq: seq, Part: p})
		require.NoError(t, err)
	}
	denied := storetest.Page("us-east-1/ec2", true)
	denied.Err = "Throttling"
	report(denied)
	require.NoError(t, s.Scans.Replace(t.Context(), scan.ID, scan.Runner))
	var err error
	scan, err = s.Scans.Scan(t.Context(), scan.ID)
	require.NoError(t, err)
	_, err = s.Scans.Claim(t.Context(), scan.ID, scan.TokenID, "pod-2")
	require.NoError(t, err)
	report(storetest.Page("us-east-1/ec2", false, "vpc-1"))
	require.Equal(t, "Throttling", part().Err, "pages are missing")
	report(storetest.Page("us-east-1/ec2", true, "vpc-2"))
	require.Empty(t, part().Err)
	require.Equal(t, 2, part().Resources)
	report(denied)
	require.Empty(t, part().Err, "what is done stays done")
}

func TestOrphansThatAreGoneArePrunedAndThoseThatPeopleWereToldOfStayForReports(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	judged := func(places ...string) (list []lifecycle.Judged) {
		for _, place := range places {
			list = append(list, lifecycle.Judged{Class: lifecycle.ClassNobody, Why: "nobody's", Group: lifecycle.Group{Place: place, Regions: []string{}, Resources: []string{place}, Sights: 1, Fresh: true}})
		}
		return list
	}
	round := func(places ...string) {
		t.Helper()
		scan := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": places})
		_, err := s.Scans.KeepOrphans(t.Context(), scan.ID, judged(places...), storetest.FindingLimit)
		require.NoError(t, err)
		clock.Pass(time.Hour)
	}
	left := func() (places []string) {
		t.Helper()
		_, err := s.Prune(t.Context(), 30*24*time.Hour)
		require.NoError(t, err)
		list, _, err := s.Scans.Orphans(t.Context(), scans.Filter{Gone: true})
		require.NoError(t, err)
		for _, o := range list {
			places = append(places, o.Place)
		}
		return places
	}
	round("vpc-told")
	round("vpc-told", "vpc-seen")
	round([]string{}...)
	round([]string{}...)
	first, err := s.Scans.Orphan(t.Context(), storetest.Text(t, s, `SELECT id FROM orphans WHERE place = 'vpc-told'`))
	require.NoError(t, err)
	require.NotNil(t, first.GoneAt)
	require.ElementsMatch(t, []string{"vpc-told", "vpc-seen"}, left())
	clock.Pass(31 * 24 * time.Hour)
	require.Equal(t, []string{"vpc-told"}, left())
	round("vpc-told")
	again, err := s.Scans.Orphan(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.OrphanSeen, again.State, "it is back, under its id")
	require.Equal(t, clock.Now().Add(-time.Hour), again.FirstSeenAt, "and was first seen when it came back")
	round([]string{}...)
	round([]string{}...)
	clock.Pass(31 * 24 * time.Hour)
	require.Empty(t, left(), "this time nobody was told")

	round("vpc-old")
	round("vpc-old")
	round([]string{}...)
	round([]string{}...)
	clock.Pass(2 * 365 * 24 * time.Hour)
	require.Equal(t, []string{"vpc-old"}, left())
	clock.Pass(2 * 24 * time.Hour)
	require.Empty(t, left())
}

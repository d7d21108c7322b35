package reports_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Reports group by whom a cluster belongs to or by a tag, and no interval is open for ever.
func TestWhatWasUsedIsReportedByGroup(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	for i, team := range []string{"a", "b", "b"} {
		a := storetest.Sized(fmt.Sprintf("shop-%d", i))
		a.Row.Team, a.Row.CostCenter, a.Row.Tags = team, "cc-"+team, map[string]string{"ticket": fmt.Sprint(i)}
		row := storetest.Accept(t, s, a)
		storetest.Step(t, s, row.ID)
		if i == 2 {
			open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
			require.NoError(t, err)
			_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
			require.NoError(t, err)
			storetest.Ready(t, s, row, open, "demo-abcde")
		}
	}
	waits := storetest.Accept(t, s, storetest.RequestedBy(storetest.Granted("waits"), "github:will"))
	clock.Pass(2 * time.Hour)
	report := func(f reports.ReportFilter) []reports.ReportLine {
		lines, err := s.Reports.UsageReport(t.Context(), f)
		require.NoError(t, err)
		return lines
	}
	b := reports.ReportLine{Key: "b", Clusters: 2, Ready: 1, ClusterHours: 4, NodeHours: 24, Cents: 280}
	a := reports.ReportLine{Key: "a", Clusters: 1, ClusterHours: 2, NodeHours: 12, Cents: 140}
	require.Equal(t, []reports.ReportLine{b, a, {Key: waits.Team, Clusters: 1}}, report(reports.ReportFilter{From: start.Add(-time.Hour), By: "team"}))
	require.Equal(t, []reports.ReportLine{a}, report(reports.ReportFilter{From: start, By: "team", Teams: []string{"a"}}))
	require.Empty(t, report(reports.ReportFilter{From: start, By: "team", Teams: []string{}}), "whoever sees no team sees nothing")
	b.ClusterHours, b.NodeHours, b.Cents = 2, 12, 140
	b.Key = "cc-b"
	require.Equal(t, b, report(reports.ReportFilter{From: start.Add(time.Hour), To: start.Add(99 * time.Hour), By: "costCenter"})[0], "not before, and not after now")
	require.Equal(t, []string{"0", "1", "2", ""}, keys(report(reports.ReportFilter{From: start, By: "tag:ticket"})))
	require.Equal(t, []string{"aws-minimal-test"}, keys(report(reports.ReportFilter{From: start, By: "profile"})))
	for _, by := range []string{"owner", "environment"} {
		require.Len(t, report(reports.ReportFilter{From: start, By: by}), 1)
	}
	for _, wrong := range []reports.ReportFilter{{From: start, By: "password"}, {From: start, By: "tag:"}, {From: start, To: start, By: "team"}, {From: clock.Now(), By: "team"}} {
		_, err := s.Reports.UsageReport(t.Context(), wrong)
		require.ErrorIs(t, err, db.ErrConflict)
	}

	// A row that was released without its last sample is billed until its release and no further.
	_, err := s.Pool().Exec(t.Context(), `
		ALTER TABLE clusters DISABLE TRIGGER clusters_release_guard;
		UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', desired_why = '{"code":"other","words":"x"}', teardown = 'DESTROY', destroyed_at = created_at + interval '30 minutes' WHERE team = 'a'`)
	require.NoError(t, err)
	clock.Pass(1000 * time.Hour)
	a.ClusterHours, a.NodeHours, a.Cents = 0.5, 3, 35
	require.Equal(t, []reports.ReportLine{a}, report(reports.ReportFilter{From: start, By: "team", Teams: []string{"a"}}))
}

func keys(lines []reports.ReportLine) (keys []string) {
	for _, l := range lines {
		keys = append(keys, l.Key)
	}
	return keys
}

func TestWhatWasUsedIsReportedByRepositoryPullRequestAndRun(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	for _, profile := range []string{"aws-minimal-test", "aws-standard"} {
		a := storetest.FromPR(storetest.Sized("pr-"+profile[4:7]), 7)
		a.Row.Profile = profile
		storetest.Step(t, s, storetest.Accept(t, s, a).ID)
	}
	storetest.Step(t, s, storetest.Accept(t, s, storetest.FromPR(storetest.Sized("other-pr"), 8)).ID)
	storetest.Step(t, s, storetest.BoundTo(t, s, "nightly", storetest.InSlot(1, "e2e")).ID)
	clock.Pass(time.Hour)
	for by, want := range map[string]map[string]int64{
		"repository":  {"acme/shop": 210, "": 70},
		"pullRequest": {"acme/shop#7": 140, "acme/shop#8": 70, "": 70},
		"run":         {"https://github.com/acme/shop/actions/runs/7001": 70, "": 210},
	} {
		got := map[string]int64{}
		lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: start, By: by})
		require.NoError(t, err)
		for _, l := range lines {
			got[l.Key] = l.Cents
		}
		require.Equal(t, want, got, by)
	}
}

// What comes until the month's end is the same as policy counts until the clusters' ends, but for the limit.
func TestAReportSaysWhatComesUntilATime(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	start := clock.Now()
	runs := storetest.Accept(t, s, storetest.Sized("runs"))
	storetest.Step(t, s, runs.ID)
	waits := storetest.Accept(t, s, storetest.Sized("waits"))
	gone := storetest.Accept(t, s, storetest.Sized("gone"))
	_, err := s.Destroy(t.Context(), gone.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	clock.Pass(time.Hour)
	report := func(until time.Time) reports.ReportLine {
		lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: start, Until: until, By: "team"})
		require.NoError(t, err)
		require.Len(t, lines, 1)
		return lines[0]
	}
	require.Equal(t, [2]int64{}, [2]int64{report(time.Time{}).ToComeCents, report(time.Time{}).CommittedCents}, "nobody asked")
	counted, err := s.Usage(t.Context(), usage.Scope{Team: waits.Team})
	require.NoError(t, err)
	all := report(clock.Now().Add(1000 * time.Hour))
	require.Equal(t, []int64{70, 3 * 70 * 2, 3 * 70 * 2}, []int64{all.Cents, all.ToComeCents, all.CommittedCents}, "three of four hours are left of each of the two that are wanted")
	require.Equal(t, []int64{counted.Team.SpentCents, counted.Team.CommittedCents}, []int64{all.Cents, all.CommittedCents})
	half := report(clock.Now().Add(30 * time.Minute))
	require.Equal(t, []int64{70, 420}, []int64{half.ToComeCents, half.CommittedCents})
	require.Zero(t, report(clock.Now().Add(-time.Minute)).ToComeCents, "that time is over")
}

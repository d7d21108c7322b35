package scans_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// there returns the sights of what is there.
func there(t *testing.T, s *store.Store, scan scans.Scan) map[string]int {
	t.Helper()
	list, err := s.Scans.Seen(t.Context(), scan)
	require.NoError(t, err)
	out := map[string]int{}
	for _, r := range list {
		out[r.ID] = r.Sights
	}
	return out
}

func TestAnAccountHasOneOpenScanAndAccountsTakeTurns(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	other := storetest.LabAccount
	other.Account = "210987654321"
	opened, err := s.Scans.OpenDue(t.Context(), []scans.Wanted{storetest.LabAccount, other}, 6*time.Hour)
	require.NoError(t, err)
	require.Equal(t, 2, opened)
	opened, err = s.Scans.OpenDue(t.Context(), []scans.Wanted{storetest.LabAccount, other}, 6*time.Hour)
	require.NoError(t, err)
	require.Zero(t, opened)

	first, err := s.Scans.InTurn(t.Context())
	require.NoError(t, err)
	require.Equal(t, storetest.Lab, first.Account)
	require.Equal(t, scans.Schedule, first.AskedBy)
	require.Equal(t, storetest.LabAccount.Spec, first.Spec)
	again, already, err := s.Scans.Open(t.Context(), storetest.LabAccount, storetest.BySchedule)
	require.NoError(t, err)
	require.True(t, already)
	require.Equal(t, first.ID, again.ID)

	require.NoError(t, s.Scans.Close(t.Context(), first.ID, 2, scans.ResultRow{Outcome: lifecycle.Lost}))
	next, err := s.Scans.InTurn(t.Context())
	require.NoError(t, err)
	require.Equal(t, first.ID, next.ID, "it has no second runner that could be lost")
	require.NoError(t, s.Scans.Close(t.Context(), first.ID, 1, scans.ResultRow{Outcome: lifecycle.Lost, Message: "it took too long"}))
	next, err = s.Scans.InTurn(t.Context())
	require.NoError(t, err)
	require.Equal(t, other.Account, next.Account)

	clock.Pass(6 * time.Hour)
	opened, err = s.Scans.OpenDue(t.Context(), []scans.Wanted{storetest.LabAccount, other}, 6*time.Hour)
	require.NoError(t, err)
	require.Equal(t, 1, opened, "the other account's scan is still open")
	list, err := s.Scans.Scans(t.Context(), storetest.Lab, 10)
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, []int{list[0].Round, list[1].Round})
	require.Equal(t, 0, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'asked for a scan'`), "the schedule is nobody")
}

func TestOnlyTheNewestRunnerOfAScanReports(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	scan := storetest.ScanOf(t, s)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'asked for a scan' AND actor = 'saml:ada'`))
	_, err := s.Scans.Claim(t.Context(), scan.ID, scan.TokenID, "pod-1")
	require.NoError(t, err, "an answer can be lost")
	_, err = s.Scans.Claim(t.Context(), scan.ID, scan.TokenID, "pod-2")
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Scans.Report(t.Context(), scan.ID, "another token", scans.ReportRow{Seq: 1})
	require.ErrorIs(t, err, db.ErrFenced)

	report := func(token string, seq int, p *scans.PartRow) error {
		_, err := s.Scans.Report(t.Context(), scan.ID, token, scans.ReportRow{Seq: seq, Part: p})
		return err
	}
	require.NoError(t, report(scan.TokenID, 1, storetest.Page("us-east-1/ec2", false, "vpc-1")))
	require.NoError(t, report(scan.TokenID, 1, storetest.Page("us-east-1/ec2", false, "vpc-1")), "an answer can be lost")
	require.NoError(t, report(scan.TokenID, 2, storetest.Page("global/iam", true, "role-1")))

	require.NoError(t, s.Scans.Replace(t.Context(), scan.ID, 1))
	require.NoError(t, s.Scans.Replace(t.Context(), scan.ID, 1), "done already")
	require.ErrorIs(t, report(scan.TokenID, 3, storetest.Page("us-east-1/ec2", true, "vpc-2")), db.ErrFenced)
	resumed, err := s.Scans.Scan(t.Context(), scan.ID)
	require.NoError(t, err)
	require.Equal(t, 2, resumed.Runner)
	require.Nil(t, resumed.ClaimedBy)
	require.ErrorIs(t, report(resumed.TokenID, 1, nil), db.ErrFenced, "nobody claimed it")
	_, err = s.Scans.Claim(t.Context(), scan.ID, resumed.TokenID, "pod-2")
	require.NoError(t, err)

	done, err := s.Scans.Parts(t.Context(), scan.ID)
	require.NoError(t, err)
	require.Equal(t, "global/iam", done[0].Name)
	require.NotNil(t, done[0].DoneAt)
	require.Nil(t, done[1].DoneAt, "its pages are read again")
	require.NoError(t, report(resumed.TokenID, 1, storetest.Page("us-east-1/ec2", true, "vpc-1", "vpc-2")))
	require.NoError(t, report(resumed.TokenID, 2, storetest.Page("us-east-1/tagging", true, "vpc-1")))
	done, err = s.Scans.Parts(t.Context(), scan.ID)
	require.NoError(t, err)
	require.Equal(t, 2, done[1].Resources)

	lease, err := s.Scans.Result(t.Context(), scan.ID, resumed.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Calls: map[string]int{"ec2": 3}, Slowed: 1})
	require.NoError(t, err)
	require.True(t, lease.Closed)
	lease, err = s.Scans.Result(t.Context(), scan.ID, resumed.TokenID, scans.ResultRow{Outcome: lifecycle.Failure})
	require.NoError(t, err)
	require.Contains(t, lease.Stop, "succeeded", "the first result counts")
	require.Equal(t, map[string]int{"vpc-1": 1, "vpc-2": 1, "role-1": 1}, there(t, s, resumed), "one scan is one sight, whoever saw it")
	ended, err := s.Scans.Scan(t.Context(), scan.ID)
	require.NoError(t, err)
	require.Equal(t, 3, ended.Resources)
	require.Equal(t, map[string]int{"ec2": 3}, ended.Calls)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM scan_reports`))
}

func TestAResourceIsGoneOnceTwoCompleteScansDidNotSeeIt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	ec2 := func(ids ...string) map[string][]string {
		return map[string][]string{"us-east-1/ec2": ids, "global/iam": {}}
	}
	storetest.Sees(t, s, ec2("vpc-1", "vpc-2"))
	last := storetest.Sees(t, s, ec2("vpc-1", "vpc-2"))
	require.Equal(t, map[string]int{"vpc-1": 2, "vpc-2": 2}, there(t, s, last))

	storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": nil})
	storetest.Sees(t, s, map[string][]string{"global/iam": {}})
	last = storetest.Sees(t, s, map[string][]string{"global/iam": {}})
	require.Equal(t, map[string]int{"vpc-1": 2, "vpc-2": 2}, there(t, s, last), "nobody looked where they are")

	last = storetest.Sees(t, s, ec2("vpc-1"))
	require.Equal(t, map[string]int{"vpc-1": 3, "vpc-2": 0}, there(t, s, last), "a page can be left out once")
	last = storetest.Sees(t, s, ec2("vpc-1", "vpc-2"))
	require.Equal(t, map[string]int{"vpc-1": 4, "vpc-2": 1}, there(t, s, last))
	storetest.Sees(t, s, ec2("vpc-1"))
	last = storetest.Sees(t, s, ec2("vpc-1"))
	require.Equal(t, map[string]int{"vpc-1": 6}, there(t, s, last))

	clock.Pass(time.Hour)
	last = storetest.Sees(t, s, ec2("vpc-1", "vpc-2"))
	list, err := s.Scans.Seen(t.Context(), last)
	require.NoError(t, err)
	require.Equal(t, clock.Now(), list[1].FirstSeenAt, "a name that is used again is another thing")
	require.Equal(t, clock.Now().Add(-time.Hour), list[0].FirstSeenAt)
}

func TestAnOrphanIsToldOnceAndStaysInSightUntilItIsGone(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	known := lifecycle.KnownCluster{Name: "shop", Owner: "maya", Team: "acme/platform"}
	known.ID = row.ID
	leak := lifecycle.Judged{Class: lifecycle.ClassReleased, Of: &known, Why: "it still exists", Group: lifecycle.Group{
		Installation: "here", Cluster: row.ID, Identity: "shop-abcde", Regions: []string{"us-east-1"}, Resources: []string{"vpc-1"}, Sights: 1, Fresh: true,
		HourlyCents: new(4.5), Managed: true,
	}}
	strange := lifecycle.Judged{Class: lifecycle.ClassForeign, Why: "it is there's", Group: lifecycle.Group{Installation: "there", Cluster: "clu_q", Regions: []string{}, Resources: []string{"vpc-9"}, Sights: 1, Fresh: true}}
	round := func(judged ...lifecycle.Judged) (told []string) {
		t.Helper()
		scan := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1", "vpc-9"}})
		fresh, err := s.Scans.KeepOrphans(t.Context(), scan.ID, judged, storetest.FindingLimit)
		require.NoError(t, err)
		again, err := s.Scans.KeepOrphans(t.Context(), scan.ID, judged, storetest.FindingLimit)
		require.NoError(t, err)
		require.Empty(t, again, "a scan is judged once")
		for _, o := range fresh {
			told = append(told, o.Called())
		}
		clock.Pass(time.Hour)
		return told
	}
	orphan := func(f scans.Filter) scans.OrphanRow {
		t.Helper()
		list, _, err := s.Scans.Orphans(t.Context(), f)
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	announced := func() int {
		return storetest.Count(t, s, `SELECT count(*) FROM announcements WHERE cause LIKE 'finding:orphan:%'`)
	}

	require.Empty(t, round(leak, strange))
	require.Equal(t, lifecycle.OrphanSeen, orphan(scans.Filter{Class: lifecycle.ClassReleased}).State)
	require.Equal(t, lifecycle.OrphanKept, orphan(scans.Filter{Class: lifecycle.ClassForeign}).State)
	require.Equal(t, []string{"shop-abcde"}, round(leak, strange))
	require.Empty(t, round(leak, strange))
	require.Equal(t, 1, announced())
	o := orphan(scans.Filter{Team: "acme/platform", Owner: "maya", Account: storetest.Lab, State: lifecycle.OrphanReported})
	require.Equal(t, 3, o.Sights)
	require.Equal(t, row.ID, *o.ClusterID)
	require.True(t, o.ManagedBy)
	require.Equal(t, "it still exists (account "+storetest.Lab+"; resources: 1; about $0.05 an hour); ask maya of acme/platform", o.Told())
	parts, err := s.Scans.PartsOf(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, "vpc-1", parts[0].ID)

	_, err = s.Pool().Exec(t.Context(), `UPDATE orphans SET state = 'approved', decided_by = 'saml:ada', cleanup_cluster = $2 WHERE id = $1`, o.ID, row.ID)
	require.NoError(t, err)
	require.Empty(t, round(leak, strange))
	o = orphan(scans.Filter{State: lifecycle.OrphanApproved})
	require.Equal(t, "saml:ada", o.DecidedBy)
	require.Equal(t, row.ID, *o.CleanupCluster)

	require.Empty(t, round(strange))
	gone, err := s.Scans.Orphan(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.OrphanGone, gone.State)
	require.NotNil(t, gone.GoneAt)
	parts, err = s.Scans.PartsOf(t.Context(), o.ID)
	require.NoError(t, err)
	require.Empty(t, parts)
	round(leak, strange)
	require.Equal(t, o.ID, orphan(scans.Filter{Class: lifecycle.ClassReleased}).ID)
	require.Equal(t, []string{"shop-abcde"}, round(leak, strange), "it came back, which is news")
	require.Equal(t, 2, announced())

	live := leak
	live.Class, live.Why = lifecycle.ClassLive, ""
	require.Empty(t, round(live, strange))
	gone, err = s.Scans.Orphan(t.Context(), o.ID)
	require.NoError(t, err)
	require.Contains(t, gone.StateWhy, "living cluster shop")
	_, err = s.Pool().Exec(t.Context(), `UPDATE orphans SET state = 'approved' WHERE class = 'foreign'`)
	require.ErrorContains(t, err, "orphans_foreign")
}

func TestAnOrphanWasSeenWhenItsResourceWasAndAnOlderScanChangesNothing(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	leak := lifecycle.Judged{Class: lifecycle.ClassNobody, Why: "nobody's", Group: lifecycle.Group{Place: "vpc-1", Regions: []string{}, Resources: []string{"vpc-1"}, Sights: 1, Fresh: true}}
	older := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1"}})
	at := clock.Now()
	clock.Pass(time.Hour)
	newer := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {}})
	clock.Pass(time.Hour)
	_, err := s.Scans.KeepOrphans(t.Context(), newer.ID, []lifecycle.Judged{leak}, storetest.FindingLimit)
	require.NoError(t, err)
	list, _, err := s.Scans.Orphans(t.Context(), scans.Filter{})
	require.NoError(t, err)
	require.True(t, at.Equal(list[0].LastSeenAt), "not when it was judged")

	_, err = s.Scans.KeepOrphans(t.Context(), older.ID, nil, storetest.FindingLimit)
	require.NoError(t, err)
	list, _, err = s.Scans.Orphans(t.Context(), scans.Filter{})
	require.NoError(t, err)
	require.Equal(t, lifecycle.OrphanSeen, list[0].State)
	ids, err := s.Scans.Unjudged(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids, "it is not judged again")
}

// A recovery names what it leaves for a person after a resource or a cluster, and scans name it after its installation or infraID.
func TestAScanTakesOverWhatARecoveryLeft(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	var left []lifecycle.Finding
	for identity, evidence := range map[string][]string{"arn:odd": {"arn:odd"}, "arn:brief": {"arn:brief"}, "clu_lost": {"arn:lost"}, "clu_living": {"arn:living", "arn:gone"}} {
		left = append(left, lifecycle.Finding{Kind: lifecycle.Orphan, Identity: identity, Since: clock.Now(), Why: "recovered", Evidence: evidence})
	}
	_, err := s.Reports.SaveFindings(t.Context(), nil, left)
	require.NoError(t, err)
	names := func() (names []string) {
		found, err := s.Scans.Findings(t.Context())
		require.NoError(t, err)
		for _, f := range found {
			names = append(names, f.Identity)
		}
		return names
	}
	sees := func(ids []string, orphans ...lifecycle.Judged) {
		clock.Pass(time.Hour)
		scan := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": ids})
		_, err := s.Scans.KeepOrphans(t.Context(), scan.ID, orphans, storetest.FindingLimit)
		require.NoError(t, err)
	}
	orphan := func(cluster, identity, id string) lifecycle.Judged {
		return lifecycle.Judged{Class: lifecycle.ClassUnrecorded, Why: "no cluster of ours", Group: lifecycle.Group{
			Installation: "here", Cluster: cluster, Identity: identity, Regions: []string{}, Resources: []string{id}, Sights: 1, Fresh: true,
		}}
	}
	require.ElementsMatch(t, []string{"arn:odd", "arn:brief", "clu_lost", "clu_living"}, names())
	sees([]string{"arn:brief", "arn:living", "arn:gone"})
	sees([]string{"arn:brief", "arn:living"})
	require.ElementsMatch(t, []string{"arn:odd", "arn:brief", "clu_lost", "clu_living"}, names(), "the scans judged none of it")
	odd, lost := orphan("", "", "arn:odd"), orphan("clu_lost", "lost-abcde", "arn:other")
	sees([]string{"arn:odd", "arn:other", "arn:living"}, odd, lost)
	require.Subset(t, names(), []string{"arn:odd", "clu_lost"}, "a scan that saw it once tells nobody of it yet")
	sees([]string{"arn:odd", "arn:other", "arn:living"}, odd, lost)
	require.NotContains(t, names(), "clu_lost")
	sees([]string{"arn:living"})
	sees([]string{"arn:living"})
	require.Equal(t, []string{"clu_living"}, names(), "a part of it is there, and of a living cluster")
}

func TestWhatScansFindAreFindings(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	stray := lifecycle.Judged{Class: lifecycle.ClassNobody, Why: "nothing says whose", Group: lifecycle.Group{Place: "vpc-1", Regions: []string{}, Resources: []string{"vpc-1"}, Sights: 1, Fresh: true}}
	strange := lifecycle.Judged{Class: lifecycle.ClassForeign, Why: "it is there's", Group: lifecycle.Group{Installation: "there", Regions: []string{}, Resources: []string{"vpc-9"}, Sights: 1, Fresh: true}}
	for range 2 {
		scan := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {"vpc-1", "vpc-9"}})
		_, err := s.Scans.KeepOrphans(t.Context(), scan.ID, []lifecycle.Judged{stray, strange}, storetest.FindingLimit)
		require.NoError(t, err)
		clock.Pass(time.Hour)
	}
	found, err := s.Scans.Findings(t.Context())
	require.NoError(t, err)
	require.Equal(t, []lifecycle.Finding{{
		Kind: lifecycle.Orphan, Identity: "vpc-1", Since: clock.Now().Add(-2 * time.Hour), Evidence: []string{"vpc-1"},
		Why: "nothing says whose (account " + storetest.Lab + "; resources: 1; price unknown)",
	}}, found)

	recovered := lifecycle.Finding{Kind: lifecycle.Orphan, Identity: "arn:odd", Since: clock.Now(), Why: "no cluster's id", Evidence: []string{"arn:odd"}}
	fresh, err := s.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Orphan}, append(found, recovered))
	require.NoError(t, err)
	require.Len(t, fresh, 2)
	found, err = s.Scans.Findings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 2)
	clock.Pass(time.Hour)
	recovered.Identity, recovered.Since = "vpc-1", clock.Now()
	_, err = s.Reports.SaveFindings(t.Context(), nil, []lifecycle.Finding{recovered})
	require.NoError(t, err)
	clock.Pass(time.Hour)
	scan := storetest.Sees(t, s, map[string][]string{"us-east-1/ec2": {}})
	_, err = s.Scans.KeepOrphans(t.Context(), scan.ID, nil, storetest.FindingLimit)
	require.NoError(t, err)
	found, err = s.Scans.Findings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "arn:odd", found[0].Identity, "no scan ever found it, so none can tell that it is gone")
	_, err = s.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Orphan}, nil)
	require.NoError(t, err)
	found, err = s.Scans.Findings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found, "a recovery found it no more")
}

func TestAnAccountThatIsNotLookedThroughThreeTimesIsAFinding(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	failing := func() []lifecycle.Finding {
		t.Helper()
		found, err := s.Scans.Failing(t.Context(), []string{storetest.Lab})
		require.NoError(t, err)
		return found
	}
	begun := clock.Now()
	for range 2 {
		storetest.Sees(t, s, map[string][]string{"eu-west-1/ec2": nil, "us-east-1/ec2": {}})
		clock.Pass(time.Hour)
	}
	require.Empty(t, failing())
	storetest.Sees(t, s, map[string][]string{"eu-west-1/ec2": nil, "us-east-1/ec2": {}})
	require.Equal(t, []lifecycle.Finding{{Kind: lifecycle.ScanFailing, Identity: storetest.Lab, Since: begun, Evidence: []string{"eu-west-1/ec2: AccessDenied"},
		Why: "parts of the account could not be looked through in the last scans: what is there is not seen"}}, failing())
	none, err := s.Scans.Failing(t.Context(), []string{"another"})
	require.NoError(t, err)
	require.Empty(t, none)

	scan := storetest.ScanOf(t, s)
	require.NoError(t, s.Scans.Close(t.Context(), scan.ID, 1, scans.ResultRow{Outcome: lifecycle.Lost, Message: "five runners were lost"}))
	require.Contains(t, failing()[0].Why, "five runners were lost")
	_, err = s.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.ScanFailing}, failing())
	require.NoError(t, err)
	storetest.Sees(t, s, map[string][]string{"eu-west-1/ec2": {}, "us-east-1/ec2": {}})
	require.Empty(t, failing())
}

func TestAScanIsAJobOfNoCluster(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	scan := storetest.ScanOf(t, s)
	job, err := s.Reports.Job(t.Context(), scan.JobID())
	require.NoError(t, err)
	require.Equal(t, lifecycle.JobRunning, job.Status)
	require.Empty(t, job.Cluster)
	require.NoError(t, s.Scans.Close(t.Context(), scan.ID, 1, scans.ResultRow{Outcome: lifecycle.Lost, Reason: "RunnerLost", Message: "gone"}))
	all, _, err := s.Reports.Jobs(t.Context(), reports.JobFilter{})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, scan.JobID(), all[0].ID, "the newest first")
	require.Equal(t, row.ID, all[1].Cluster)
	only, _, err := s.Reports.Jobs(t.Context(), reports.JobFilter{Type: reports.Scan, Status: lifecycle.JobFailed})
	require.NoError(t, err)
	require.Equal(t, "RunnerLost", only[0].ErrorCode)
	teams, _, err := s.Reports.Jobs(t.Context(), reports.JobFilter{Teams: []string{"acme/platform"}})
	require.NoError(t, err)
	require.Len(t, teams, 1, "a scan is no team's")
}

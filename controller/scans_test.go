package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/orphans"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/scans"
)

// scanning is a fixture that looks through these accounts.
func scanning(t *testing.T, accounts ...string) *fixture {
	h := newFixture(t)
	var wanted []scans.Wanted
	for _, account := range accounts {
		wanted = append(wanted, scans.Wanted{Platform: "aws", Account: account, Spec: scans.Spec{
			Installation: "test", HomeRegion: "us-east-1", BaseDomains: []string{"labs.example.com"}, CallsPerSecond: 5,
		}})
	}
	h.Accounts = controller.Accounts{Every: 6 * time.Hour, Wanted: func(context.Context) ([]scans.Wanted, error) { return wanted, nil }}
	return h
}

// run sees to the scans, and starts what is to be started.
func (h *fixture) run() scans.Scan {
	h.t.Helper()
	require.Equal(h.t, 15*time.Second, h.snoozes(queue.RunScansArgs{}, h.now()), "an open one is seen to again soon")
	scan, err := h.store.Scans.InTurn(h.ctx)
	require.NoError(h.t, err)
	h.work(queue.LaunchScanArgs{Scan: scan.ID, Runner: scan.Runner})
	scan, err = h.store.Scans.Scan(h.ctx, scan.ID)
	require.NoError(h.t, err)
	return scan
}

// looks lets a runner look through the account, and has what it saw judged.
func (h *fixture) looks(scan scans.Scan, part string, seen ...contract.SeenResource) {
	h.t.Helper()
	_, err := h.store.Scans.Claim(h.ctx, scan.ID, scan.TokenID, fmt.Sprintf("pod-%d", scan.Runner))
	require.NoError(h.t, err)
	page := &scans.PartRow{Name: part, Last: true, Calls: 1}
	for _, r := range seen {
		raw, err := json.Marshal(r)
		require.NoError(h.t, err)
		page.Resources = append(page.Resources, scans.ResourceRow{ID: r.ID, Raw: raw})
	}
	_, err = h.store.Scans.Report(h.ctx, scan.ID, scan.TokenID, scans.ReportRow{Seq: 1, Part: page})
	require.NoError(h.t, err)
	_, err = h.store.Scans.Result(h.ctx, scan.ID, scan.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(h.t, err)
	h.work(queue.JudgeScanArgs{Scan: scan.ID})
}

func TestAccountsAreLookedThroughOneAfterAnother(t *testing.T) {
	t.Parallel()
	h := scanning(t, "111111111111", "222222222222")
	first := h.run()
	require.Equal(t, "111111111111", first.Account)
	h.run()
	require.Len(t, h.yard.starts(), 1, "the second account waits")
	job := h.yard.starts()[0]
	claims, err := h.signer.Verify(job.Token, h.now())
	require.NoError(t, err)
	require.Equal(t, first.ID, claims.Attempt)
	require.Equal(t, first.TokenID, claims.TokenID)
	job.Token = ""
	require.Equal(t, dispatch.Job{Attempt: first.ID, Number: 1, Kind: contract.KindScan, Job: first.JobID(), Platform: "aws", Deadline: 4 * time.Hour}, job)

	h.looks(first, "us-east-1/ec2")
	second := h.run()
	require.Equal(t, "222222222222", second.Account)
	require.Len(t, h.yard.starts(), 2)
	h.looks(second, "us-east-1/ec2")
	h.work(queue.RunScansArgs{})
	_, err = h.store.Scans.InTurn(h.ctx)
	require.Error(t, err, "nothing is due")
	h.pass(6 * time.Hour)
	require.Equal(t, 2, h.run().Round)
}

func TestALostRunnersScanIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(h *fixture, s scans.Scan){
		"its process ended":   func(h *fixture, s scans.Scan) { h.yard.show(s.ID, dispatch.Ended) },
		"its Job was deleted": func(h *fixture, s scans.Scan) { h.yard.show(s.ID, dispatch.Missing) },
		"its lease ended": func(h *fixture, s scans.Scan) {
			h.yard.show(s.ID, dispatch.Unknown)
			h.pass(lease + limits.LeaseGrace)
		},
		"the server died between forgetting it and writing that": func(h *fixture, s scans.Scan) {
			require.NoError(h.t, h.yard.Forget(h.ctx, s.ID))
			h.yard.show(s.ID, dispatch.NotStarted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := scanning(t, "111111111111")
			scan := h.run()
			_, err := h.store.Scans.Claim(h.ctx, scan.ID, scan.TokenID, "pod-1")
			require.NoError(t, err)
			require.Equal(t, 1, h.run().Runner, "it is alive")
			lose(h, scan)
			again := h.run()
			require.Equal(t, scan.ID, again.ID)
			require.Equal(t, 2, again.Runner)
			require.NotEqual(t, scan.TokenID, again.TokenID)
			starts := h.yard.starts()
			require.Equal(t, 2, starts[len(starts)-1].Number)
			h.looks(again, "us-east-1/ec2")
		})
	}
}

func TestAStartIsTriedUntilItSucceedsAndGivenUpInTheEnd(t *testing.T) {
	t.Parallel()
	h := scanning(t, "111111111111")
	h.yard.refuses = &dispatch.Refusal{Trouble: dispatch.Trouble{Code: "Forbidden", Message: "the cluster refuses the Job", Whose: "ocpctl", Next: "give it the right"}, Err: errAway}
	h.work(queue.RunScansArgs{News: "test"})
	scan, err := h.store.Scans.InTurn(h.ctx)
	require.NoError(t, err)
	require.Error(t, h.Work(h.ctx, queue.LaunchScanArgs{Scan: scan.ID, Runner: 1}, h.now()))
	scan, err = h.store.Scans.Scan(h.ctx, scan.ID)
	require.NoError(t, err)
	require.Equal(t, "the cluster refuses the Job", scan.LaunchTrouble.Message)

	h.yard.refuses = nil
	require.NotNil(t, h.run().LaunchedAt)
	for runner := 1; runner <= 5; runner++ {
		h.pass(limits.LaunchPatience) // nobody claims it
		h.work(queue.RunScansArgs{News: "test"})
		now, err := h.store.Scans.Scan(h.ctx, scan.ID)
		require.NoError(t, err)
		if runner == 5 {
			require.Equal(t, lifecycle.Lost, *now.Outcome)
			require.Equal(t, "RunnerLost", now.Reason)
			require.Contains(t, h.yard.stopped, scan.ID)
			return
		}
		require.Equal(t, runner+1, now.Runner)
		h.work(queue.LaunchScanArgs{Scan: scan.ID, Runner: now.Runner})
	}
}

func TestAScanEndsAfterFourHours(t *testing.T) {
	t.Parallel()
	h := scanning(t, "111111111111")
	scan := h.run()
	_, err := h.store.Scans.Claim(h.ctx, scan.ID, scan.TokenID, "pod-1")
	require.NoError(t, err)
	h.pass(4 * time.Hour)
	h.work(queue.RunScansArgs{News: "test"})
	ended, err := h.store.Scans.Scan(h.ctx, scan.ID)
	require.NoError(t, err)
	require.Equal(t, "TimedOut", ended.Reason)
	answer, err := h.store.Scans.Report(h.ctx, scan.ID, scan.TokenID, scans.ReportRow{Seq: 1})
	require.NoError(t, err)
	require.Contains(t, answer.Stop, "did not end within")
}

func TestTheFourHoursOfAScanBeginWithItsTurn(t *testing.T) {
	t.Parallel()
	h := scanning(t, "111111111111", "222222222222")
	first := h.run()
	h.pass(3 * time.Hour)
	h.looks(first, "us-east-1/ec2")
	second := h.run()
	require.NotEqual(t, first.ID, second.ID)
	_, err := h.store.Scans.Claim(h.ctx, second.ID, second.TokenID, "pod-2")
	require.NoError(t, err)
	for _, step := range []struct {
		pass time.Duration
		open bool
	}{{2 * time.Hour, true}, {2 * time.Hour, false}} {
		h.pass(step.pass)
		if step.open {
			_, err = h.store.Scans.Report(h.ctx, second.ID, second.TokenID, scans.ReportRow{Seq: 1})
			require.NoError(t, err)
		}
		h.work(queue.RunScansArgs{News: "test"})
		now, err := h.store.Scans.Scan(h.ctx, second.ID)
		require.NoError(t, err)
		require.Equal(t, step.open, now.ClosedAt == nil, now.Message)
	}
}

func TestAResourceOfADestroyedClusterBecomesAFinding(t *testing.T) {
	t.Parallel()
	h := scanning(t, "111111111111")
	h.Accounts.Exempt = []orphans.Rule{{TagKey: "Keep", Why: "a test"}}
	row := h.accept("shop")
	tags := map[string]string{tagkey.Installation: "test", tagkey.ClusterID: row.ID, tagkey.ManagedBy: tagkey.ControlPlaneName}
	vpc := contract.SeenResource{ID: "vpc-1", Type: "vpc", Region: "us-east-1", Tags: tags}
	foreign := contract.SeenResource{ID: "vpc-2", Type: "vpc", Tags: map[string]string{tagkey.Installation: "other"}}
	kept := contract.SeenResource{ID: "vol-1", Type: "volume", Tags: map[string]string{"Keep": "yes"}}
	stray := contract.SeenResource{ID: "vol-2", Type: "volume"}
	states := func() map[lifecycle.OrphanClass]lifecycle.OrphanState {
		list, _, err := h.store.Scans.Orphans(h.ctx, scans.Filter{})
		require.NoError(t, err)
		out := map[lifecycle.OrphanClass]lifecycle.OrphanState{}
		for _, o := range list {
			if o.Place != "vol-1" {
				out[o.Class] = o.State
			} else {
				require.Equal(t, lifecycle.OrphanExempt, o.State)
			}
		}
		return out
	}
	h.looks(h.run(), "us-east-1/ec2", vpc, foreign, kept, stray)
	require.Equal(t, map[lifecycle.OrphanClass]lifecycle.OrphanState{lifecycle.ClassForeign: lifecycle.OrphanKept, lifecycle.ClassNobody: lifecycle.OrphanSeen}, states(), "its cluster lives")

	_, err := h.store.Destroy(h.ctx, row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	for range 2 {
		h.pass(6 * time.Hour)
		h.looks(h.run(), "us-east-1/ec2", vpc, foreign, kept, stray)
	}
	require.Equal(t, map[lifecycle.OrphanClass]lifecycle.OrphanState{lifecycle.ClassForeign: lifecycle.OrphanKept, lifecycle.ClassNobody: lifecycle.OrphanReported,
		lifecycle.ClassReleased: lifecycle.OrphanReported}, states())

	h.work(queue.FindingsArgs{})
	found, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{Kind: lifecycle.Orphan})
	require.NoError(t, err)
	require.Len(t, found, 2)
	i := slices.IndexFunc(found, func(f reports.FindingRow) bool { return f.Cluster == row.ID })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, []string{"vpc-1"}, found[i].Evidence)
	require.Contains(t, found[i].Why, "ask maya of platform")

	for range 2 {
		h.pass(6 * time.Hour)
		h.looks(h.run(), "us-east-1/ec2", foreign, kept, stray)
	}
	h.work(queue.FindingsArgs{})
	found, err = h.store.Reports.Findings(h.ctx, reports.FindingFilter{Kind: lifecycle.Orphan, Cluster: row.ID})
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestAScanThatBeganBeforeTheFinalCountAccusesNobody(t *testing.T) {
	t.Parallel()
	h := scanning(t, "111111111111")
	row := h.accept("shop")
	seen := func(id string) contract.SeenResource {
		return contract.SeenResource{ID: id, Type: "vpc", Region: "us-east-1", Tags: map[string]string{tagkey.Installation: "test", tagkey.ClusterID: row.ID, tagkey.ManagedBy: tagkey.ControlPlaneName}}
	}
	orphansNow := func() []scans.OrphanRow {
		list, _, err := h.store.Scans.Orphans(h.ctx, scans.Filter{})
		require.NoError(t, err)
		return list
	}
	scan := h.run()
	_, err := h.store.Scans.Claim(h.ctx, scan.ID, scan.TokenID, "pod-1")
	require.NoError(t, err)
	raw, err := json.Marshal(seen("vpc-1"))
	require.NoError(t, err)
	_, err = h.store.Scans.Report(h.ctx, scan.ID, scan.TokenID, scans.ReportRow{Seq: 1, Part: &scans.PartRow{Name: "us-east-1/ec2", Last: true, Resources: []scans.ResourceRow{{ID: "vpc-1", Raw: raw}}}})
	require.NoError(t, err)

	h.pass(time.Minute)
	_, err = h.store.Destroy(h.ctx, row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	h.pass(time.Minute)
	_, err = h.store.Scans.Result(h.ctx, scan.ID, scan.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	h.work(queue.JudgeScanArgs{Scan: scan.ID})
	require.Empty(t, orphansNow(), "it was seen before the count")

	h.pass(6 * time.Hour)
	h.looks(h.run(), "us-east-1/ec2")
	require.Empty(t, orphansNow(), "one scan that misses it does not say that it is gone, nor that it is there")
	h.pass(6 * time.Hour)
	h.looks(h.run(), "us-east-1/ec2", seen("vpc-1"), seen("vpc-2"))
	require.Len(t, orphansNow(), 1)
	require.Equal(t, []string{"vpc-1", "vpc-2"}, orphansNow()[0].Evidence, "what is seen after the count is an orphan")
}

func TestARoundThatFindsAnotherOneComesBackSoThatItsNewsIsNotLost(t *testing.T) {
	h := scanning(t, "123456789012")
	for kind, args := range map[string]river.JobArgs{
		"run scans": queue.RunScansArgs{News: "opened"}, "cleanup": queue.CleanupArgs{News: "decided"}, "remove": queue.RemoveArgs{News: "released"},
	} {
		ran, err := h.store.Alone(h.ctx, kind, func(context.Context) error {
			require.Equal(t, time.Second, h.snoozes(args, h.now()), kind)
			return nil
		})
		require.NoError(t, err)
		require.True(t, ran)
	}
	_, err := h.store.Scans.InTurn(h.ctx)
	require.ErrorIs(t, err, db.ErrNotFound, "the round that waits opened nothing")
	require.NotEmpty(t, h.run().ID, "and the one that comes back does")
}

func TestWhatAScanSawOfALivingClusterWithoutItsTagsGetsThem(t *testing.T) {
	t.Parallel()
	h := scanning(t, "123456789012")
	row := h.scalable("shop")
	h.pass(time.Hour)
	tags := map[string]string{tagkey.Installation: "test", tagkey.ClusterID: row.ID, tagkey.ManagedBy: tagkey.ControlPlaneName}
	group := contract.SeenResource{ID: "group-1", Type: "resource-group", Name: "shop-abcde"}
	tagged := contract.SeenResource{ID: "vpc-1", Type: "vpc", Name: "shop-abcde-vpc", Tags: tags, TaggedLater: true}
	bare := contract.SeenResource{ID: "vol-1", Type: "volume", Name: "pvc-1", Within: group.ID, TaggedLater: true}
	record := contract.SeenResource{ID: "record-1", Type: "record", Within: group.ID}
	stray := contract.SeenResource{ID: "vol-2", Type: "volume", TaggedLater: true}

	h.looks(h.run(), "us-south/vpc", group, tagged, record, stray)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded"}, h.attempts(row.ID), "everything that can have its tags has them; records have none, and what is nobody's gets none")
	h.pass(6 * time.Minute)
	wanted, err := h.Accounts.Wanted(h.ctx)
	require.NoError(t, err)
	_, _, err = h.store.Scans.Open(h.ctx, wanted[0], clusters.Origin{Actor: "saml:ada"})
	require.NoError(t, err)
	h.looks(h.run(), "us-south/vpc", group, tagged, bare, record, stray)
	h.reconcile(row.ID)
	require.Equal(t, []string{"create succeeded", "tag open"}, h.attempts(row.ID))
	open := h.open(row.ID)
	require.Equal(t, lifecycle.Tag, open.Kind)
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number})
	_, err = h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	h.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Message: "1 resource got the cluster's tags"})
	require.Equal(t, []string{"create succeeded", "tag succeeded"}, h.attempts(row.ID))
}

package pools_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// pooled has a cluster wait in a pool, which paid a dollar an hour for two hours.
func pooled(t *testing.T, s *store.Store, clock *storetest.Clock, name string) clusters.Row {
	t.Helper()
	return pooledOf(t, s, clock, inPool(name))
}

func inPool(name string) store.Judgement {
	g := storetest.Granted(name)
	g.Row.Owner, g.Row.Team, g.Row.RequestedBy, g.Row.Source = "platform", "infra", "pool:ready", "pool"
	g.Row.Pool, g.Row.Pooled, g.Row.PoolDigest, g.Row.HourlyCents, g.Row.TTL, g.MaxTTL = "ready", true, "d1", 100, 48*time.Hour, 72*time.Hour
	g.Row.Tags = map[string]string{"Owner": "platform", "ClusterId": "clu_" + name, "ClusterName": name}
	return g
}

func pooledOf(t *testing.T, s *store.Store, clock *storetest.Clock, g store.Judgement) clusters.Row {
	t.Helper()
	name, row := g.Row.Name, storetest.Accept(t, s, g)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+name)
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	clock.Pass(40 * time.Minute)
	storetest.Ready(t, s, row, open, name+"-abcde")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET work = work - 'configure' WHERE id = $1`, row.ID) // its add-ons are there
	require.NoError(t, err)
	clock.Pass(80 * time.Minute)
	return storetest.Read(t, s, row.ID)
}

// request asks for a cluster that may come from the pool.
func request(number int) (store.Ask, store.Judgement) {
	g := storetest.FromPR(storetest.Granted(fmt.Sprintf("shop-pr-%d", number)), number)
	g.Pools = []pools.Candidate{{Pool: "empty"}, {Pool: "ready", Lifetime: 3 * time.Hour}}
	ask := storetest.Requests(g)
	ask.Claims = true
	return ask, g
}

func judge(t testing.TB, s *store.Store, ask store.Ask, g store.Judgement) store.Judged {
	t.Helper()
	out, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
	require.NoError(t, err)
	return out
}

func TestARequestTakesAWaitingClusterThatFits(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	require.Empty(t, storetest.Announced(t, s), "nobody waited for it")

	ask, g := request(41)
	g.Verdict = []byte(`{"allowed":true,"checks":[{"name":"pool"}]}`)
	g.Answer = func(row clusters.Row) *clusters.Reply {
		return &clusters.Reply{Cause: "comment:1", Installation: 5001, Repo: "acme/shop", Number: 41, Body: row.Name + " is yours"}
	}
	g.Reply, g.Row.Priority = g.Answer(g.Row), 50
	made := judge(t, s, ask, g).Row
	require.Equal(t, waits.ID, made.ID)
	verdict, err := s.Verdict(t.Context(), made.ID)
	require.NoError(t, err)
	require.JSONEq(t, string(g.Verdict), string(verdict), "on the claim, and not on the pool's request")
	require.Equal(t, "ready-1 is yours", storetest.Text(t, s, `SELECT body FROM replies`))
	require.Equal(t, "ready-1", made.Name, "it keeps its name")
	require.Equal(t, []string{"maya", "acme/platform", "github:maya", "pr_label"}, []string{made.Owner, made.Team, made.RequestedBy, made.Source})
	require.Equal(t, 41, made.PR.Number)
	require.Equal(t, 50, made.Priority, "as its request's")
	require.False(t, made.Pooled)
	require.False(t, made.Usable())
	require.Equal(t, clock.Now(), made.ClaimedAt.UTC())
	require.Equal(t, 40*time.Minute, made.WaitSpared)
	require.Equal(t, clock.Now().Add(3*time.Hour), made.Ends.DestroyAt().UTC(), "the pool's claims end first")
	require.Equal(t, map[string]string{"Owner": "maya", "ClusterId": "clu_ready-1", "ClusterName": "ready-1", "InstallationId": ""}, made.Tags)
	require.Zero(t, made.Meter.Spent(clock.Now()))
	require.Len(t, storetest.PlacesOf(t, s, made.ID), 4, "comment, check, deployment and label show it")

	d := storetest.Step(t, s, made.ID)
	require.Equal(t, lifecycle.Prepare, d.Open)
	require.Equal(t, lifecycle.Preparing, d.Next.Phase)
	open, err := s.Attempts.OpenAttempt(t.Context(), made.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	clock.Pass(4 * time.Second)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	ready := storetest.Settled(t, s, made.ID)
	require.True(t, ready.Usable())
	require.Equal(t, 4*time.Second, ready.ReadyAt.Sub(ready.ClaimedAt))
	require.Equal(t, []string{made.ID + ":ready"}, storetest.Announced(t, s))

	ask, g = request(42)
	require.NotEqual(t, waits.ID, judge(t, s, ask, g).Row.ID, "nothing waits any more")
}

// A release before this one let the pool's team use and share what waits.
func TestAClaimEndsWhatOthersHoldOfTheCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	storetest.WantsAccess(t, s, waits.ID, storetest.Wants(access.RoleEdit))
	share := people.Share{Kind: "team", Grantee: "tools", Access: "use", Role: "admin"}
	require.NoError(t, s.People.Share(t.Context(), waits.ID, share, clusters.Origin{Actor: "saml:ann"}))
	ask, g := request(41)
	require.Equal(t, waits.ID, judge(t, s, ask, g).Row.ID)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM access WHERE revoked_at IS NULL`))
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM shares`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'access.revoked' AND target_cluster_id = $1`, waits.ID))
}

// What waits is ready, whatever keeps new clusters from its region.
func TestAClaimTakesWhatWaitsInTheRegionThatGetsNoNewCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	ask, g := request(41)
	g.Row.Region = "us-east-2"
	require.NotEqual(t, waits.ID, judge(t, s, ask, g).Row.ID, "it was asked for elsewhere")
	ask, g = request(42)
	g.Row.Region, g.Regions = "us-east-2", []string{"us-east-1"}
	made := judge(t, s, ask, g).Row
	require.Equal(t, []string{waits.ID, "us-east-1"}, []string{made.ID, made.Region})
}

// withAddons asks for add-ons, whose manifests have the values of the cluster that gets them.
func withAddons(g store.Judgement, names ...string) store.Judgement {
	g.AddonsOf = func(name, baseDomain, region string) (all []clusters.Addon, err error) {
		for _, addon := range names {
			all = append(all, clusters.Addon{Name: addon, Manifests: addon + " of " + name + "." + baseDomain + " in " + region})
		}
		return all, nil
	}
	g.Addons, _ = g.AddonsOf(g.Row.Name, g.Row.BaseDomain, g.Row.Region)
	return g
}

func TestAClaimAddsTheAddonsThatTheClusterLacks(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	has := func(name string, addons ...string) clusters.Row {
		return pooledOf(t, s, clock, withAddons(inPool(name), addons...))
	}
	one := has("ready-1", "logging")
	both := has("ready-2", "logging", "gitops")

	ask, g := request(41)
	require.NotContains(t, []string{one.ID, both.ID}, judge(t, s, ask, withAddons(g, "gitops")).Row.ID, "nothing is taken out of a cluster")
	ask, g = request(42)
	made := judge(t, s, ask, withAddons(g, "gitops", "logging")).Row
	require.Equal(t, both.ID, made.ID, "of those that fit, one that lacks none")
	require.False(t, made.Work[lifecycle.Configure].IsRequested())

	ask, g = request(43)
	made = judge(t, s, ask, withAddons(g, "gitops", "logging", "mesh")).Row
	require.Equal(t, one.ID, made.ID)
	require.Equal(t, []string{"logging", "gitops", "mesh"}, made.Addons)
	require.True(t, made.Work[lifecycle.Configure].IsRequested())
	require.Equal(t, lifecycle.Prepare, storetest.Step(t, s, made.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), made.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
	require.NoError(t, err)
	require.Equal(t, "mesh of ready-1.labs.example.com in us-east-1", spec.Addons[2].Manifests, "by its own name")
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Addons: new(3)})
	require.NoError(t, err)
	ready := storetest.Settled(t, s, made.ID)
	require.True(t, ready.Usable())
	require.False(t, ready.Work[lifecycle.Configure].IsRequested())
}

func TestWhatWaitingCostsStaysThePools(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	from := clock.Now()
	pooled(t, s, clock, "ready-1")
	spent := func(person, team string) (int64, int64) {
		u, err := s.Usage(t.Context(), usage.Scope{Person: person, Team: team})
		require.NoError(t, err)
		return u.Person.SpentCents, u.Team.SpentCents
	}
	person, team := spent("pool:ready", "infra")
	require.Equal(t, []int64{200, 200}, []int64{person, team})

	ask, g := request(41)
	judge(t, s, ask, g)
	clock.Pass(time.Hour)
	person, team = spent("pool:ready", "infra")
	require.Equal(t, []int64{200, 200}, []int64{person, team})
	person, team = spent("github:maya", "acme/platform")
	require.Equal(t, []int64{100, 100}, []int64{person, team})
	wrong, err := s.CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)

	lines, err := s.Reports.UsageReport(t.Context(), reports.ReportFilter{From: from, To: clock.Now(), By: "team"})
	require.NoError(t, err)
	require.Len(t, lines, 2)
	require.Equal(t, "infra", lines[0].Key)
	require.Equal(t, int64(200), lines[0].Cents)
	require.Equal(t, "acme/platform", lines[1].Key)
	require.Equal(t, int64(100), lines[1].Cents)
}

func TestAClaimWaitsForAClusterThatIsBeingChanged(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	locked, changed := make(chan struct{}), make(chan error, 1)
	go func() {
		changed <- s.Write(t.Context(), func(c *db.Tx) error {
			_, err := clusters.Lock(t.Context(), c, waits.ID)
			close(locked)
			time.Sleep(400 * time.Millisecond)
			return err
		})
	}()
	<-locked
	ask, g := request(41)
	require.Equal(t, waits.ID, judge(t, s, ask, g).Row.ID)
	require.NoError(t, <-changed)
}

func TestNoClusterIsClaimedTwice(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	const waiting, callers = 3, 12
	for i := range waiting {
		pooled(t, s, clock, fmt.Sprintf("ready-%d", i))
	}
	var all sync.WaitGroup
	got := make([]clusters.Row, callers)
	for i := range callers {
		all.Go(func() {
			ask, g := request(50 + i)
			ask.Scope.Team, g.Row.Team = fmt.Sprintf("team-%d", i), fmt.Sprintf("team-%d", i) // no lock of a team keeps them apart
			ask.Scope.Person, ask.Principal, g.Row.RequestedBy = fmt.Sprintf("github:p%d", i), fmt.Sprintf("github:p%d", i), fmt.Sprintf("github:p%d", i)
			out, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
			if err == nil {
				got[i] = out.Row
			}
		})
	}
	all.Wait()
	ids, claimed := map[string]bool{}, 0
	for _, row := range got {
		require.NotEmpty(t, row.ID)
		require.False(t, ids[row.ID], "%s has two owners", row.Name)
		ids[row.ID] = true
		if !row.ClaimedAt.IsZero() {
			claimed++
		}
	}
	require.Equal(t, waiting, claimed)
}

func TestWhatDoesNotFitOrHasToWaitIsMadeAnew(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	for name, change := range map[string]func(*store.Judgement){
		"another version": func(g *store.Judgement) { g.Row.Release = "4.20.2" },
		"another region":  func(g *store.Judgement) { g.Row.Region = "us-west-2" },
		"an approval": func(g *store.Judgement) {
			g.Approval = &store.ApprovalAsk{Why: []string{"x"}, Needs: 1, For: time.Hour, By: "platform_admin", Asked: strings.Repeat("a", 64), Head: g.Row.PR.Head}
		},
		"a full quota": func(g *store.Judgement) { g.Turn = &store.TurnAsk{Words: "full"} },
		"no pool":      func(g *store.Judgement) { g.Pools = nil },
	} {
		ask, g := request(len(name) + 100)
		change(&g)
		made := judge(t, s, ask, g).Row
		require.NotEqual(t, waits.ID, made.ID, name)
		require.Zero(t, made.ClaimedAt, name)
	}
}

func TestAnAdminsWordAboutAPoolIsKeptWithAnAuditLine(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	by := clusters.Origin{Actor: "saml:will", Name: "Will", Source: "api", Why: "a trial"}
	require.NoError(t, s.Pools.Change(t.Context(), "ready", by, func(p *pools.Settings) { p.Paused, p.Size = true, new(5) }))
	require.NoError(t, s.Pools.Change(t.Context(), "ready", by, func(p *pools.Settings) { p.Paused = false }))
	all, err := s.Pools.Settings(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, *all["ready"].Size)
	require.False(t, all["ready"].Paused)
	require.Equal(t, "Will", all["ready"].ChangedBy)
	line, _ := storetest.Said(t, s, "pool_changed")
	require.Equal(t, "saml:will", line.Actor)
}

func TestARefusalOfThePoolsNextRequestIsFound(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	refused := storetest.Refusal("the quota is full")
	_, err := s.Judge(t.Context(), store.Ask{Principal: "pool:ready", Source: "pool", Key: "pool:ready#1"}, func(usage.Usage) (store.Judgement, error) { return refused, nil })
	require.NoError(t, err)
	verdict, err := s.Pools.Refused(t.Context(), "pool:ready", "pool:ready#1")
	require.NoError(t, err)
	require.JSONEq(t, string(refused.Verdict), string(verdict))
	verdict, err = s.Pools.Refused(t.Context(), "pool:ready", "pool:ready#2")
	require.NoError(t, err)
	require.Empty(t, verdict)
}

// A claim and a drain of the claimant's team do not miss each other: whichever comes second sees the first.
func TestAClusterThatIsClaimedDuringADrainOfItsTeamEndsByIt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for i := range 6 {
		pooled(t, s, clock, fmt.Sprintf("ready-%d", i))
		ask, g := request(41 + i)
		var made store.Judged
		var both sync.WaitGroup
		both.Go(func() { made = judge(t, s, ask, g) })
		both.Go(func() {
			_, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Team: g.Row.Team}, 3*time.Hour, &brakes.Drain{In: 2 * time.Hour}, storetest.Maya("an outage"))
			require.NoError(t, err)
		})
		both.Wait()
		if row := storetest.Read(t, s, made.Row.ID); !row.ClaimedAt.IsZero() {
			require.NotZero(t, row.Ends.Drain)
		}
		_, err := s.Brakes.Thaw(t.Context(), "", storetest.Maya("over"))
		require.NoError(t, err)
	}
	pooled(t, s, clock, "ready-6")
	ask, g := request(47)
	require.NotZero(t, storetest.Read(t, s, judge(t, s, ask, g).Row.ID).ClaimedAt, "without a drain it is claimed")
}

func TestNobodyClaimsWhatADrainEnds(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	for i, where := range []lifecycle.Place{{Region: "us-east-1"}, {Team: "acme/platform"}, {Team: "infra"}} {
		brake, err := s.Brakes.Freeze(t.Context(), where, 3*time.Hour, &brakes.Drain{}, storetest.Maya("an outage"))
		require.NoError(t, err)
		ask, g := request(41 + i)
		require.NotEqual(t, waits.ID, judge(t, s, ask, g).Row.ID, "of a team that is drained, too, or from one")
		_, err = s.Brakes.Thaw(t.Context(), brake.ID, storetest.Maya("over"))
		require.NoError(t, err)
	}
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET end_drain = $2, drain_why = '{"code":"drain"}' WHERE id = $1`, waits.ID, clock.Now())
	require.NoError(t, err)
	ask, g := request(44)
	require.NotEqual(t, waits.ID, judge(t, s, ask, g).Row.ID, "its end has come, whatever holds now")
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET end_drain = NULL, drain_why = '{}' WHERE id = $1`, waits.ID)
	require.NoError(t, err)
	ask, g = request(45)
	require.Equal(t, waits.ID, judge(t, s, ask, g).Row.ID)
}

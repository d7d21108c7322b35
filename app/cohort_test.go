package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// inCohort is a fixture with a cohort of teams that are guaranteed so much, and may borrow so much more.
func inCohort(t *testing.T, own map[string]int, borrow int) *servicetest.Fixture {
	files, quotas := map[string]string{}, "quotas:\n"
	for team, live := range own {
		files["teams/"+team+".yaml"] = "name: " + team + "\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\ncohort: payments\n"
		quotas += fmt.Sprintf("  - {name: %s, scope: team, match: [%s], live: %d, borrow: %d}\n", team, team, live, borrow)
	}
	files["quotas/quotas.yaml"] = quotas
	return servicetest.With(t, servicetest.Catalogue(t, files))
}

func of(team string) policy.Principal {
	return policy.As("saml:"+team+"@acme.example", team, policy.Requester, team)
}

func asksFor(team, name string) app.CreateRequest {
	return app.CreateRequest{Source: policy.SourceAPI, Name: name, Team: team, Profile: servicetest.Profile, CostCenter: "sandbox", Environment: "test"}
}

func creates(h *servicetest.Fixture, team, name string) app.Created {
	h.Helper()
	made, err := h.Service.Create(h.Context(), of(team), asksFor(team, name))
	require.NoError(h, err)
	require.NotEmpty(h, made.Row.ID, "%v", made.Verdict.Refusals())
	return made
}

// takesTurns gives turns until nobody gets one.
func takesTurns(t *testing.T, s *store.Store) {
	t.Helper()
	for {
		n, err := s.Turns(t.Context())
		require.NoError(t, err)
		if n == 0 {
			return
		}
	}
}

func TestABorrowedPlaceIsAskedBackAndNothingIsEndedForIt(t *testing.T) {
	h := inCohort(t, map[string]int{"bank": 2, "shop": 2}, 2)
	first := creates(h, "bank", "b1")
	creates(h, "bank", "b2")
	preview, err := h.Service.DryRun(t.Context(), of("bank"), asksFor("bank", "b3"))
	require.NoError(t, err)
	borrowed := creates(h, "bank", "b3")
	for _, v := range []policy.Verdict{preview.Verdict, borrowed.Verdict} {
		require.Equal(t, "1 over the quota of team bank: borrowed from the cohort payments, which has 2 of 4 free.", v.Warnings()[0].Message)
	}
	creates(h, "shop", "s1")
	_, err = h.Service.Extend(t.Context(), of("bank"), borrowed.Row.ID, app.Span{For: time.Hour}, byWeb)
	require.NoError(t, err, "nobody waits")

	back := creates(h, "shop", "s2")
	require.Equal(t, 1, back.Position(), "it is within its quota, and others have its place")
	require.Equal(t, 2, creates(h, "bank", "b4").Position())
	takesTurns(t, h.Store)
	_, facts, err := h.Store.Load(t.Context(), back.Row.ID)
	require.NoError(t, err)
	require.Regexp(t, `^the teams of cohort payments may have 4 clusters live at once together; team shop is within its quota of 2 and comes first; team bank uses 1 beyond its quota, its first cluster ends at 20`, facts.Turn.For)
	require.Equal(t, 1, facts.Turn.Position)

	const refusal = "b3 cannot be %s: It is borrowed from the cohort payments: team bank has 3 clusters and a quota of 2. Team shop waits for one of its own quota, of which it has 1 of 2. Destroy another cluster of team bank, or ask again when team shop has its cluster."
	_, err = h.Service.Extend(t.Context(), of("bank"), borrowed.Row.ID, app.Span{For: time.Hour}, byWeb)
	require.EqualError(t, err, fmt.Sprintf(refusal, "extended"))
	require.Equal(t, app.Conflict, app.KindOf(err))
	_, err = h.Service.Hold(t.Context(), of("bank"), borrowed.Row.ID, app.Span{For: 60 * time.Hour}, byWeb)
	require.EqualError(t, err, fmt.Sprintf(refusal, "held so long"))
	_, err = h.Service.Extend(t.Context(), of("bank"), first.Row.ID, app.Span{For: time.Hour}, byWeb)
	require.NoError(t, err, "the team's older clusters are its own")

	quotas, err := h.Service.Quotas(t.Context(), of("shop"))
	require.NoError(t, err)
	require.Len(t, quotas, 1)
	require.Equal(t, []int{1, 1, 0, 1}, []int{quotas[0].Used.Live, quotas[0].Used.Waiting, quotas[0].Cohort.CountBorrowed(), quotas[0].Cohort.CountLent()})
	quotas, err = h.Service.Quotas(t.Context(), of("bank"))
	require.NoError(t, err)
	require.Equal(t, []int{3, 4, 1, 0}, []int{quotas[0].Used.Live, quotas[0].MostLive(), quotas[0].Cohort.CountBorrowed(), quotas[0].Cohort.CountLent()})

	h.Release(first.Row)
	takesTurns(t, h.Store)
	row, err := h.Store.Cluster(t.Context(), back.Row.ID)
	require.NoError(t, err)
	require.False(t, row.NeedsTurn)
	_, err = h.Service.Extend(t.Context(), of("bank"), borrowed.Row.ID, app.Span{For: time.Hour}, byWeb)
	require.NoError(t, err, "it is the team's own since an older one ended")
}

func TestATransferIsJudgedByTheCohortToo(t *testing.T) {
	h := inCohort(t, map[string]int{"bank": 1, "shop": 1}, 1)
	both := policy.As("saml:zoe@acme.example", "zoe", policy.Requester, "bank", "shop")
	first := creates(h, "bank", "b1")
	creates(h, "bank", "b2")
	waits := creates(h, "bank", "b3")
	require.Equal(t, 1, waits.Position())
	_, err := h.Service.Transfer(t.Context(), both, waits.Row.ID, "shop", "", byWeb)
	require.NoError(t, err, "it brings no place and takes none")
	takesTurns(t, h.Store)
	_, facts, err := h.Store.Load(t.Context(), waits.Row.ID)
	require.NoError(t, err)
	require.Contains(t, facts.Turn.For, "team shop is within its quota of 1 and comes first")
	h.Release(first.Row)
	takesTurns(t, h.Store)
	require.Equal(t, []string{"b3"}, h.Query(`SELECT name FROM clusters WHERE team = 'shop' AND NOT needs_turn`))
}

// crowd is what many do at once in a cohort, by two servers.
type crowd struct {
	*servicetest.Fixture
	stores   []*store.Store
	services []servicetest.Services
	own      map[string]int
	sum      int
	accepted atomic.Int64
}

func newCrowd(t *testing.T) *crowd {
	own := map[string]int{"bank": 4, "shop": 3, "web": 3}
	c := &crowd{Fixture: inCohort(t, own, 7), own: own, sum: 10}
	config := c.Config()
	config.Store = servicetest.Store(t, c.URL)
	c.stores, c.services = []*store.Store{c.Store, config.Store}, []servicetest.Services{c.Service, servicetest.Wire(config)}
	return c
}

// ends has a cluster released that was never begun, whether it waits or not.
func (c *crowd) ends(ctx context.Context, at *store.Store, id string) error {
	if _, err := at.Destroy(ctx, id, clusters.Origin{Actor: "saml:ada", Why: "enough"}); err != nil {
		return err
	}
	row, facts, err := at.Load(ctx, id)
	if err == nil {
		err = at.Apply(ctx, lifecycle.Decide(row, facts, servicetest.Limits()), row.Version)
	}
	return err
}

type teamUse struct{ live, waiting int }

func (c *crowd) uses(t *testing.T) (all int, teams map[string]teamUse) {
	rows, err := c.Store.Pool().Query(t.Context(), `SELECT team, count(*) FILTER (WHERE NOT needs_turn), count(*) FILTER (WHERE needs_turn AND desired = 'present') FROM clusters WHERE destroyed_at IS NULL GROUP BY 1`)
	require.NoError(t, err)
	teams = map[string]teamUse{}
	for rows.Next() {
		var team string
		var use teamUse
		require.NoError(t, rows.Scan(&team, &use.live, &use.waiting))
		teams[team], all = use, all+use.live
	}
	require.NoError(t, rows.Err())
	return all, teams
}

// owed returns the teams that wait and have less than they are guaranteed.
func (c *crowd) owed(teams map[string]teamUse) (names []string) {
	for team, use := range teams {
		if use.waiting > 0 && use.live < c.own[team] {
			names = append(names, team)
		}
	}
	return names
}

// Two hundred requests of three teams come at once to two servers, some callers go away meanwhile, and clusters end all the time. The sum is never
// passed; whoever is owed a place gets the next one; and in the end everybody who still wants a cluster has had a turn.
func TestACohortHoldsUnderAStorm(t *testing.T) {
	c := newCrowd(t)
	ctx, stop := context.WithCancel(t.Context())
	var asking, others sync.WaitGroup
	names := []string{"bank", "shop", "web"}
	work := make(chan int)
	for range 16 {
		asking.Go(func() {
			for n := range work {
				r := rand.New(rand.NewPCG(7, uint64(n)))
				team, at := names[r.IntN(3)], c.services[n%2]
				asked, leave := context.WithCancel(ctx)
				if n%10 == 0 { // the caller goes away
					time.AfterFunc(time.Duration(r.IntN(20))*time.Millisecond, leave)
				}
				made, err := at.Create(asked, of(team), asksFor(team, fmt.Sprintf("c%d", n)))
				if n%10 > 0 && (err != nil || made.Row.ID == "" && made.Verdict.Allowed) {
					t.Errorf("request %d: %v", n, err)
				}
				if err == nil && made.Row.ID != "" {
					c.accepted.Add(1)
				}
				leave()
			}
		})
	}
	for i := range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.stores[i].Turns(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("give turns: %v", err)
				}
			}
		})
	}
	others.Go(func() { // clusters end, and some give up waiting
		for ctx.Err() == nil {
			var id string
			if c.Store.Pool().QueryRow(ctx, `SELECT id FROM clusters WHERE desired = 'present' ORDER BY random() LIMIT 1`).Scan(&id) == nil {
				_ = c.ends(ctx, c.stores[1], id) // another change of it may come first
			}
		}
	})
	others.Go(func() {
		for ctx.Err() == nil {
			if all, err := countTogether(ctx, c.Store); err == nil && all > c.sum {
				t.Errorf("%d clusters of %d", all, c.sum)
			}
		}
	})
	for n := range 200 {
		work <- n
	}
	close(work)
	asking.Wait()
	stop()
	others.Wait()
	require.Greater(t, c.accepted.Load(), int64(150))
	c.drain(t)
}

func countTogether(ctx context.Context, s *store.Store) (n int, err error) {
	err = s.Pool().QueryRow(ctx, `SELECT count(*) FROM clusters WHERE destroyed_at IS NULL AND NOT needs_turn`).Scan(&n)
	return n, err
}

// drain ends one cluster after the other until nobody waits.
func (c *crowd) drain(t *testing.T) {
	for _, id := range c.Query(`SELECT id FROM clusters WHERE desired = 'absent' AND destroyed_at IS NULL`) { // decided on too early
		require.NoError(t, c.ends(t.Context(), c.Store, id))
	}
	for {
		takesTurns(t, c.Store)
		all, teams := c.uses(t)
		require.LessOrEqual(t, all, c.sum)
		owed := c.owed(teams)
		if len(owed) > 0 {
			require.Equal(t, c.sum, all, "%v wait for their own while a place is free: %v", owed, teams)
		}
		waiting := 0
		for _, use := range teams {
			waiting += use.waiting
		}
		if waiting == 0 {
			break
		}
		require.NoError(t, c.ends(t.Context(), c.Store, c.Query(`SELECT id FROM clusters WHERE destroyed_at IS NULL AND NOT needs_turn ORDER BY random() LIMIT 1`)[0]))
		_, before := c.uses(t)
		owed = c.owed(before)
		n, err := c.Store.Turns(t.Context())
		require.NoError(t, err)
		_, after := c.uses(t)
		if len(owed) > 0 {
			require.Equal(t, 1, n)
			require.True(t, func() bool {
				for _, team := range owed {
					if after[team].live > before[team].live {
						return true
					}
				}
				return false
			}(), "%v are owed a place, and another got it: %v, %v", owed, before, after)
		}
	}
	require.Empty(t, c.Query(`SELECT id FROM clusters WHERE needs_turn AND desired = 'present'`))
	require.Empty(t, c.Query(`SELECT cluster_id FROM turns`))
}

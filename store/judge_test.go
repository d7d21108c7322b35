package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// once makes a request a request that may be sent again.
func once(ask store.Ask, key, body string) store.Ask {
	ask.Source, ask.Once = "api", &store.Once{Key: key, Request: strings.Repeat(body, 64), Keep: time.Hour}
	return ask
}

// together runs do n times at once.
func together(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

func TestFiftyWishesAtOnceNeverPassAQuotaOfThree(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	errs := make([]error, 50)
	together(len(errs), func(i int) {
		a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("shop-%d", i)), fmt.Sprintf("github:user%d", i))
		_, errs[i] = s.Judge(t.Context(), storetest.Requests(a), storetest.AtMost(3, false, a))
	})
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM clusters`))
	require.Equal(t, 3, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE allowed`))
	require.Equal(t, 47, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE NOT allowed`))
	require.Equal(t, 47, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'refused'`))
}

func TestTheSameRequestSentFiftyTimesMakesOneClusterAndOneResult(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.New(t), storetest.NewClock()
	options := db.Options{Limits: storetest.Limits, Lease: time.Minute, Now: clock.Now}
	replicas := []*store.Store{storetest.OpenAt(t, url, options), storetest.OpenAt(t, url, options)}
	a := storetest.Granted("shop")
	ask := once(storetest.Requests(a), "key-1", "a")
	ids, errs := make([]string, 50), make([]error, 50)
	together(len(errs), func(i int) {
		judged, err := replicas[i%2].Judge(t.Context(), ask, storetest.AtMost(3, false, a))
		ids[i], errs[i] = judged.Row.ID, err
	})
	require.NoError(t, errors.Join(errs...))
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.NotEmpty(t, ids[0])
	require.Equal(t, 1, storetest.Count(t, replicas[0], `SELECT count(*) FROM clusters`))
	require.Equal(t, 1, storetest.Count(t, replicas[0], `SELECT count(*) FROM request_keys`))

	restarted := storetest.OpenAt(t, url, options)
	again, err := restarted.Judge(t.Context(), ask, mustNotJudge(t))
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, ids[0], again.Row.ID)
	require.JSONEq(t, string(a.Verdict), string(again.Verdict))
}

func mustNotJudge(t *testing.T) func(usage.Usage) (store.Judgement, error) {
	return func(usage.Usage) (store.Judgement, error) {
		t.Error("judged again")
		return store.Judgement{}, errors.New("judged again")
	}
}

func TestAKeyIsForOneRequestOfOnePrincipalForAWhile(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	a := storetest.Granted("shop")
	first, err := s.Judge(t.Context(), once(storetest.Requests(a), "key-1", "a"), storetest.AtMost(3, false, a))
	require.NoError(t, err)
	_, err = s.Judge(t.Context(), once(storetest.Requests(a), "key-1", "b"), mustNotJudge(t))
	require.ErrorIs(t, err, db.ErrKeyReused)

	other := storetest.RequestedBy(storetest.Granted("shop-2"), "github:will")
	theirs, err := s.Judge(t.Context(), once(storetest.Requests(other), "key-1", "b"), storetest.AtMost(3, false, other))
	require.NoError(t, err)
	require.NotEqual(t, first.Row.ID, theirs.Row.ID, "a key belongs to its principal")

	clock.Pass(time.Hour)
	later := storetest.Granted("shop-3")
	third, err := s.Judge(t.Context(), once(storetest.Requests(later), "key-1", "b"), storetest.AtMost(3, false, later))
	require.NoError(t, err)
	require.False(t, third.Replayed, "the key expired")
	again, err := s.Judge(t.Context(), once(storetest.Requests(later), "key-1", "b"), mustNotJudge(t))
	require.NoError(t, err)
	require.Equal(t, third.Row.ID, again.Row.ID)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM request_keys`))

	clock.Pass(time.Hour)
	n, err := s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM request_keys`))
}

func TestARefusalIsReplayedThoughThereWouldBeRoomByNow(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Accept(t, s, storetest.Granted("first"))
	a := storetest.Granted("shop")
	ask := once(storetest.Requests(a), "key-1", "a")
	refused, err := s.Judge(t.Context(), ask, storetest.AtMost(1, false, a))
	require.NoError(t, err)
	require.False(t, refused.Allowed)
	again, err := s.Judge(t.Context(), ask, mustNotJudge(t))
	require.NoError(t, err)
	require.False(t, again.Allowed)
	require.True(t, again.Replayed)
	require.JSONEq(t, string(refused.Verdict), string(again.Verdict))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM cluster_requests WHERE NOT allowed`))
}

func TestWhateverFailsAfterTheJudgementLeavesNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("shop")
	a.Approval = &store.ApprovalAsk{Why: []string{"it is dear"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("a", 64)}
	ask := once(storetest.Requests(a), "key-1", "a")
	for name, fail := range map[string]func(context.CancelFunc) error{
		"it cannot be judged":         func(context.CancelFunc) error { return errors.New("no") },
		"the caller went away":        func(cancel context.CancelFunc) error { cancel(); return nil },
		"the session was ended":       func(context.CancelFunc) error { return endSessions(s) },
		"the session ended unnoticed": func(context.CancelFunc) error { _ = endSessions(s); return nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Judge(ctx, ask, func(u usage.Usage) (store.Judgement, error) {
			if err := fail(cancel); err != nil {
				return store.Judgement{}, err
			}
			return storetest.AtMost(3, false, a)(u)
		})
		cancel()
		require.Error(t, err, name)
		for _, table := range []string{"clusters", "cluster_requests", "jobs", "approvals", "turns", "request_keys", "audit_events", "usage_samples", "river_job"} {
			require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM `+table), "%s: %s", name, table)
		}
	}
	judged, err := s.Judge(t.Context(), ask, storetest.AtMost(3, false, a))
	require.NoError(t, err)
	require.True(t, judged.Allowed, "and the next attempt is judged anew")
}

func TestARepeatedRequestIsToldOfItsApprovalAndItsTurn(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Accept(t, s, storetest.Granted("first"))
	a := storetest.Granted("shop")
	a.Approval = &store.ApprovalAsk{Why: []string{"it is dear"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("a", 64), ID: db.NewID("apr")}
	ask := once(storetest.Requests(a), "key-1", "a")
	made, err := s.Judge(t.Context(), ask, storetest.AtMost(1, true, a))
	require.NoError(t, err)
	again, err := s.Judge(t.Context(), ask, mustNotJudge(t))
	require.NoError(t, err)
	require.Equal(t, made.Row, again.Row)
	require.Equal(t, a.Approval.ID, again.Approval.ID)
	require.Equal(t, []any{made.Turn.Words, made.Turn.Position}, []any{again.Turn.Words, again.Turn.Position})
}

// endSessions ends everybody's sessions in the middle of a transaction.
func endSessions(s *store.Store) error {
	_, err := s.Pool().Exec(context.Background(), `
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle in transaction'`)
	return err
}

func TestAWishIsWrittenOnlyForWhomItWasCounted(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.FromPR(storetest.Granted("shop"), 41)
	for _, scope := range []usage.Scope{
		{}, {Person: a.Row.RequestedBy, Team: a.Row.Team}, {Person: a.Row.RequestedBy, Team: "other", Repo: "acme/shop"}, {Person: "github:will", Team: a.Row.Team, Repo: "acme/shop"},
	} {
		ask := storetest.Requests(a)
		ask.Scope = scope
		_, err := storetest.Judge(s, ask, a)
		require.ErrorIs(t, err, db.ErrConflict)
		require.ErrorContains(t, err, "counted for")
	}
	for _, j := range []store.Judgement{{}, {Allowed: true}, {Allowed: true, Row: a.Row}, {Allowed: true, Verdict: a.Verdict}, {Row: a.Row, Verdict: a.Verdict}} {
		_, err := s.Judge(t.Context(), storetest.Requests(a), func(usage.Usage) (store.Judgement, error) { return j, nil })
		require.ErrorContains(t, err, "either accepted or refused")
	}
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM clusters`))
}

func TestWhatHasToBeApprovedAndThenTakesItsTurn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	a := storetest.FromPR(storetest.Granted("shop"), 41)
	a.Row.Nodes, a.Row.WorkersBase, a.Row.WorkersLeast, a.Row.WorkersMost = 6, new(3), new(2), new(5)
	a.Approval = &store.ApprovalAsk{
		Why: []string{"the budget is at 90 %"}, Needs: 2, By: "platform_admin", For: 3 * time.Hour, Asked: strings.Repeat("a", 64), Head: "abc123",
	}
	a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{{Quota: "all", Scope: "everywhere", What: "creating", Most: 3}}}
	a.Weight = 2
	row := storetest.Accept(t, s, a)
	require.Equal(t, []any{lifecycle.Pending, lifecycle.AwaitingApproval, true, true}, []any{row.Status, row.Phase, row.NeedsApproval, row.NeedsTurn})
	require.Equal(t, clock.Now().Add(3*time.Hour), row.ApproveBy)
	require.Equal(t, []int{6, 3, 2, 5}, []int{row.Nodes, *row.WorkersBase, *row.WorkersLeast, *row.WorkersMost})
	require.Equal(t, 1, storetest.Count(t, s, `
		SELECT count(*) FROM approvals WHERE cluster_id = $1 AND kind = 'create' AND state = 'pending' AND needs = 2 AND by_role = 'platform_admin'
			AND head = 'abc123' AND requested_by = 'github:maya' AND team = 'acme/platform' AND why = '{the budget is at 90 %}' AND expires_at = $2`,
		row.ID, row.ApproveBy))

	usage, err := s.Usage(t.Context(), storetest.Requests(a).Scope)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 0}, []int{usage.Team.Live, usage.Team.Creating, usage.Team.Waiting}, "who awaits approval has a place and creates nothing")
	n, err := s.Turns(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "it has no turn before it is approved")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM turns`))
}

// Requests over random persons, teams, repositories and everybody, some sent again, beside turns, decisions and teardowns:
// whatever waits for what, nobody waits in a circle.
func TestNobodyWaitsInACircle(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	errs := make([]error, 200)
	together(len(errs), func(i int) {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("c%d", i)), fmt.Sprintf("github:user%d", r.IntN(4)))
		a.Row.Team = fmt.Sprintf("team-%d", r.IntN(3))
		if r.IntN(2) == 0 {
			a = storetest.FromPR(a, i)
			a.Row.PR.Repo = fmt.Sprintf("acme/repo%d", r.IntN(3))
		}
		ask := storetest.Requests(a)
		ask.Scope.Everywhere = r.IntN(2) == 0
		if r.IntN(3) == 0 {
			ask.Key = fmt.Sprintf("desired-%d", r.IntN(5))
		}
		if r.IntN(3) == 0 {
			ask = once(ask, fmt.Sprintf("key-%d", r.IntN(5)), "a")
		}
		judged, err := s.Judge(ctx, ask, storetest.AtMost(5, r.IntN(2) == 0, a))
		if err == nil && judged.Row.ID != "" && r.IntN(2) == 0 {
			_, err = s.Destroy(ctx, judged.Row.ID, clusters.Origin{Actor: "github:maya"})
		}
		if r.IntN(4) == 0 {
			_, turns := s.Turns(ctx)
			err = errors.Join(err, turns)
		}
		errs[i] = err
	})
	require.NoError(t, errors.Join(errs...))
}

func TestAClusterInTheQueueHasItsPositionFromTheBeginning(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.Granted("waits")
	a.Turn = &store.TurnAsk{Words: "full", Position: 3}
	require.Equal(t, 3, storetest.Accept(t, s, a).Position)
}

// The row is made in memory, and not read.
func TestWhatIsReturnedIsWhatIsStored(t *testing.T) {
	t.Parallel()
	odd, workers := 90*time.Minute+time.Nanosecond, 3
	grants := map[string]func(*store.Judgement){
		"plain":        func(*store.Judgement) {},
		"pull request": func(j *store.Judgement) { *j = storetest.FromPR(*j, 7) },
		"approval": func(j *store.Judgement) {
			j.Approval = &store.ApprovalAsk{Why: []string{"cost"}, Needs: 1, By: "requester", For: odd, Asked: strings.Repeat("a", 64)}
		},
		"turn": func(j *store.Judgement) { j.Turn = &store.TurnAsk{Words: "full", Position: 3} },
		"access": func(j *store.Judgement) {
			j.Access = &access.Ask{Reader: "github:maya", ReaderName: "Maya", Role: access.RoleView, Right: access.OwnRight, Lifetime: odd}
		},
		"add-ons": func(j *store.Judgement) {
			j.Addons = []clusters.Addon{{Name: "one", Manifests: "{}"}, {Name: "two", Manifests: "{}"}}
		},
		"shown in Slack": func(j *store.Judgement) { j.Show = &clusters.SlackPlace{Workspace: "T1", Channel: "C1", Person: "U1"} },
		"no tags":        func(j *store.Judgement) { j.Row.Tags, j.UserTags, j.Row.Spec.Zones = nil, nil, nil },
		"empty in a spec": func(j *store.Judgement) {
			j.Row.Spec.Mention, j.Row.Spec.Approvers, j.Row.Spec.Notify = []string{}, []string{}, map[string][]string{}
		},
		"all in a spec": func(j *store.Judgement) {
			j.Row.Spec.Mention, j.Row.Spec.Approvers, j.Row.Spec.OffHoursChosen = []string{"ready"}, []string{"will"}, new(true)
			j.Row.Spec.Notify, j.Row.Spec.Advice, j.Row.Spec.RunGrace = map[string][]string{"C1": {"ready"}}, `a "\ <b>`, odd
		},
		"sleeps": func(j *store.Judgement) {
			j.Row.SleepMode, j.Row.OffHours, j.Row.UseExtends = lifecycle.SleepWorkers, true, true
			j.Row.Idle = lifecycle.Idle{TellAfter: odd, SleepAfter: 2 * odd, EndAfter: 3 * odd}
			j.Row.WarnBefore, j.Row.TTL, j.Row.ListAsleep = []time.Duration{odd, 50 * time.Hour}, odd, new(11)
		},
		"is sized": func(j *store.Judgement) {
			j.Row.Nodes, j.Row.WorkersBase, j.Row.WorkersLeast, j.Row.WorkersMost, j.Row.WorkerMicros = 6, &workers, new(1), new(5), new(100_000)
		},
		"is not as usual": func(j *store.Judgement) {
			j.Row.ID, j.Row.JobID, j.Row.AcceptedAt = db.NewID("clu"), db.NewID("job"), time.Date(2029, 12, 31, 23, 0, 0, 1_999, time.UTC)
			j.Row.Tries, j.Row.WarnedBefore, j.Row.Blockers = 1, odd, []lifecycle.Blocker{{Name: "a disk"}}
		},
	}
	for name, change := range map[string]func(*store.Ask){"in groups": func(*store.Ask) {}, "alone": func(a *store.Ask) { a.Pull = &store.PullAsk{} }} {
		t.Run(name, func(t *testing.T) {
			s, _ := storetest.Open(t)
			var names []string
			var all []store.Judgement
			var asks []store.Ask
			for what, change := range grants {
				j := storetest.Granted(fmt.Sprint("shop-", len(all)))
				change(&j)
				names, all, asks = append(names, what), append(all, j), append(asks, storetest.Requests(j))
			}
			for i := range asks {
				change(&asks[i])
			}
			judged, errs := ask(t, s, asks, func(i int, _ usage.Usage) (store.Judgement, error) { return all[i], nil })
			for i, what := range names {
				require.NoError(t, errs[i], what)
				stored, err := s.Cluster(t.Context(), judged[i].Row.ID)
				require.NoError(t, err)
				require.Equal(t, stored, judged[i].Row, what)
			}
		})
	}
	t.Run("of a run", func(t *testing.T) {
		s, _ := storetest.Open(t)
		bound := storetest.BoundTo(t, s, "shop", storetest.InSlot(1, "blue"))
		require.Equal(t, storetest.Load(t, s, bound.ID), bound)
	})
}

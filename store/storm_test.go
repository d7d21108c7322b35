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

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// What the storm's requests are bound by, all at once.
const (
	stormTeams, stormRepos     = 3, 2
	mostOfTeam, mostOfRepo     = 4, 5
	mostCreating, mostOfPerson = 4, 6
)

// storm is a fixture where everybody does something at once, on two replicas: people, the controller and runners.
type storm struct {
	*testing.T
	replicas []*store.Store
	limits   lifecycle.Limits
	mu       sync.Mutex
	made     int
	ids      []string
	waited   map[string]bool
}

func newStorm(t *testing.T) *storm {
	url, quick := pgtest.New(t), storetest.Limits
	quick.RetryBase, quick.RetryMax, quick.WarnBefore = time.Millisecond, 10*time.Millisecond, time.Second
	quick.Runners = lifecycle.RunnerCaps{All: mostRunners}
	options := db.Options{Limits: quick, Lease: time.Hour}
	return &storm{T: t, replicas: []*store.Store{storetest.OpenAt(t, url, options), storetest.OpenAt(t, url, options)}, limits: quick, waited: map[string]bool{}}
}

// tolerable are the answers that people and runners who do everything at once have to expect.
func tolerable(err error) error {
	for _, known := range []error{db.ErrConflict, db.ErrStale, db.ErrNotFound, store.ErrOwnApproval, db.ErrFenced, db.ErrNameTaken, errFull} {
		if errors.Is(err, known) && !strings.Contains(err.Error(), "SQLSTATE") {
			return nil
		}
	}
	return err
}

var errFull = errors.New("the team is full")

func (s *storm) any(r *rand.Rand) (*store.Store, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		return s.replicas[0], "clu_none"
	}
	return s.replicas[r.IntN(2)], s.ids[r.IntN(len(s.ids))]
}

func (s *storm) limitsOf(a store.Judgement) []lifecycle.Limit {
	all := []lifecycle.Limit{
		{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: a.Row.Team, What: lifecycle.CountLive, Most: mostOfTeam},
		{Quota: "persons", Scope: lifecycle.ScopePerson, Key: a.Row.RequestedBy, What: lifecycle.CountLive, Most: mostOfPerson},
		{Quota: "all", Scope: lifecycle.ScopeEverywhere, What: lifecycle.CountCreating, Most: mostCreating},
	}
	if a.Row.PR != nil {
		all = append(all, lifecycle.Limit{Quota: "repos", Scope: lifecycle.ScopeRepository, Key: a.Row.PR.Repo, What: lifecycle.CountLive, Most: mostOfRepo})
	}
	return all
}

// wishing asks for a cluster that waits, is refused or begins, and now and then has to be approved first.
func (s *storm) wishing(ctx context.Context, r *rand.Rand) error {
	s.mu.Lock()
	s.made++
	a := storetest.RequestedBy(storetest.Granted(fmt.Sprintf("c%d", s.made)), fmt.Sprintf("github:user%d", r.IntN(3)))
	number := s.made
	s.mu.Unlock()
	a.Row.Team = fmt.Sprintf("team-%d", r.IntN(stormTeams))
	least, base, most := 1, 3, 5
	a.Row.WorkersLeast, a.Row.WorkersBase, a.Row.WorkersMost, a.Row.Nodes = &least, &base, &most, 6
	if r.IntN(2) == 0 {
		a = storetest.FromPR(a, number)
		a.Row.PR.Repo = fmt.Sprintf("acme/repo%d", r.IntN(stormRepos))
	}
	ask := storetest.Requests(a)
	ask.Scope.Everywhere = true
	if r.IntN(2) == 0 {
		ask = once(ask, fmt.Sprintf("key-%d", r.IntN(200)), "a")
	}
	wait, approve := r.IntN(4) > 0, r.IntN(5) == 0
	judged, err := s.replicas[r.IntN(2)].Judge(ctx, ask, func(u usage.Usage) (store.Judgement, error) {
		full := false
		for _, l := range s.limitsOf(a) {
			of := map[string]usage.Counts{"team": u.Team, "person": u.Person, "repository": u.Repository, "everywhere": u.Everywhere}[l.Scope]
			have := of.Live
			if l.What == lifecycle.CountCreating {
				have = of.Creating
			}
			full = full || have+of.Waiting >= l.Most
		}
		if full && !wait {
			return storetest.Refusal("full"), nil
		}
		if approve {
			a.Approval = &store.ApprovalAsk{Why: []string{"it is dear"}, Needs: 1 + number%2, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("a", 64)}
			if a.Row.PR != nil {
				a.Approval.Head = a.Row.PR.Head
			}
		}
		a.Weight = 1 + number%2
		if full || approve {
			a.Turn = &store.TurnAsk{Limits: s.limitsOf(a), Words: "full"}
		}
		return a, nil
	})
	if err == nil && judged.Row.ID != "" && !judged.Replayed {
		s.mu.Lock()
		s.ids = append(s.ids, judged.Row.ID)
		s.waited[judged.Row.ID] = judged.Row.NeedsTurn
		s.mu.Unlock()
	}
	return tolerable(err)
}

// looking is the controller on one cluster, with a runner that does what its attempt is for, and sometimes dies.
func (s *storm) looking(ctx context.Context, r *rand.Rand, at *store.Store, id string) error {
	for range 8 {
		c, f, err := at.Load(ctx, id)
		if err != nil {
			return tolerable(err)
		}
		if f.Open != nil && !f.Open.ClaimedAt.IsZero() && r.IntN(10) == 0 {
			f.Runner = lifecycle.Ended
		}
		err = at.Apply(ctx, lifecycle.Decide(c, f, s.limits), c.Version)
		if errors.Is(err, db.ErrStale) {
			continue
		}
		if err != nil {
			return err
		}
		worked, err := s.running(ctx, r, at, id, f.Identities)
		if err != nil || !worked {
			return err
		}
	}
	return nil
}

func (s *storm) running(ctx context.Context, r *rand.Rand, at *store.Store, id string, names []string) (bool, error) {
	open, err := at.Attempts.OpenAttempt(ctx, id)
	if err != nil {
		return false, tolerable(err)
	}
	lease, err := at.Attempts.Claim(ctx, open.Attempt, open.Token, "pod")
	if err != nil || lease.Stop != "" {
		return err == nil, tolerable(err)
	}
	result := attempts.ResultRow{Outcome: lifecycle.Succeeded}
	if r.IntN(4) == 0 {
		result = attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "Broken", Message: "it broke", Retryable: r.IntN(2) == 0}
	}
	infra := strings.ToLower(open.Attempt)
	said := []attempts.ReportRow{{Phase: lifecycle.Installing, Percent: r.IntN(100), Log: "hello\n"}}
	switch open.Kind {
	case lifecycle.Create:
		if lease, err = at.Record(ctx, open.Attempt, open.Token, storetest.Identity(infra), storetest.Bundles(infra)); err != nil || lease.Stop != "" {
			result = attempts.ResultRow{Outcome: lifecycle.Stopped, Message: lease.Stop}
		}
	case lifecycle.Destroy:
		said = []attempts.ReportRow{{Phase: lifecycle.Verifying, ToolExit: &attempts.ToolExitRow{}}, {Phase: lifecycle.Verifying, Pass: storetest.Pass(1)}, {Phase: lifecycle.Verifying, Pass: storetest.Pass(2)}}
		said[1].Pass.Identities, said[2].Pass.Identities = names, names
	case lifecycle.Scale:
		spec, err := at.Attempts.AttemptSpec(ctx, open.Attempt)
		if err != nil {
			return false, tolerable(err)
		}
		said[0].Phase, result.Workers = lifecycle.Scaling, &spec.Workers
	}
	if tolerable(err) != nil {
		return false, err
	}
	for i, report := range said {
		report.Seq = i + 1
		if _, err := at.Attempts.Report(ctx, open.Attempt, open.Token, report); err != nil {
			return false, tolerable(err)
		}
	}
	_, err = at.Attempts.Result(ctx, open.Attempt, open.Token, result)
	return true, tolerable(err)
}

// acting is somebody's act on some cluster.
func (s *storm) acting(ctx context.Context, r *rand.Rand) error {
	at, id := s.any(r)
	d := clusters.Origin{Actor: fmt.Sprintf("saml:admin%d", r.IntN(3)), Source: "api", Why: "storm"}
	var err error
	switch r.IntN(14) {
	case 0:
		_, err = at.Destroy(ctx, id, d)
	case 1:
		_, err = at.Extend(ctx, id, time.Minute, d)
	case 2:
		_, err = at.Hold(ctx, id, time.Now().Add(time.Duration(r.IntN(3))*time.Hour), d)
	case 3:
		team := fmt.Sprintf("team-%d", r.IntN(stormTeams))
		err = at.Transfer(ctx, id, team, "maya", d, func(u usage.Usage, _ usage.Counts) ([]lifecycle.Limit, error) {
			if u.Team.Live+u.Team.Waiting >= mostOfTeam {
				return nil, errFull
			}
			return []lifecycle.Limit{{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: team, What: lifecycle.CountLive, Most: mostOfTeam}}, nil
		})
	case 4, 5:
		_, err = at.Scale(ctx, id, 1+r.IntN(5), d)
	case 6, 7:
		page, _, list := at.Approvals(ctx, store.ApprovalFilter{State: clusters.ApprovalPending})
		if err = list; err == nil && len(page) > 0 {
			_, err = at.Vote(ctx, page[r.IntN(len(page))].ID, r.IntN(5) > 0, d)
		}
	case 8:
		_, err = at.RebindApproval(ctx, id, fmt.Sprintf("head%d", r.IntN(3)), time.Now())
	case 9:
		_, err = at.AskBreakGlass(ctx, id, clusters.ApproveKubeadmin, time.Hour, d)
	case 10:
		_, _, err = at.People.NewLink(ctx, people.Link{Kind: people.LinkKubeadmin, Principal: d.Actor, Cluster: id}, time.Hour, d)
	case 11:
		err = at.People.Share(ctx, id, people.Share{Kind: "team", Grantee: "team-9", Access: people.AccessUse}, d)
	case 12:
		_, err = at.WakeDue(ctx, 10)
	case 13:
		_, err = at.Prune(ctx, time.Hour)
	}
	return tolerable(err)
}

// passed lists the limits that are passed at one moment.
const passed = `
	WITH live AS (SELECT team, requested_by, coalesce(repo, '') AS repo,
			NOT needs_turn AS holds, -- what awaits approval is counted, and begins nothing
			desired = 'present' AND ready_at IS NULL AND NOT needs_turn AND NOT needs_approval AS creates
		FROM clusters WHERE destroyed_at IS NULL)
	SELECT 'team ' || team || ' ' || count(*) FROM live WHERE holds GROUP BY team HAVING count(*) > @team
	UNION ALL SELECT requested_by || ' ' || count(*) FROM live WHERE holds GROUP BY requested_by HAVING count(*) > @person
	UNION ALL SELECT repo || ' ' || count(*) FROM live WHERE holds AND repo <> '' GROUP BY repo HAVING count(*) > @repo
	UNION ALL SELECT 'creating ' || count(*) FROM live WHERE creates HAVING count(*) > @creating`

func (s *storm) watching(ctx context.Context, sql string, args ...any) error {
	rows, err := s.replicas[0].Pool().Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(words) > 0 {
		err = fmt.Errorf("passed: %v", words)
	}
	return err
}

var bounds = pgx.NamedArgs{"team": mostOfTeam, "person": mostOfPerson, "repo": mostOfRepo, "creating": mostCreating}

// Everybody does everything at once. Nobody waits in a circle, no limit is passed at any moment, whoever waits gets a turn or
// is no longer wanted, the trail is whole and what is counted is what is there.
func TestAStormOfEverythingLeavesEverythingWhole(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	seed, errs := rand.Uint64(), make([]error, 12)
	t.Logf("seed %d", seed)
	together(len(errs), func(i int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for n := 0; n < 40 && errs[i] == nil; n++ {
			at, id := s.any(r)
			switch dice := r.IntN(10); {
			case dice < 2:
				errs[i] = s.wishing(ctx, r)
			case dice < 6:
				errs[i] = s.looking(ctx, r, at, id)
			case dice < 9:
				errs[i] = s.acting(ctx, r)
			default:
				_, errs[i] = at.Turns(ctx)
				if errs[i] == nil {
					_, errs[i] = at.AssignRunners(ctx)
				}
			}
			if errs[i] == nil {
				errs[i] = errors.Join(s.watching(ctx, passed, bounds), s.watching(ctx, runnersPassed))
			}
		}
	})
	require.NoError(t, errors.Join(errs...))
	s.calm(ctx, passed, bounds)
	s.whole(ctx)
}

// calm lets everything come to its end, while the query finds nothing: what is approved by nobody is taken down, what had its turn is too.
func (s *storm) calm(ctx context.Context, sql string, args ...any) {
	s.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	d := clusters.Origin{Actor: "saml:admin", Why: "the storm is over"}
	at := s.replicas[0]
	for range 200 {
		_, err := at.Turns(ctx)
		require.NoError(s, err)
		_, err = at.AssignRunners(ctx)
		require.NoError(s, err)
		rows, _, err := at.List(ctx, store.Filter{Live: true, Limit: 500})
		require.NoError(s, err)
		if len(rows) == 0 {
			return
		}
		for _, row := range rows {
			if !row.NeedsTurn || row.NeedsApproval {
				_, err := at.Destroy(ctx, row.ID, d)
				require.NoError(s, err)
			}
			require.NoError(s, s.looking(ctx, r, at, row.ID))
			require.NoError(s, s.watching(ctx, sql, args...))
		}
	}
	s.Fatal("some never came to their end")
}

// whole looks at what has to be so of everything that was.
func (s *storm) whole(ctx context.Context) {
	s.Helper()
	at := s.replicas[0]
	_, err := at.Prune(ctx, time.Hour)
	require.NoError(s, err)
	for what, sql := range map[string]string{
		"a job never ended":           `SELECT id || ' ' || job_type FROM jobs WHERE ended_at IS NULL`,
		"an attempt is open":          `SELECT id FROM attempts WHERE closed_at IS NULL`,
		"somebody still waits":        `SELECT cluster_id FROM turns`,
		"somebody waits for a runner": `SELECT cluster_id FROM runner_queue`,
		"an approval is still asked":  `SELECT id FROM approvals WHERE state = 'pending'`,
		"a turn came twice":           `SELECT target_cluster_id FROM audit_events WHERE action = 'turn' GROUP BY 1 HAVING count(*) > 1`,
		"a meter is not its samples'": `
			WITH spans AS (SELECT cluster_id, estimated_hourly_cost AS cents, (date_part('epoch', sample_time) * 1e6)::bigint / 1000 AS since,
				(date_part('epoch', lead(sample_time) OVER (PARTITION BY cluster_id ORDER BY sample_time)) * 1e6)::bigint / 1000 AS until FROM usage_samples)
			SELECT c.id || ' ' || c.month_amount || ' ' || sum(cents * (until - since)) FROM clusters c JOIN spans s ON s.cluster_id = c.id
			GROUP BY c.id HAVING c.month_amount <> sum(cents * (until - since))`,
	} {
		require.NoError(s, s.watching(ctx, sql), what)
	}
	used, err := at.Usage(ctx, usage.Scope{Everywhere: true})
	require.NoError(s, err)
	require.Equal(s, []int{0, 0, 0}, []int{used.Everywhere.Live, used.Everywhere.Creating, used.Everywhere.Waiting})
	wrong, err := at.CorrectUsage(ctx)
	require.NoError(s, err)
	require.Empty(s, wrong, "what is kept of usage")
	proof, err := at.VerifyAudit(ctx)
	require.NoError(s, err)
	require.True(s, proof.Whole(), proof.Text())
	s.Logf("%d clusters, %d lines in the trail, %d turns", len(s.ids), proof.Lines, storetest.Count(s, at, `SELECT count(*) FROM audit_events WHERE action = 'turn'`))
}

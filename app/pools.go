package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/usage"
)

// PoolPrefix begins the principal id of a pool; its name follows.
const PoolPrefix = "pool:"

// PoolState is a pool as it stands.
type PoolState struct {
	profiles.Pool
	Settings pools.Settings
	Clusters []pools.Cluster
	Acts     pool.Acts // what it needs now

	SpentCents int64  // this month, by waiting clusters
	Failures   int    // creates in a row that failed
	Refusal    string // why policy does not allow the next cluster, for people; empty: it was not asked, or allows it
	Gone       bool   // the catalogue no longer has it: what waits in it ends
}

// Waiting returns how many clusters can be claimed now.
func (p PoolState) Waiting() (n int) { return p.Count(pool.Waiting, pool.Asleep) }

// Making returns how many clusters are being made.
func (p PoolState) Making() int { return p.Count(pool.Making) }

// Claimed returns how many clusters were claimed and are still there.
func (p PoolState) Claimed() int { return p.Count(pool.Claimed) }

// Count returns how many clusters are in one of the states.
func (p PoolState) Count(states ...pool.State) (n int) {
	for _, c := range p.Clusters {
		if slices.Contains(states, poolStateOf(c)) {
			n++
		}
	}
	return n
}

// WantedSize is how many clusters are to wait: the catalogue's number, or an admin's.
func (p PoolState) WantedSize() int {
	if p.Settings.Size != nil {
		return *p.Settings.Size
	}
	return p.Size
}

// Pools returns every pool as it stands, by name.
func (s *Service) Pools(ctx context.Context) ([]PoolState, error) {
	states, _, err := s.lookAtPools(ctx)
	return states, err
}

// lookAtPools reads all pools, those that the catalogue no longer has too, and decides about each.
func (s *Service) lookAtPools(ctx context.Context) ([]PoolState, catalogue.Catalogue, error) {
	inForce := s.catalogue()
	if inForce.Hash == "" { // no valid catalogue is in force, which says nothing about a pool
		return nil, inForce, nil
	}
	all, err := s.store.Pools.Clusters(ctx)
	if err != nil {
		return nil, inForce, err
	}
	var states []PoolState
	for _, p := range inForce.Pools {
		states = append(states, PoolState{Pool: p})
	}
	for name := range all {
		if _, known := inForce.Pool(name); !known {
			states = append(states, PoolState{Pool: profiles.Pool{Name: name, Paused: true}, Gone: true})
		}
	}
	if len(states) == 0 {
		return nil, inForce, nil
	}
	settings, err := s.store.Pools.Settings(ctx)
	if err != nil {
		return nil, inForce, err
	}
	crowded, err := s.store.Pools.Crowded(ctx)
	if err != nil {
		return nil, inForce, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, inForce, fmt.Errorf("read the clock: %w", err)
	}
	slices.SortFunc(states, func(a, b PoolState) int { return cmp.Compare(a.Name, b.Name) })
	for i := range states {
		p := &states[i]
		p.Settings, p.Clusters = settings[p.Name], all[p.Name]
		if err := s.decidePool(ctx, p, inForce, pool.Facts{Now: now, Crowded: crowded}); err != nil {
			return nil, inForce, err
		}
	}
	return states, inForce, nil
}

// decidePool adds what is known of a pool to the facts, and what it needs to its state.
func (s *Service) decidePool(ctx context.Context, p *PoolState, c catalogue.Catalogue, f pool.Facts) error {
	record, err := s.store.Pools.Record(ctx, p.Name)
	if err != nil {
		return err
	}
	used, err := s.store.Usage(ctx, usage.Scope{Person: PoolPrefix + p.Name})
	if err != nil {
		return fmt.Errorf("count what the pool %s costs: %w", p.Name, err)
	}
	p.SpentCents, p.Failures = used.Person.SpentCents, record.Failures
	f.SpentCents, f.Failures, f.FailedAt = p.SpentCents, record.Failures, record.FailedAt
	for _, one := range p.Clusters {
		if _, known := c.Account(one.Account); one.Account != "" && !known {
			one.Digest = "" // nobody may claim it
		}
		f.Clusters = append(f.Clusters, pool.Cluster{
			ID: one.ID, State: poolStateOf(one), Begun: one.Begun, AcceptedAt: one.AcceptedAt, ReadyAt: db.Zero(one.ReadyAt), Digest: one.Digest, Healthy: one.Healthy,
		})
	}
	if p.ByClaims {
		if p.Running, err = s.runningByClaims(ctx, *p, c, f.Now); err != nil {
			return err
		}
	}
	want := pool.Pool{
		Size: p.WantedSize(), Running: p.Running, Max: p.Max, MaxConcurrent: p.MaxConcurrent, MaxAge: s.policy.Scale(p.MaxAge), Digest: p.Digest,
		Paused: p.Paused || p.Settings.Paused, Draining: p.Settings.Draining || p.Gone,
	}
	if p.WaitingCents != nil {
		want.WaitingCents = new(int64(*p.WaitingCents))
	}
	if p.Settings.Size != nil {
		want.Running = min(want.Running, *p.Settings.Size)
		want.Max = max(want.Max, *p.Settings.Size)
	}
	if profile, known := c.Get(p.Profile); known {
		want.Sleeps = profile.Sleep != profiles.SleepNever
		if region, ok := profile.Region(c.RegionOf(p.Pool)); ok {
			f.HourlyCents = int64(region.HourlyCents)
		}
		want.Paused = want.Paused || !profile.Enabled
	}
	want.Closed = !p.WorkHours.Empty() && !p.WorkHours.Open(f.Now)
	if p.Acts = pool.Decide(want, f); p.Acts.Create == 0 {
		return nil
	}
	refused, err := s.store.Pools.Refused(ctx, PoolPrefix+p.Name, nextKey(p.Name, record))
	if err != nil || len(refused) == 0 {
		return err
	}
	var verdict policy.Verdict
	if err := json.Unmarshal(refused, &verdict); err != nil {
		return fmt.Errorf("read the verdict on the pool %s: %w", p.Name, err)
	}
	p.Refusal = describeRefusal(verdict)
	return nil
}

// poolStateOf says where a cluster stands in its pool.
func poolStateOf(c pools.Cluster) pool.State {
	switch {
	case !c.Pooled && c.ClaimedAt != nil:
		return pool.Claimed
	case !c.Wanted || c.Status == lifecycle.Failed:
		return pool.Ending
	case c.Status != lifecycle.Ready:
		return pool.Making
	case c.SleepWanted && c.Power == lifecycle.Asleep:
		return pool.Asleep
	case c.SleepWanted || c.Power != lifecycle.Awake:
		return pool.Changing
	}
	return pool.Waiting
}

// KeepPools does what the pools need now. What another server did meanwhile, and what was claimed, is left to the next round.
func (s *Service) KeepPools(ctx context.Context) error {
	states, inForce, err := s.lookAtPools(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range states {
		failed = append(failed, s.keepPool(ctx, p, inForce))
	}
	return errors.Join(failed...)
}

// keepPool carries out the acts of one pool. Clusters are made only if all that was to end ends: they take its place.
func (s *Service) keepPool(ctx context.Context, p PoolState, c catalogue.Catalogue) error {
	var failed []error
	ended := true
	for _, end := range p.Acts.End {
		done, err := s.endPooled(ctx, p, end)
		ended, failed = ended && done, append(failed, err)
	}
	for _, id := range p.Acts.Sleep {
		_, err := s.changePooled(p, id, func(d clusters.Origin) error {
			_, err := s.store.Sleep(ctx, id, store.SleepRequest{Why: "it waits in the pool " + p.Name}, d)
			return err
		})
		failed = append(failed, err)
	}
	for _, id := range p.Acts.Wake {
		_, err := s.changePooled(p, id, func(d clusters.Origin) error {
			_, err := s.store.Wake(ctx, id, d)
			return err
		})
		failed = append(failed, err)
	}
	for range p.Acts.Create {
		if !ended {
			break
		}
		failed = append(failed, s.createPooled(ctx, p, c))
	}
	return errors.Join(failed...)
}

func (s *Service) endPooled(ctx context.Context, p PoolState, end pool.End) (done bool, err error) {
	return s.changePooled(p, end.ID, func(d clusters.Origin) error {
		d.Instead = lifecycle.Reason{Code: lifecycle.ReasonPool, Name: p.Name, To: endWords[end.Why]}
		_, err := s.store.Destroy(ctx, end.ID, d)
		return err
	})
}

// endWords say why a pool gives a cluster up.
var endWords = map[pool.EndWhy]string{
	pool.Paused: "the pool is paused, and nothing had been created", pool.Drained: "the pool is drained", pool.Closed: "it is outside the pool's hours",
	pool.YieldedToPeople: "people's clusters wait, and nothing had been created", pool.OverBudget: "the month's money for waiting is spent",
	pool.Unhealthy: "it is not well", pool.Aged: "it waited for too long", pool.Stale: "the profile, the version or an add-on has changed", pool.Shrunk: "the pool became smaller",
}

// changePooled changes a cluster if it is as it was when the pool was read. A claim, or a move, makes that another version.
func (s *Service) changePooled(p PoolState, id string, change func(clusters.Origin) error) (done bool, err error) {
	i := slices.IndexFunc(p.Clusters, func(c pools.Cluster) bool { return c.ID == id })
	err = change(clusters.Origin{Actor: PoolPrefix + p.Name, Name: "the pool " + p.Name, Source: string(policy.SourcePool), Version: p.Clusters[i].Version})
	if errors.Is(err, db.ErrStale) || errors.Is(err, db.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// createPooled requests a cluster for a pool, by policy as everybody does.
func (s *Service) createPooled(ctx context.Context, p PoolState, c catalogue.Catalogue) error {
	record, err := s.store.Pools.Record(ctx, p.Name)
	if err != nil {
		return err
	}
	principal := policy.As(PoolPrefix+p.Name, "the pool "+p.Name, policy.Requester, p.Team)
	made, err := s.CreateFrom(ctx, ClusterRequest{
		catalogue: c, pool: &p.Pool, Key: nextKey(p.Name, record), // a refusal is kept once, and not with every round
		Request: policy.Request{
			Principal: principal, Source: policy.SourcePool, Profile: p.Profile, Region: c.RegionOf(p.Pool), Version: p.Version, Generation: 1, Name: makePoolName(p.Name),
			Team: p.Team, Owner: p.Owner, CostCenter: p.CostCenter, Environment: p.Environment, TTL: p.MaxAge,
		},
	})
	switch {
	case err != nil:
		return fmt.Errorf("create a cluster for the pool %s: %w", p.Name, err)
	case !made.Allowed && p.Refusal == "": // it is shown from now on
		s.log.WarnContext(ctx, "pool may not have another cluster", "pool", p.Name, "why", describeRefusal(made.Verdict))
	}
	return nil
}

// nextKey is the key of the request for a pool's next cluster.
func nextKey(pool string, r pools.Record) string {
	return fmt.Sprintf("%s%s#%d", PoolPrefix, pool, r.Made+1)
}

func describeRefusal(v policy.Verdict) string {
	var texts []string
	for _, check := range v.Refusals() {
		texts = append(texts, messages.CheckText(check))
	}
	return strings.Join(texts, " ")
}

// makePoolName makes a name for a pool's cluster, which it keeps: people read it in addresses.
func makePoolName(pool string) string {
	const most = 12
	name := pool[:min(len(pool), most)]
	return strings.TrimRight(name, "-") + "-" + strings.ToLower(rand.Text()[:5])
}

// poolsFor returns the pools that may serve an accepted request, the one for the fewest teams first. A name or a key of one's own cannot be given
// to a cluster that is there.
func (s *Service) poolsFor(r ClusterRequest, g policy.Grant) []pools.Candidate {
	if !r.claims() {
		return nil
	}
	var fitting []profiles.Pool
	for _, p := range r.catalogue.Pools {
		if policy.PoolFits(p, g, r.catalogue.Catalogue) && (r.Request.Pool == "" || r.Request.Pool == p.Name) {
			fitting = append(fitting, p)
		}
	}
	slices.SortStableFunc(fitting, func(a, b profiles.Pool) int {
		return cmp.Or(cmp.Compare(breadth(a), breadth(b)), cmp.Compare(a.Name, b.Name))
	})
	var out []pools.Candidate
	for _, p := range fitting {
		out = append(out, pools.Candidate{Pool: p.Name, Lifetime: s.policy.Scale(p.ClaimLifetime)})
	}
	return out
}

// breadth orders pools for everybody behind those for some teams.
func breadth(p profiles.Pool) int {
	if len(p.Teams) == 0 {
		return 1
	}
	return 0
}

// claims reports whether a request may be served from a pool.
func (r ClusterRequest) claims() bool {
	return !r.anew && r.pool == nil && r.Request.Pool != policy.NoPool && r.sshKey == "" && r.Request.Name == "" && r.Request.Account != profiles.ExclusiveAccount && len(r.catalogue.Pools) > 0
}

// claimAccounts returns the accounts in which a waiting cluster may be: those that the team may use, and the installation's own unless one is named.
func claimAccounts(r policy.Request, g policy.Grant) []string {
	if r.Account != "" {
		return g.ClaimFrom.Accounts
	}
	return append([]string{""}, g.ClaimFrom.Accounts...)
}

// forPool makes a drafted cluster one that waits in a pool: nothing follows from that nobody uses it.
func forPool(row clusters.Row, p profiles.Pool) clusters.Row {
	row.Pool, row.Pooled, row.PoolDigest = p.Name, true, p.Digest
	row.OffHours, row.UseExtends, row.Idle, row.WarnBefore = false, false, lifecycle.Idle{}, nil
	return row
}

package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// RunnerCaps limit how many runners run at once. Zero: no limit.
//
// A fifth of each cap, at least one runner, is reserved for teardowns, so that none of them waits for an install to end. Changes of
// access, which take seconds, may use it too. A cap of 1 has no such part.
type RunnerCaps struct {
	All     int // in the whole installation
	Account int // in each cloud account
	Region  int // in each region of an account
}

// Site is where a runner works.
type Site struct {
	Platform string
	Account  string // empty: the account of the runners' own identity
	Region   string
}

func (s Site) account() string {
	if s.Account == "" {
		return "the runners' " + s.Platform + " account"
	}
	return "account " + s.Account
}

// Runner is a running attempt.
type Runner struct {
	Kind Kind
	Team string
	Site
	Ends time.Time // when it may end; zero: unknown
}

// RunnerWaiter is a cluster that waits for a free runner.
type RunnerWaiter struct {
	Cluster  string
	Kind     Kind
	Team     string
	Weight   int   // the team's share: weight 2 gets twice as many creates at once as weight 1
	Priority int   // of creates the higher one comes first
	Used     int64 // what the team used lately, in cents; of equal creates the lower one comes first
	Site
	Since time.Time
	Idle  bool // it may start for a while and has not, so no slot is kept free for it
}

// RunnerUse is how many runners run at once where one cap counts.
type RunnerUse struct {
	All    int
	Urgent int // teardowns and changes of access, which may use the reserved part
}

// Slot is what decides whether a runner may start for a cluster now. The zero value says that nothing runs or waits.
type Slot struct {
	Site
	Everywhere, InAccount, InRegion RunnerUse
	Waiting                         map[Kind]int // other clusters in the queue for a free runner
	Kind                            Kind         // what the cluster itself waits in that queue for; empty: it does not wait
	Next                            bool         // it waits, and its runner may start
	Position                        int          // it waits: its position, 1 is next
	For                             string       // it waits: which cap is full, as text
}

// RunnerWait puts a cluster into the queue for a free runner.
type RunnerWait struct {
	Kind     Kind
	Position int    // until the next pass over the queue
	For      string // which cap is full, as text
}

// What a cap on runners counts.
const (
	countRunners = "runners"
	countOthers  = "others" // all runners but those that may use the reserved part
)

const (
	scopeAccount = "account"
	scopeRegion  = "region"
)

// The order in which free runners are given: teardowns give everything else its capacity back. A change of access takes seconds, and somebody
// waits for it. Other work on a ready cluster is short, and somebody has that cluster in use. Nobody waits for tags or links.
const (
	rankDestroy = iota
	rankAccess
	rankWork
	rankCreate
	rankTag
	rankCount
)

// urgent reports a kind that may use the reserved part of a cap.
func urgent(k Kind) bool { return k == Destroy || k == Access }

func rank(k Kind) int {
	switch k {
	case Destroy:
		return rankDestroy
	case Access:
		return rankAccess
	case Create:
		return rankCreate
	case Tag, Inform:
		return rankTag
	}
	return rankWork
}

// besidesTeardowns is the part of a cap that is not reserved for teardowns.
func besidesTeardowns(most int) int {
	if most == 1 {
		return 1
	}
	return most - max(1, most/5)
}

// limits returns the limits for a runner of the kind.
func (c RunnerCaps) limits(k Kind, s Site) (limits []Limit) {
	for _, l := range []Limit{
		{Scope: ScopeEverywhere, Most: c.All},
		{Scope: scopeAccount, Key: s.account(), Most: c.Account},
		{Scope: scopeRegion, Key: "region " + s.Region + " of " + s.account(), Most: c.Region},
	} {
		if l.Most <= 0 {
			continue
		}
		l.What = countRunners
		limits = append(limits, l)
		if !urgent(k) {
			l.What, l.Most = countOthers, besidesTeardowns(l.Most)
			limits = append(limits, l)
		}
	}
	return limits
}

// uses returns the counters in which a runner of the kind counts.
func (c RunnerCaps) uses(k Kind, s Site, until time.Time) (uses []use) {
	for _, l := range c.limits(k, s) {
		uses = append(uses, use{l.toBound(), until})
	}
	return uses
}

func (l Limit) runnerText() string {
	where := "this installation"
	if l.Scope != ScopeEverywhere {
		where = l.Key
	}
	if l.What == countOthers {
		return fmt.Sprintf("at most %d run at once in %s besides teardowns", l.Most, where)
	}
	return fmt.Sprintf("at most %d run at once in %s", l.Most, where)
}

// full returns the first cap that leaves no runner of the kind; empty: there is none.
func (c RunnerCaps) full(k Kind, s Slot) string {
	for _, l := range c.limits(k, s.Site) {
		used := map[string]RunnerUse{ScopeEverywhere: s.Everywhere, scopeAccount: s.InAccount, scopeRegion: s.InRegion}[l.Scope]
		n := used.All
		if l.What == countOthers {
			n -= used.Urgent
		}
		if n >= l.Most {
			return l.Text()
		}
	}
	return ""
}

// MayRun reports whether a runner of the kind may start for the cluster now: no cap is full, and it is the cluster's turn. Decide
// asks before it opens an attempt, and the store asks again under its lock.
func (c RunnerCaps) MayRun(k Kind, s Slot) bool {
	switch {
	case c == RunnerCaps{}:
		return true
	case c.full(k, s) != "":
		return false
	case s.Kind == k:
		return s.Next
	}
	return ahead(k, s) == 0
}

// ahead counts those in the queue that come before a newcomer of the kind.
func ahead(k Kind, s Slot) (n int) {
	for other, waiting := range s.Waiting {
		if rank(other) <= rank(k) {
			n += waiting
		}
	}
	return n
}

// wait returns what a cluster that may not start a runner waits for.
func (c RunnerCaps) wait(k Kind, s Slot) *RunnerWait {
	if s.Kind == k {
		return &RunnerWait{Kind: k, Position: s.Position, For: s.For}
	}
	w := &RunnerWait{Kind: k, Position: 1 + ahead(k, s), For: c.full(k, s)}
	if w.For == "" {
		w.For = "others came before it"
	}
	return w
}

// Take returns the clusters whose runners may start now, and the positions of the others.
//
// Teardowns come first, in the order in which they began to wait; then changes of access and other work on ready clusters, likewise;
// then creates, of which the team with the fewest running creates relative to its weight comes first, then the one that used less lately. A cluster for which a cap is full holds up only those that
// need the same cap.
func (c RunnerCaps) Take(waiting []RunnerWaiter, running []Runner) (next []string, places map[string]Turn) {
	byRank := c.claims(waiting)
	l := newTally(slices.Concat(byRank...))
	for _, r := range running {
		l.count(shareOf(r.Kind, r.Team), c.uses(r.Kind, r.Site, r.Ends))
	}
	left := make([][]claim, rankCount)
	for i, claims := range byRank {
		var granted []string
		granted, left[i] = l.grant(claims)
		next = append(next, granted...)
	}
	places = map[string]Turn{}
	l.place(places, left...)
	return next, places
}

// claims returns the waiters by rank. There are far fewer kinds and sites than waiters, so those share their limits.
func (c RunnerCaps) claims(waiting []RunnerWaiter) [][]claim {
	type place struct {
		Kind
		Site
	}
	shared := map[place]claim{}
	byRank := make([][]claim, rankCount)
	for _, w := range waiting {
		at := place{w.Kind, w.Site}
		like, known := shared[at]
		if !known {
			like = claim{limits: c.limits(w.Kind, w.Site), uses: c.uses(w.Kind, w.Site, time.Time{})}
			shared[at] = like
		}
		like.cluster, like.team, like.weight, like.since, like.idle, like.priority, like.used = w.Cluster, shareOf(w.Kind, w.Team), w.Weight, w.Since, w.Idle, w.priority(), w.teamUsage()
		byRank[rank(w.Kind)] = append(byRank[rank(w.Kind)], like)
	}
	return byRank
}

// priority is that of a create. Other work is as urgent for everybody.
func (w RunnerWaiter) priority() int {
	if w.Kind != Create {
		return 0
	}
	return w.Priority
}

// teamUsage is what the team of a create used lately. Other work is of no team.
func (w RunnerWaiter) teamUsage() int64 {
	if w.Kind != Create {
		return 0
	}
	return w.Used
}

// shareOf returns the team whose share a runner counts in. Only creates are shared between teams.
func shareOf(k Kind, team string) string {
	if k != Create {
		return ""
	}
	return team
}

// Moved reports whether a new position is worth showing. Far back in the queue, a step of one is not: each change that is shown
// edits comments.
func (t Turn) Moved(shown int) bool {
	if t.Position <= 10 {
		return t.Position != shown
	}
	return 10*max(t.Position-shown, shown-t.Position) >= shown
}

// mayRun reports whether a runner of the kind may start now. If not, the cluster waits for one.
func (m *deciding) mayRun(k Kind) bool {
	if m.l.Runners.MayRun(k, m.f.Slot) {
		return true
	}
	m.d.Wait = m.l.Runners.wait(k, m.f.Slot)
	return false
}

// showWait adds to the reason that the cluster waits for a free runner, and removes it when the wait is over. A pending cluster has a
// reason of its own for it.
func (m *deciding) showWait() {
	switch n := m.next(); {
	case n.Status == Pending:
	case m.d.Wait == nil:
		n.Why.Runner = ""
	default:
		n.Why.Runner = m.d.Wait.For
	}
}

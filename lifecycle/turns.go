package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// The scopes of a limit, spelt as in policy and the catalogue.
const (
	ScopePerson     = "person"
	ScopeTeam       = "team"
	ScopeRepository = "repository"
	ScopeEverywhere = "everywhere"
	ScopeCohort     = "cohort" // teams that lend each other places of their quotas
)

// What a limit counts.
const (
	CountLive     = "live"     // until it is released
	CountCreating = "creating" // until it is ready or no longer wanted
)

// Limit is a bound on the number of clusters at once, as it was when a cluster was accepted.
type Limit struct {
	Quota string `json:"quota"` // name in the catalogue
	Scope string `json:"scope"`
	Key   string `json:"key"` // which person, team or repository; empty for everywhere
	What  string `json:"what"`
	Most  int    `json:"most"`

	Own map[string]int `json:"own,omitempty"` // of a cohort: how many live clusters each of its teams is guaranteed
}

// Text describes the limit. The text does not change while a cluster waits for it.
func (l Limit) Text() string {
	if l.What == countRunners || l.What == countOthers {
		return l.runnerText()
	}
	if l.Scope == ScopeCohort {
		return fmt.Sprintf("the teams of cohort %s may have %d clusters live at once together", l.Key, l.Most)
	}
	who := "everybody together"
	if l.Scope != ScopeEverywhere {
		who = l.Scope + " " + l.Key
	}
	what := "live at once"
	if l.What == CountCreating {
		what = "being created at once"
	}
	clusters := "clusters"
	if l.Most == 1 {
		clusters = "cluster"
	}
	return fmt.Sprintf("%s may have %d %s %s (quota %s)", who, l.Most, clusters, what, l.Quota)
}

// Party is who a cluster counts for.
type Party struct{ Person, Team, Repo string }

// bound identifies one counter: the clusters of one person, team, repository or of everybody.
type bound struct{ scope, key, what string }

func (l Limit) toBound() bound { return bound{l.Scope, l.Key, l.What} }

// bounds returns the counters in which a cluster of the party counts.
func (p Party) bounds(what string) [4]bound {
	return [4]bound{{ScopePerson, p.Person, what}, {ScopeTeam, p.Team, what}, {ScopeRepository, p.Repo, what}, {ScopeEverywhere, "", what}}
}

// Holder is a cluster that counts.
type Holder struct {
	Party
	Creating bool
	Ends     time.Time // when it may stop counting as live; zero: unknown
	Made     time.Time // when it may stop counting as being created; zero: unknown
}

// Waiter is a cluster that waits for its turn.
type Waiter struct {
	Party
	Cluster  string
	Weight   int   // the team's share of turns: weight 2 gets twice as many as weight 1
	Priority int   // the higher one comes first
	Used     int64 // what the team used lately, in cents; among equals the lower one comes first
	Since    time.Time
	Limits   []Limit

	Unapproved bool // it cannot begin yet; when its turn comes, its live place is kept for it
}

// Take returns whose turn it is now, and the positions of the others.
//
// Everybody whose limits all have a free place gets a turn, and no limit is ever exceeded. Teams within their quota come before those that would
// borrow from their cohort, whatever the priorities; among equals the highest priority comes first, then the team with the fewest live clusters
// relative to its weight, then the one that used less lately; within a team it is first come, first served. A waiter with a full limit holds up only
// those who need the same limit. A waiter without approval has a place kept when its turn comes, but gets no turn and no position before it
// is approved.
func Take(waiting []Waiter, held []Holder) (granted []string, places map[string]Turn) {
	claims := make([]claim, len(waiting))
	for i, w := range waiting {
		claims[i] = w.claim()
	}
	agreeCohorts(claims)
	l := newTally(claims)
	for _, h := range held {
		l.count(h.Team, h.uses())
	}
	granted, left := l.grant(claims)
	places = map[string]Turn{}
	l.place(places, slices.DeleteFunc(left, func(c claim) bool { return c.unapproved }))
	return granted, places
}

// claim is the waiter as the queue sees it. One without approval creates nothing yet, so only its live place counts.
func (w Waiter) claim() claim {
	limits := slices.DeleteFunc(slices.Clone(w.Limits), func(l Limit) bool { return w.Unapproved && l.What != CountLive })
	return claim{
		cluster: w.Cluster, team: w.Team, weight: w.Weight, priority: w.Priority, used: w.Used, since: w.Since, unapproved: w.Unapproved,
		limits: limits, uses: Holder{Party: w.Party, Creating: !w.Unapproved}.uses(), cohort: cohortAmong(limits),
	}
}

// uses returns the counters in which the cluster counts, and until when.
func (h Holder) uses() []use {
	var uses []use
	for _, b := range h.bounds(CountLive) {
		uses = append(uses, use{b, h.Ends})
	}
	if h.Creating {
		for _, b := range h.bounds(CountCreating) {
			uses = append(uses, use{b, h.Made})
		}
	}
	return uses
}

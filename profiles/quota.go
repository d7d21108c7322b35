package profiles

import (
	"fmt"
	"strings"
)

// Scope says who a quota is counted for.
type Scope string

// The scopes.
const (
	ScopePerson     Scope = "person"     // who made the request
	ScopeTeam       Scope = "team"       // the cluster's team
	ScopeRepository Scope = "repository" // the pull request's repository
	ScopeEverywhere Scope = "everywhere" // the whole installation
)

// Quota limits how much exists at once. Every quota that matches a request applies.
type Quota struct {
	Name  string
	Scope Scope
	Match []string // globs over the person's id, the team's name or owner/name; empty: all. Each match is counted separately

	// 0: no limit. Live counts every accepted cluster until it is released, Creating those that are not ready yet.
	Live, Creating int
	NodeHours      int // per calendar month (UTC): used, plus what the living clusters will use until they end

	Borrow int // how many a team may have beyond Live, of what the other teams of its cohort do not use
}

// Holds reports whether the quota applies to somebody of its scope: a person's id, a team's name, owner/name, or "" for everywhere.
func (q Quota) Holds(key string) bool { return len(q.Match) == 0 || FitsAny(q.Match, key) }

// The bounds that a quota must keep.
const (
	mostClusters  = 100_000
	mostNodeHours = 100_000_000
)

// quotaFields describes the fields of one quota.
func quotaFields(r *reader, q *Quota) []field {
	return []field{
		text("name", &q.Name, nameAccept, nameForm.MatchString),
		choice("scope", (*string)(&q.Scope), string(ScopePerson), string(ScopeTeam), string(ScopeRepository), string(ScopeEverywhere)),
		optional(r.texts("match", &q.Match, globText, glob)),
		optional(whole("live", &q.Live, 1, mostClusters)),
		optional(whole("creating", &q.Creating, 1, mostClusters)),
		optional(whole("nodeHours", &q.NodeHours, 1, mostNodeHours)),
		optional(whole("borrow", &q.Borrow, 0, mostClusters)),
	}
}

// compareQuota makes the checks that need more than one field.
func compareQuota(e entry[Quota]) {
	r, q := e.from, e.value
	line := func(field string) int { return r.lines[e.path(field)] }
	if isMapping := line("name")+line("scope") > 0; isMapping && line("live") == 0 && line("creating") == 0 && line("nodeHours") == 0 {
		r.fail(r.lines[e.at], e.at, "a quota without a limit", "one or more of live, creating, nodeHours")
	}
	if r.good(e.path("live"), e.path("creating")) && q.Creating > q.Live {
		r.failAt(e.path("creating"), fmt.Sprintf("%d", q.Creating), fmt.Sprintf("at most live, %d", q.Live))
	}
	if !r.good(e.path("scope"), e.path("match")) {
		return
	}
	if q.Scope == ScopeEverywhere {
		r.failAt(e.path("match"), "given for the scope everywhere", "none, or scope: person, team or repository")
		return
	}
	for i, match := range q.Match {
		if accept := matchable(q.Scope, match); accept != "" {
			r.failAt(fmt.Sprintf("%s[%d]", e.path("match"), i), fmt.Sprintf("%q", match), accept)
		}
	}
}

// matchable returns what would be accepted in place of a glob that can match nobody of the scope; empty: it can.
func matchable(s Scope, match string) string {
	head, _, star := strings.Cut(match, "*")
	switch source, _, whole := strings.Cut(match, ":"); {
	case s == ScopePerson && !(star && !strings.Contains(head, ":")) && !(whole && sourceOf(source)):
		return `a glob over a person's id, which begins with saml:, oidc:, aws:, github: or slack:`
	case s == ScopeRepository && !star && strings.Count(match, "/") != 1:
		return "a glob over owner/name such as acme/*"
	}
	return ""
}

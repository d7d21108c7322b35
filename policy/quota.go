package policy

import (
	"fmt"
	"math"
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// What a limit counts.
const (
	LimitLive     = "live"     // clusters that are accepted and not released
	LimitCreating = "creating" // clusters that are not ready yet
)

// bound is one quota as it applies to the request.
type bound struct {
	profiles.Quota
	key    string // who it is counted for; empty for everywhere
	who    string // the same in words
	counts Counts
}

// bounds are the quotas that match the request. Whoever a quota matches is counted by itself.
func (j judging) bounds() []bound {
	repo := ""
	if j.r.PR != nil {
		repo = j.r.PR.Repo
	}
	var out []bound
	for _, q := range j.terms.Catalogue.Quotas {
		b := bound{Quota: q}
		switch q.Scope {
		case profiles.ScopePerson:
			b.key, b.who, b.counts = j.r.Principal.ID, who(j.r), j.usage.Person
		case profiles.ScopeTeam:
			b.key, b.who, b.counts = j.own.Team, "Team "+j.own.Team, j.usage.Team
		case profiles.ScopeRepository:
			b.key, b.who, b.counts = repo, repo, j.usage.Repository
		case profiles.ScopeEverywhere:
			b.who, b.counts = "This installation", j.usage.Everywhere
		default:
			continue // the loader knows no other
		}
		if q.Scope != profiles.ScopeEverywhere && (b.key == "" || len(q.Match) > 0 && !profiles.FitsAny(q.Match, b.key)) {
			continue
		}
		out = append(out, b)
	}
	return out
}

// checkQuotas asks every quota that matches, a check for each of its bounds.
func (j judging) checkQuotas() Check {
	var checks []Check
	for _, b := range j.bounds() {
		if b.Live > 0 {
			checks = append(checks, j.checkCount(b, LimitLive, b.counts.Live, b.Live))
		}
		if b.Creating > 0 {
			checks = append(checks, j.checkCount(b, LimitCreating, b.counts.Creating, b.Creating))
		}
		if b.NodeHours > 0 {
			checks = append(checks, j.checkNodeHours(b))
		}
	}
	fine := "No quota applies."
	if len(checks) > 0 {
		fine = "There is room in every quota that applies."
	}
	return whole("quota", fine, checks)
}

// checkCount asks for one more of what is counted. Those that wait count too, so that nobody overtakes them.
func (j judging) checkCount(b bound, what string, have, most int) Check {
	noun := map[string]string{LimitLive: "clusters", LimitCreating: "clusters being created"}[what]
	check := Check{Name: b.Name + " " + what, Result: Pass, Asked: "1", Have: fmt.Sprint(have), Accept: fmt.Sprintf("at most %d", most)}
	has := fmt.Sprintf("%s has %d of the %d %s", b.who, have, most, noun)
	if b.counts.Waiting > 0 {
		check.Have = fmt.Sprintf("%d and %d waiting", have, b.counts.Waiting)
		has += fmt.Sprintf(", and %d more that wait for their turn,", b.counts.Waiting)
	}
	check.Words = fmt.Sprintf("%s that quota %s allows at once.", has, b.Name)
	if have+b.counts.Waiting < most {
		return check
	}
	if j.profile.WhenFull == "wait" {
		check.Result, check.Next = Wait, "Nothing: its turn comes by itself when there is room."
		return check
	}
	check.Result = Fail
	check.Next = "Destroy one that is no longer needed, or ask a platform admin to raise the quota."
	if what == LimitCreating {
		check.Next = "Ask again when one of them is ready, or ask a platform admin to raise the quota."
	}
	return check
}

// checkNodeHours asks for the machines' hours until the end. A month's hours do not come back, so nobody waits for them.
func (j judging) checkNodeHours(b bound) Check {
	ttl := wishedTTL(j.r, j.profile)
	need := float64(j.profile.Nodes()) * max(0, ttl).Hours()
	left := max(0, float64(b.NodeHours)-b.counts.NodeHours)
	check := Check{Name: b.Name + " nodeHours", Result: Pass, Asked: hours(need), Have: hours(b.counts.NodeHours), Accept: fmt.Sprintf("at most %s more", down(left)),
		Words: fmt.Sprintf("%s has used or set aside %s of the %d node hours that quota %s allows this month; this cluster needs %s (%d nodes for %s).",
			b.who, hours(b.counts.NodeHours), b.NodeHours, b.Name, hours(need), j.profile.Nodes(), Span(ttl))}
	if b.counts.NodeHours+need <= float64(b.NodeHours) {
		return check
	}
	check.Result, check.Next = Fail, "Ask again next month, or ask a platform admin to raise the quota."
	if fits := time.Duration(left/float64(max(1, j.profile.Nodes()))) * time.Hour; fits >= time.Hour {
		check.Next = fmt.Sprintf("Ask for at most %s, or ask a platform admin to raise the quota.", Span(fits))
	}
	return check
}

// hours writes node hours, rounded up so that little is not nothing; down rounds what is left the other way.
func hours(h float64) string { return fmt.Sprintf("%.0f", math.Ceil(h-1e-9)) }
func down(h float64) string  { return fmt.Sprintf("%.0f", math.Floor(h+1e-9)) }

// limits are the counts that hold for the request, for when it waits.
func (j judging) limits() []Limit {
	var out []Limit
	for _, b := range j.bounds() {
		if b.Live > 0 {
			out = append(out, b.limit(LimitLive, b.Live))
		}
		if b.Creating > 0 {
			out = append(out, b.limit(LimitCreating, b.Creating))
		}
	}
	return out
}

func (b bound) limit(what string, most int) Limit {
	return Limit{Quota: b.Name, Scope: string(b.Scope), Key: b.key, What: what, Most: most}
}

// full are the limits that have no room now.
func (j judging) full() []Limit {
	var out []Limit
	for _, b := range j.bounds() {
		if b.Live > 0 && b.counts.Live+b.counts.Waiting >= b.Live {
			out = append(out, b.limit(LimitLive, b.Live))
		}
		if b.Creating > 0 && b.counts.Creating+b.counts.Waiting >= b.Creating {
			out = append(out, b.limit(LimitCreating, b.Creating))
		}
	}
	return out
}

package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// What a limit counts.
const (
	LimitLive     = "live"     // clusters accepted and not released
	LimitCreating = "creating" // clusters that are not ready yet
)

// bound is one quota as it applies to the request.
type bound struct {
	profiles.Quota
	key    string // who is counted; empty for everywhere
	who    string // the same as text
	counts Counts
}

// matchingBounds returns the quotas that match the request. Each person, team or repository that a quota matches is counted separately.
func (j judging) matchingBounds() []bound {
	repo := ""
	if j.r.PR != nil && j.r.Source != SourceEnvironment && j.r.Source != SourceMergeQueue { // a repository's clusters are those of its pull requests
		repo = j.r.PR.Repo
	}
	var out []bound
	for _, q := range j.terms.Catalogue.Quotas {
		b := bound{Quota: q}
		switch q.Scope {
		case profiles.ScopePerson:
			b.key, b.who, b.counts = j.r.Principal.ID, nameRequester(j.r), j.usage.Person
		case profiles.ScopeTeam:
			b.key, b.who, b.counts = j.own.Team, "Team "+j.own.Team, j.usage.Team
		case profiles.ScopeRepository:
			b.key, b.who, b.counts = repo, repo, j.usage.Repository
		case profiles.ScopeEverywhere:
			b.who, b.counts = "This installation", j.usage.Everywhere
		default:
			continue // the loader accepts no other scope
		}
		if j.r.Source == SourcePool {
			b.Live, b.Creating = 0, 0 // the pool says how many wait, and they count in no quota before they are claimed
		}
		if j.stranger && q.Scope == profiles.ScopeTeam {
			continue // the team's check refuses; what the team has is not revealed
		}
		if q.Scope != profiles.ScopeEverywhere && (b.key == "" || len(q.Match) > 0 && !j.appliesTo(q, b.key)) {
			continue
		}
		out = append(out, b)
	}
	return out
}

// appliesTo reports whether the quota applies to the key. A person matches by any of their identities.
func (j judging) appliesTo(q profiles.Quota, key string) bool {
	return profiles.FitsAny(q.Match, key) ||
		q.Scope == profiles.ScopePerson && slices.ContainsFunc(j.usage.Identities, func(id string) bool { return profiles.FitsAny(q.Match, id) })
}

// waitableLimits returns the bound's limits on clusters at once. These can be waited for; a month's node hours cannot.
func (b bound) waitableLimits() []Limit {
	var out []Limit
	for _, l := range []Limit{{What: LimitLive, Most: b.Live + b.Borrow}, {What: LimitCreating, Most: b.Creating}} {
		if l.Most > 0 {
			l.Quota, l.Scope, l.Key = b.Name, string(b.Scope), b.key
			out = append(out, l)
		}
	}
	return out
}

// countFor returns the current count for the limit.
func (b bound) countFor(l Limit) int {
	if l.What == LimitCreating {
		return b.counts.Creating
	}
	return b.counts.Live
}

// isFull reports that there is no place for one more. Waiting clusters count, so that nobody overtakes them.
func (b bound) isFull(l Limit) bool { return b.countFor(l)+b.counts.Waiting >= l.Most }

// limits returns every limit that applies to the request, and those that are full.
func (j judging) allLimits() (all, full []Limit) {
	for _, b := range j.matchingBounds() {
		for _, l := range b.waitableLimits() {
			all = append(all, l)
			if b.isFull(l) {
				full = append(full, l)
			}
		}
	}
	if c, has := j.cohortUse(); has {
		all = append(all, c.toLimit())
		if c.isFull() {
			full = append(full, c.toLimit())
		}
	}
	return all, full
}

// checkQuotas checks every matching quota, with one check for each of its bounds.
func (j judging) checkQuotas() Check {
	var checks []Check
	for _, b := range j.matchingBounds() {
		for _, l := range b.waitableLimits() {
			checks = append(checks, j.checkCount(b, l))
		}
		if b.NodeHours > 0 {
			checks = append(checks, j.checkNodeHours(b))
		}
	}
	if c, has := j.cohortUse(); has {
		checks = append(checks, j.checkCohort(c))
	}
	fine := "No quota applies."
	if len(checks) > 0 {
		fine = "There is room in every quota that applies."
	}
	return combineChecks("quota", fine, checks)
}

// checkCount checks whether one more fits.
func (j judging) checkCount(b bound, l Limit) Check {
	have, noun := b.countFor(l), map[string]string{LimitLive: "clusters", LimitCreating: "clusters being created"}[l.What]
	check := Check{Name: b.Name + " " + l.What, Result: Pass, Asked: "1", Have: fmt.Sprint(have), Accept: fmt.Sprintf("%d at once, this one included", l.Most),
		Message: fmt.Sprintf("%s has %d of the %d %s that quota %s allows at once", b.who, have, l.Most, noun, b.Name)}
	if have > l.Most { // the quota was lowered, or clusters existed before it applied
		check.Message = fmt.Sprintf("%s has %d %s, and quota %s allows %d at once", b.who, have, noun, b.Name, l.Most)
	}
	if l.What == LimitLive && b.Borrow > 0 {
		check.Message += fmt.Sprintf(", %d of them borrowed", b.Borrow)
	}
	if b.counts.Waiting > 0 {
		check.Have = fmt.Sprintf("%d and %d waiting", have, b.counts.Waiting)
		check.Message += fmt.Sprintf("; waiting for their turn: %d", b.counts.Waiting)
	}
	check.Message += "."
	if !b.isFull(l) {
		return check
	}
	check = j.waitOrRefuse(check, l.Scope == lifecycle.ScopeEverywhere)
	if check.Result == Fail && l.What == LimitCreating {
		check.Next = "Ask again when one of them is ready, or ask a platform admin to raise the quota."
	}
	return check
}

// waitOrRefuse completes the check of a full limit: the profile says whether a request waits for it. Several teams wait for a shared one.
func (j judging) waitOrRefuse(check Check, shared bool) Check {
	if check.Result, check.Next = Wait, "Nothing to do: it starts by itself when there is room."; j.profile.WhenFull != profiles.WhenFullWait {
		check.Result, check.Next = Fail, "Destroy one that is no longer needed, or ask a platform admin to raise the quota."
	} else if shared && j.settings.UsageDecays {
		check.Next += " Among equals, the team that used less lately comes first."
	}
	return check
}

// checkNodeHours checks whether the machines' hours until the end fit into the month.
func (j judging) checkNodeHours(b bound) Check {
	need := float64(j.profile.Nodes()) * j.realLifetime().Hours()
	check, left := b.nodeHours(need, fmt.Sprintf("this cluster needs %s (%d nodes for %s)", formatHours(need), j.profile.Nodes(), duration.Format(ttlOf(j.r, j.profile))))
	fits := j.settings.Asked(time.Duration(left / float64(max(1, j.profile.Nodes())) * float64(time.Hour))).Truncate(time.Hour)
	if check.Result == Fail && fits >= time.Hour {
		check.Next = fmt.Sprintf("Ask for at most %s, or ask a platform admin to raise the quota.", duration.Format(fits))
	}
	return check
}

// nodeHours checks whether that many more node hours fit; left is what the month still has. Used hours do not come back, so nobody
// waits for them.
func (b bound) nodeHours(need float64, needs string) (check Check, left float64) {
	left = max(0, float64(b.NodeHours)-b.counts.NodeHours)
	check = Check{Name: b.Name + " nodeHours", Result: Pass, Asked: formatHours(need), Have: formatHours(b.counts.NodeHours), Accept: fmt.Sprintf("at most %s more", formatHoursDown(left)),
		Message: fmt.Sprintf("%s has used or reserved %s of the %d node hours that quota %s allows this month; %s.",
			b.who, formatHours(b.counts.NodeHours), b.NodeHours, b.Name, needs)}
	if b.counts.NodeHours+need > float64(b.NodeHours) {
		check.Result, check.Next = Fail, "Ask again next month, or ask a platform admin to raise the quota."
	}
	return check, left
}

// formatHours formats node hours, rounded up so that a small amount is not shown as 0; down rounds what is left down.
func formatHours(h float64) string     { return strconv.Itoa(int(math.Ceil(h - 1e-9))) }
func formatHoursDown(h float64) string { return strconv.Itoa(int(math.Floor(h + 1e-9))) }

package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
)

// SmallerCheck is the name of the check that proposes a smaller kind of cluster.
const SmallerCheck = "smaller"

// ProposeSmaller returns a warning for each smaller kind that the same requester could have at once, the cheapest first, with price and time of its
// cheapest profile beside those of the requested one. Whoever names what a smaller kind lacks, such as a version, needs the larger one.
func ProposeSmaller(r Request, u Usage, t Terms, s Settings) (checks []Check) {
	asked := prepareJudging(r, u, t).chooseRegion(true)
	if !asked.known {
		return nil
	}
	other, best := r, map[string]Grant{}    // by kind
	other.Region, other.BaseDomain = "", "" // each hub has its own
	if other.Version == asked.profile.Versions.Default {
		other.Version = "" // forms name what is usual, too
	}
	if other.Addons != nil && len(*other.Addons) == 0 {
		other.Addons = nil
	}
	for _, p := range t.Catalogue.All() {
		if !kinds.IsSmaller(p.Provisioner, asked.profile.Provisioner) {
			continue
		}
		other.Profile = p.Name
		g, free := grantNow(other, u, t, s)
		if before, found := best[p.Provisioner]; free && (!found || g.HourlyCents < before.HourlyCents) {
			best[p.Provisioner] = g
		}
	}
	instead := ""
	if region, known := asked.profile.Region(asked.region); known {
		instead = " instead of " + price.Dollars(int64(region.HourlyCents))
	}
	for _, kind := range slices.SortedFunc(maps.Keys(best), func(a, b string) int {
		return cmp.Or(cmp.Compare(best[a].HourlyCents, best[b].HourlyCents), cmp.Compare(a, b))
	}) {
		g := best[kind]
		checks = append(checks, Check{
			Name: SmallerCheck, Result: Warn, Asked: asked.profile.Name, Accept: g.Profile,
			Message: fmt.Sprintf("Profile %s is ready %s instead of %s, and costs %s an hour%s, by list prices.",
				g.Profile, kinds.ReadyAfter(kind), kinds.ReadyAfter(asked.profile.Provisioner), price.Dollars(int64(g.HourlyCents)), instead),
			Next: fmt.Sprintf("Take it unless you need %s.", kinds.Lacks(kind)),
		})
	}
	return checks
}

// grantNow returns what a request would get; free: it would neither wait nor need an approval.
func grantNow(r Request, u Usage, t Terms, s Settings) (g Grant, free bool) {
	v := Evaluate(r, u, t, s)
	if g = v.Grant; !v.Allowed || v.Approval != nil || len(v.Waits) > 0 {
		return g, false
	}
	account, _ := t.Catalogue.Account(g.Account)
	return g, t.BrakeFor(account, g.Platform, g.Region, g.Profile, g.Ownership.Team, g.Version) == nil
}

// Smaller are the proposals of smaller kinds.
func (v Verdict) Smaller() []Check {
	return slices.DeleteFunc(slices.Clone(v.Checks), func(c Check) bool { return c.Name != SmallerCheck })
}

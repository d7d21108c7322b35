package policy

import (
	"fmt"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
)

// SmallerCheck is the name of the check that proposes a smaller kind of cluster.
const SmallerCheck = "smaller"

// ProposeSmaller returns a warning that names the cheapest profile of a smaller kind which the same requester could have at once, with price and
// time beside those of the requested profile; none if there is no such profile. Whoever names what a smaller kind lacks, such as a version, needs
// the larger one.
func ProposeSmaller(r Request, u Usage, t Terms, s Settings) []Check {
	asked := prepareJudging(r, u, t).chooseRegion(true)
	if !asked.known {
		return nil
	}
	other, best := r, Grant{}
	other.Region, other.BaseDomain = "", "" // each hub has its own
	for _, p := range t.Catalogue.All() {
		if !kinds.IsSmaller(p.Provisioner, asked.profile.Provisioner) {
			continue
		}
		other.Profile = p.Name
		v := Evaluate(other, u, t, s)
		if !v.Allowed || v.Approval != nil || len(v.Waits) > 0 || best.Profile != "" && best.HourlyCents <= v.Grant.HourlyCents {
			continue
		}
		account, _ := t.Catalogue.Account(v.Grant.Account)
		if t.BrakeFor(account, v.Grant.Platform, v.Grant.Region, p.Name, v.Grant.Ownership.Team, v.Grant.Version) == nil {
			best = v.Grant
		}
	}
	if best.Profile == "" {
		return nil
	}
	smaller, _ := t.Catalogue.Get(best.Profile)
	costs := price.Dollars(int64(best.HourlyCents)) + " an hour"
	if region, known := asked.profile.Region(asked.region); known {
		costs += " instead of " + price.Dollars(int64(region.HourlyCents))
	}
	return []Check{{
		Name: SmallerCheck, Result: Warn, Asked: asked.profile.Name, Accept: best.Profile,
		Message: fmt.Sprintf("Profile %s is ready %s instead of %s, and costs %s, by list prices.", best.Profile, kinds.ReadyAfter(smaller.Provisioner), kinds.ReadyAfter(asked.profile.Provisioner), costs),
		Next:    fmt.Sprintf("Take it unless you need %s.", kinds.Lacks(smaller.Provisioner)),
	}}
}

// Smaller is the proposal of a smaller kind; nil: there is none.
func (v Verdict) Smaller() *Check {
	for _, c := range v.Checks {
		if c.Name == SmallerCheck {
			return &c
		}
	}
	return nil
}

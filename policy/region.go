package policy

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// closedRegion is a region that gets no new cluster now.
type closedRegion struct{ name, why string }

// BrakeFor returns the brake that keeps a cluster from being made in a region of an account; nil: none does. The zero account is the
// installation's own.
func (t Terms) BrakeFor(a profiles.Account, platform, region, profile, team, version string) *lifecycle.Brake {
	return lifecycle.BrakeAt(t.Brakes, lifecycle.Place{
		Platform: platform, Account: cmp.Or(a.Number, t.Own[platform]), Region: region, Profile: profile, Team: team, Version: version,
	}, t.Now)
}

// chooseRegion takes the region as requested, else the profile's default. If the default gets no new cluster now, the first of its fallbacks that
// does takes its place. If none does, the cluster waits in the default.
func (j judging) chooseRegion(mayMove bool) judging {
	j.region = cmp.Or(j.r.Region, j.profile.DefaultRegion)
	usual, known := j.profile.Region(j.region)
	if !known || !mayMove || j.r.Region != "" || j.stranger || len(usual.Fallback) == 0 {
		return j
	}
	var closed []closedRegion
	for _, name := range append([]string{usual.Name}, usual.Fallback...) {
		why := j.whyClosed(name)
		if why == "" {
			j.region, j.closed = name, closed
			return j
		}
		closed = append(closed, closedRegion{name, why})
	}
	return j
}

// whyClosed returns why a region gets no new cluster now; empty: it does.
func (j judging) whyClosed(region string) string {
	w, declared := j.accountWish(region)
	best := AccountFit{}
	if ranked := RankAccounts(j.terms.Catalogue.Accounts, w, j.usage.Accounts); len(ranked) > 0 {
		best = ranked[0]
	} else if declared {
		return "no account takes it"
	} else {
		best = fitAccount(profiles.Account{Number: j.terms.Own[j.profile.Platform]}, w, j.usage.Accounts)
	}
	switch {
	case best.Why != "":
		return best.Why
	case best.Brake != nil:
		return best.Brake.String()
	case best.Known && best.Room == 0:
		return "no room for another, as last measured"
	}
	return ""
}

// checkRegion checks that the profile offers the region, and says why another than the usual one was chosen.
func (j judging) checkRegion() Check {
	r, p := j.r, j.profile
	check := checkListed("region", r.Region, profiles.Allowed{Allow: p.RegionNames(), Default: j.region}, p)
	region, known := p.Region(j.region)
	if !known || check.Result != Pass {
		return check
	}
	if len(j.closed) > 0 {
		var why []string
		for _, c := range j.closed {
			why = append(why, fmt.Sprintf("%s gets no new cluster now (%s)", c.name, c.why))
		}
		check.Result, check.Message = Warn, fmt.Sprintf("%s, so it is made in %s. To wait for %s, name it as the region.", strings.Join(why, "; "), j.region, j.closed[0].name)
	}
	if len(region.SpareZones) > 0 && p.Attempts > 1 {
		check.Message += fmt.Sprintf(" If %s has no capacity, the next try takes %s.", oneOf(region.Zones), oneOf(region.SpareZones))
	}
	return check
}

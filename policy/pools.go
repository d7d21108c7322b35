package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/profiles"
)

// NoPool is the pool of a request for a cluster that is made anew.
const NoPool = "none"

// ClaimTerms are what a waiting cluster must fulfil besides what its pool is for.
type ClaimTerms struct {
	Only      bool     `json:"only,omitempty"`      // the request is served from a pool or not at all
	Accounts  []string `json:"accounts,omitempty"`  // the catalogue's names of the cloud accounts in which it may be
	Regions   []string `json:"regions,omitempty"`   // in which it may be besides the grant's: what waits is ready, whatever keeps new ones from there
	AnyDomain bool     `json:"anyDomain,omitempty"` // it may have another base domain than the grant: that of its account
}

// PoolFits reports whether a cluster that waits in the pool is what was granted, and may go to that team.
func PoolFits(p profiles.Pool, g Grant, c profiles.Catalogue) bool {
	profile, known := c.Get(p.Profile)
	return known && p.Profile == g.Profile && p.MayClaim(g.Ownership.Team) && slices.Contains(append([]string{g.Region}, g.ClaimFrom.Regions...), c.RegionOf(p)) &&
		cmp.Or(p.Version, profile.Versions.Default) == g.Version && (g.ClaimFrom.AnyDomain || profile.BaseDomains.Default == g.BaseDomain)
}

// checkPool checks the pool that a request names.
func (j judging) checkPool() Check {
	var open []string
	for _, p := range j.terms.Catalogue.Pools {
		if p.Profile == j.profile.Name && p.MayClaim(j.own.Team) {
			open = append(open, p.Name)
		}
	}
	accept := append(slices.Clone(open), NoPool)
	check := Check{Name: "pool", Result: Pass, Asked: j.r.Pool, Accept: strings.Join(accept, ", ")}
	p, known := j.terms.Catalogue.Pool(j.r.Pool)
	switch {
	case j.r.Pool == NoPool:
		check.Message = "The cluster is made anew, and not taken from a pool."
	case known && p.MayClaim(j.own.Team) && j.r.Name != "":
		check.Result, check.Message = Fail, "A cluster that waits in a pool has a name, and keeps it."
		check.Next = "Leave out the name or the pool."
	case slices.Contains(open, j.r.Pool):
		check.Message = fmt.Sprintf("If a cluster waits in the pool %s that fits, it is taken from there; otherwise it is made anew.", p.Name)
	case known && p.MayClaim(j.own.Team) && p.Profile != j.profile.Name:
		check.Result, check.Message = Fail, fmt.Sprintf("The pool %s holds clusters of the profile %s, and not of %s.", p.Name, p.Profile, j.profile.Name)
	default: // whoever may not claim from a pool does not learn that it is there
		check.Result, check.Message = Fail, fmt.Sprintf("Team %s has no pool that is called %q.", j.own.Team, j.r.Pool)
	}
	if check.Result == Fail && check.Next == "" {
		check.Next = "Leave the pool out: then a waiting cluster is taken if one fits."
	}
	return check
}

// SeesPool reports whether the principal may read about the pool: a team of theirs owns it, or may claim from it, or they read everything.
func (p Principal) SeesPool(pool profiles.Pool) bool {
	teams, every := p.Teams()
	return every || slices.ContainsFunc(teams, func(team string) bool { return team == pool.Team || pool.MayClaim(team) })
}

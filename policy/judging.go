package policy

import (
	"cmp"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// judging is one request while it is checked.
type judging struct {
	r       Request // as requested, with what rules filled in
	profile profiles.Profile
	known   bool          // the profile is known
	own     Ownership     // owner, team and accounting of the future cluster
	team    profiles.Team // the zero value if teams are not declared, if this one is not, or if the requester may not create for it
	price   int64         // of its whole life, in cents; meaningless unless priced
	priced  bool          // region and lifetime are known, and therefore the price
	filled  []Check       // checks for what rules filled in or failed to
	usage   Usage
	terms   Terms

	settings Settings
	defaults fileDefaults
	stranger bool // the requester may not create for the team

	region string         // as requested, else the profile's default, else a fallback of that
	closed []closedRegion // why it is a fallback: those before it

	account      profiles.Account // in which a new cluster is made; the zero value: the installation's own, or none takes it
	accountCheck *Check           // nil: the platform has no accounts of the catalogue
	accounts     []string         // that the team may use, or the one that it named
	claimOnly    bool             // no account takes a new cluster, and a pool may have one that waits
}

// prepareJudging lets the rules fill in what was left out, the profile first, so that every check sees the completed request.
func prepareJudging(r Request, u Usage, t Terms) judging {
	j := judging{r: r, usage: u, terms: t}.withoutTeamData(TeamOf(r, t.Catalogue)).fileProfile()
	if r = j.r; t.Rules != nil && r.Profile == "" {
		j.own, j.team = decideOwnership(r, t.Catalogue)
		j.r, j.filled = t.Rules.Defaults(In{Request: r, Team: j.team, Usage: j.usage, Now: t.Now})
	}
	j.profile, j.known = t.Catalogue.Get(j.r.Profile)
	if j.r.Profile == "" {
		j.profile, j.known = j.defaultProfile()
	}
	j = j.fileTTL()
	j.own, j.team = decideOwnership(j.r, t.Catalogue)
	if t.Rules != nil && j.known {
		in := In{Request: j.r, Profile: j.profile, Team: j.team, Usage: j.usage, Now: t.Now}
		in.Request.Profile = j.profile.Name
		completed, filled := t.Rules.Defaults(in)
		completed.Profile = j.r.Profile // without a profile, the profile check says that none was named
		j.r, j.filled = completed, append(j.filled, filled...)
		j.own, j.team = decideOwnership(j.r, t.Catalogue)
	}
	return j
}

// withoutTeamData clears the team's data for requesters who may not create for it, so that no answer reveals what the team has.
func (j judging) withoutTeamData(team string) judging {
	if j.stranger = !j.r.MayFor(team); j.stranger {
		j.usage.Team, j.usage.Cohort = Counts{}, nil
	}
	return j
}

// completeRequest returns the request with every default filled in, as the rules see it.
func (j judging) completeRequest() Request {
	r, p := j.r, j.profile
	r.Profile = p.Name
	r.Region = j.region
	r.Version = orDefault(r.Version, p.Versions.Default)
	r.BaseDomain = j.baseDomain()
	r.TTL = ttlOf(r, p)
	r.Name, _ = nameOf(r, p.Name)
	r.Team, r.Owner, r.CostCenter, r.Environment = j.own.Team, j.own.Owner, j.own.CostCenter, j.own.Environment
	return r
}

// baseDomain returns the base domain: as requested, else the account's, else the profile's.
func (j judging) baseDomain() string {
	return cmp.Or(j.r.BaseDomain, j.account.BaseDomain, j.profile.BaseDomains.Default)
}

// realLifetime returns how long the cluster will live in real time. Prices and node hours are computed from it.
func (j judging) realLifetime() time.Duration { return max(0, j.settings.Scale(ttlOf(j.r, j.profile))) }

// priceLife computes the cost of the whole life. It is unknown if the profile does not offer the region or the lifetime.
func (j judging) priceLife() judging {
	region, ok := j.profile.Region(j.region)
	if ttl := ttlOf(j.r, j.profile); ok && ttl > 0 && ttl <= j.profile.MaxTTL {
		j.price, j.priced = price.For(region.HourlyCents, j.realLifetime()), true
	}
	return j
}

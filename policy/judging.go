package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// judging is one request on its way through the checks.
type judging struct {
	r       Request // as asked, with what rules filled in
	profile profiles.Profile
	known   bool          // the profile is
	own     Ownership     // whose the cluster will be
	team    profiles.Team // the zero value where teams are not declared, this one is not, or the one who asks is a stranger to it
	price   int64         // of its whole life, by package price; meaningless unless priced
	priced  bool          // region and lifetime are known, and so is the price
	filled  []Check       // what rules filled in, or could not
	usage   Usage
	terms   Terms

	settings Settings
	defaults fileDefaults
	stranger bool // the one who asks may not create for the team
}

// prepare lets the rules fill in what was left out, first of all the profile, so that every check sees the completed request.
func prepare(r Request, u Usage, t Terms) judging {
	j := judging{r: r, usage: u, terms: t}.of(TeamOf(r, t.Catalogue)).fileProfile()
	if r = j.r; t.Rules != nil && r.Profile == "" {
		j.own, j.team = ownership(r, t.Catalogue)
		j.r, j.filled = t.Rules.Defaults(In{Request: r, Team: j.team, Usage: j.usage, Now: t.Now})
	}
	j.profile, j.known = t.Catalogue.Get(j.r.Profile)
	if j.r.Profile == "" {
		j.profile, j.known = j.defaultProfile()
	}
	j = j.fileTTL()
	j.own, j.team = ownership(j.r, t.Catalogue)
	if t.Rules != nil && j.known {
		in := In{Request: j.r, Profile: j.profile, Team: j.team, Usage: j.usage, Now: t.Now}
		in.Request.Profile = j.profile.Name
		completed, filled := t.Rules.Defaults(in)
		completed.Profile = j.r.Profile // nobody named it, and the check says so
		j.r, j.filled = completed, append(j.filled, filled...)
		j.own, j.team = ownership(j.r, t.Catalogue)
	}
	return j
}

// of takes the team's part out of what a stranger to it is judged by, so that no answer tells what the team has.
func (j judging) of(team string) judging {
	if j.stranger = !j.r.MayFor(team); j.stranger {
		j.usage.Team = Counts{}
	}
	return j
}

// complete is the request with every default, as the rules judge it.
func (j judging) complete() Request {
	r, p := j.r, j.profile
	r.Profile = p.Name
	r.Region = orDefault(r.Region, p.DefaultRegion)
	r.Version = orDefault(r.Version, p.Versions.Default)
	r.BaseDomain = orDefault(r.BaseDomain, p.BaseDomains.Default)
	r.TTL = wishedTTL(r, p)
	r.Name, _ = wishedName(r, p.Name)
	r.Team, r.Owner, r.CostCenter, r.Environment = j.own.Team, j.own.Owner, j.own.CostCenter, j.own.Environment
	return r
}

// life is how long the cluster will live by the clock, which is what prices and node hours are counted by.
func (j judging) life() time.Duration { return max(0, j.settings.Scale(wishedTTL(j.r, j.profile))) }

// priceLife says what the whole life costs. It is not known where region or lifetime are none that the profile gives.
func (j judging) priceLife() judging {
	region, ok := j.profile.Region(orDefault(j.r.Region, j.profile.DefaultRegion))
	if ttl := wishedTTL(j.r, j.profile); ok && ttl > 0 && ttl <= j.profile.MaxTTL {
		j.price, j.priced = price.For(region.HourlyCents, j.life()), true
	}
	return j
}

package policy

import (
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Settings is what the installation adds to the profiles.
type Settings struct {
	Hour         time.Duration // length of an hour of TTL and of profile maximum; zero: a real hour. Only a demo changes it
	Grace        time.Duration // in place of the profile's grace; zero: the profile's
	Installation string        // id of this control plane, the InstallationId tag
}

// Scale turns a duration people asked for into one this installation counts with.
func (s Settings) Scale(d time.Duration) time.Duration {
	if s.Hour <= 0 || s.Hour == time.Hour {
		return d
	}
	return time.Duration(float64(d) / float64(time.Hour) * float64(s.Hour))
}

// Evaluate judges a wish for a new cluster. Every question is asked, whatever the earlier answers were; only those that
// need a profile are left out when the profile is not known. An empty profile means the catalogue's default.
func Evaluate(r Request, _ Usage, t Terms, s Settings) Verdict {
	c := t.Catalogue
	p, known := c.Get(r.Profile)
	if r.Profile == "" {
		p, known = c.Default()
	}
	checks := []Check{checkProfile(r, c, p, known)}
	if known {
		checks = append(checks, checkPlatform(r, p, c))
	}
	if p.AdminOnly {
		checks = append(checks, checkAdminOnly(r, p, c))
	}
	checks = append(checks, checkPermission(r, "create a cluster"), checkFork(r), checkOwnership(r), checkTeam(r))
	if known {
		checks = append(checks, checkRegion(r, p), checkListed("version", r.Version, p.Versions, p), checkListed("base-domain", r.BaseDomain, p.BaseDomains, p),
			checkTTL(r, p), checkPrice(r, p))
	} else if r.TTL < 0 {
		checks = append(checks, checkTTL(r, p))
	}
	checks = append(checks, checkName(r, p.Name))
	checks = append(checks, checkTags(r, p, known)...)
	v := Verdict{Checks: checks}
	if v.Allowed = len(v.Refusals()) == 0; v.Allowed {
		v.Grant = grant(r, p, s)
	}
	return v
}

// May judges an act ("destroy", "extend") on a cluster that exists. Permission alone decides: a cluster of a fork's pull
// request, of a profile that was disabled or of a repository that left the table must still come to its end.
func May(r Request, act string) Verdict {
	check := checkPermission(r, deed(act))
	return Verdict{Allowed: check.Result != Fail, Checks: []Check{check}}
}

// grant fills in every default. It is only asked for a wish that passed every check.
func grant(r Request, p profiles.Profile, s Settings) Grant {
	region, _ := p.Region(orDefault(r.Region, p.DefaultRegion))
	g := Grant{
		Profile:     p.Name,
		Platform:    p.Platform,
		Region:      region.Name,
		Zones:       slices.Clone(region.Zones),
		Version:     orDefault(r.Version, p.Versions.Default),
		BaseDomain:  orDefault(r.BaseDomain, p.BaseDomains.Default),
		TTL:         s.Scale(wishedTTL(r, p)),
		MaxTTL:      s.Scale(p.MaxTTL),
		Grace:       p.Grace,
		MaxTries:    p.Attempts,
		HourlyCents: region.HourlyCents,
		Tags:        r.Tags,
		Ownership:   r.Ownership,
	}
	if s.Grace > 0 {
		g.Grace = s.Grace
	}
	g.Name, g.FallbackName = wishedName(r, p.Name)
	g.Ownership.Team = orDefault(r.Team, g.Ownership.Team)
	g.Ownership.Owner = owner(r)
	return g
}

// owner is the person who answers for the cluster: the one the table names, else the one who asks.
func owner(r Request) string { return orDefault(r.Ownership.Owner, r.Principal.Name) }

func wishedTTL(r Request, p profiles.Profile) time.Duration {
	if r.TTL == 0 {
		return p.DefaultTTL
	}
	return r.TTL
}

// wishedName is the person's choice, which has no fallback, or the pull request's.
func wishedName(r Request, profile string) (name, fallback string) {
	if r.Name != "" || r.PR == nil {
		return r.Name, ""
	}
	return PRName(r.PR.Repo, r.PR.Number, profile, r.Generation)
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

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
	MaxGrace     time.Duration // the longest grace a repository's file may give; zero: the one it would have without
	Permission   string        // on GitHub, that it takes to have clusters: one of Permissions; empty: the first
	Forks        string        // approve, or empty: a fork's pull request gets a cluster once a person agreed to its head; deny: never, whatever a repository's file says
	Installation string        // id of this control plane, the InstallationId tag
}

// Scale turns a duration people asked for into one this installation counts with.
func (s Settings) Scale(d time.Duration) time.Duration {
	if s.Hour <= 0 || s.Hour == time.Hour {
		return d
	}
	return time.Duration(float64(d) / float64(time.Hour) * float64(s.Hour))
}

// Asked is what people would ask for to get a duration that this installation counts with.
func (s Settings) Asked(d time.Duration) time.Duration {
	if s.Hour <= 0 || s.Hour == time.Hour {
		return d
	}
	return time.Duration(float64(d) / float64(s.Hour) * float64(time.Hour)).Round(time.Second)
}

// Evaluate judges a wish for a new cluster by the terms, with what is used of the quotas and the budget counted under the
// request's locks. Every question is asked, whatever the earlier answers were; only those that need a profile are left out
// when the profile is not known. An empty profile means what a rule fills in, else the catalogue's default.
func Evaluate(r Request, u Usage, t Terms, s Settings) Verdict {
	j := prepare(r, u, t)
	j.settings = s
	j = j.priceLife()
	v := Verdict{Checks: append(j.recipe(), j.room()...), Catalogue: t.Catalogue.Hash}
	v.Checks = append(v.Checks, checkName(j.r, j.profile.Name), checkTags(j.r, j.profile, j.known))
	if v.Allowed = len(v.Refusals()) == 0; v.Allowed {
		v.Grant = j.grant()
		v.Approval = approval(v.Checks)
		v.Grant.Limits, v.Waits = j.limits()
	}
	return v
}

// recipe are the checks of who asks and of what the profile gives.
func (j judging) recipe() []Check {
	r, p := j.r, j.profile
	checks := []Check{j.checkProfile()}
	if j.known {
		checks = append(checks, checkPlatform(r, p, j.terms.Catalogue))
	}
	if p.AdminOnly {
		checks = append(checks, checkAdminOnly(r, p, j.terms.Catalogue))
	}
	if r.File != nil {
		checks = append(checks, j.checkFile())
	}
	checks = append(checks, checkPermission(r, "create a cluster"))
	if r.PR != nil {
		checks = append(checks, checkDraft(r))
	}
	checks = append(checks, j.checkFork())
	if r.PR != nil {
		checks = append(checks, j.checkFirst())
	}
	checks = append(checks, j.checkOwnership(), j.checkTeam())
	checks = append(checks, j.checkLists()...)
	if j.known && len(j.addons()) > 0 {
		checks = append(checks, j.checkAddons())
	}
	if j.known {
		return append(checks, checkRegion(r, p), checkListed("version", r.Version, p.Versions, p), checkListed("base-domain", r.BaseDomain, p.BaseDomains, p),
			checkTTL(r, p), j.checkPrice())
	}
	if r.TTL < 0 {
		checks = append(checks, checkTTL(r, p))
	}
	return checks
}

// room are the checks of what is used already and of the rules. Without a profile there is nothing to count with.
func (j judging) room() []Check {
	if !j.known {
		return nil
	}
	checks := []Check{j.checkQuotas()}
	if j.team.Budget.MonthlyCents > 0 {
		checks = append(checks, j.checkBudget())
	}
	if j.terms.Rules != nil {
		checks = append(checks, j.checkRules())
	}
	return checks
}

// grant fills in every default. It is only asked for a wish that passed every check.
func (j judging) grant() Grant {
	r, p, s := j.r, j.profile, j.settings
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
		Grace:       j.grace(),
		MaxTries:    p.Attempts,
		HourlyCents: region.HourlyCents,
		PriceCents:  j.price,
		Tags:        r.Tags,
		Ownership:   j.own,
		Nodes:       p.Nodes(),
		Weight:      max(1, j.team.Weight),
		Addons:      slices.Clone(j.addons()),
	}
	g.Name, g.FallbackName = wishedName(r, p.Name)
	return g
}

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

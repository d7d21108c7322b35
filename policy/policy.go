package policy

import (
	"slices"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Settings are the installation's settings for judging.
type Settings struct {
	Hour         time.Duration // length of one hour of TTL or of a profile's maximum; zero: a real hour. Only a demo changes it
	Grace        time.Duration // overrides the profile's grace period; zero: the profile's
	MaxGrace     time.Duration // longest grace period that a repository's file may set; zero: the one that applies without a file
	Permission   string        // permission on GitHub needed to have clusters, one of Permissions; empty: the first
	Forks        string        // approve or empty: a fork's pull request gets a cluster after a person approved its head; deny: never, whatever a repository's file says
	UsageDecays  bool          // among equal clusters that wait, that of the team which used less lately comes first
	Installation string        // id of this installation, the InstallationId tag
}

// Scale converts a duration that people typed into real time of this installation.
func (s Settings) Scale(d time.Duration) time.Duration {
	if s.Hour <= 0 || s.Hour == time.Hour {
		return d
	}
	return time.Duration(float64(d) / float64(time.Hour) * float64(s.Hour))
}

// Asked is the inverse of Scale: what people would type to get a real duration.
func (s Settings) Asked(d time.Duration) time.Duration {
	if s.Hour <= 0 || s.Hour == time.Hour {
		return d
	}
	return time.Duration(float64(d) / float64(s.Hour) * float64(time.Hour)).Round(time.Second)
}

// Evaluate judges a request for a new cluster, with usage of quotas and budget counted under the request's locks. Every check runs,
// whatever the earlier results; only those that need a profile are skipped if it is unknown. An empty profile means the one that a
// rule fills in, otherwise the catalogue's default. A region that takes the place of the usual one never has a request refused: then it waits in the
// usual one.
func Evaluate(r Request, u Usage, t Terms, s Settings) Verdict {
	v, moved := evaluate(r, u, t, s, true)
	if moved && !v.Allowed {
		if usual, _ := evaluate(r, u, t, s, false); usual.Allowed {
			return usual
		}
	}
	return v
}

// evaluate judges a request. moved: another region than the usual one was chosen, which mayMove allows.
func evaluate(r Request, u Usage, t Terms, s Settings, mayMove bool) (v Verdict, moved bool) {
	j := prepareJudging(r, u, t)
	j.settings = s
	j = j.chooseRegion(mayMove).priceLife().chooseAccount()
	v = Verdict{Checks: append(j.runChecks(), j.usageChecks()...), Catalogue: t.Catalogue.Hash}
	v.Checks = append(v.Checks, checkName(j.r, j.profile.Name), checkTags(j.r, j.profile, j.known))
	if v.Allowed = len(v.Refusals()) == 0; v.Allowed {
		v.Grant = j.fillGrant()
		v.Approval = mergeApprovals(v.Checks)
		v.Grant.Limits, v.Waits = j.allLimits()
	}
	return v, len(j.closed) > 0
}

// runChecks runs the checks of who asks and of what the profile allows.
func (j judging) runChecks() []Check {
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
	ofPull := r.PR != nil && r.PR.Number > 0
	if ofPull {
		checks = append(checks, checkDraft(r))
	}
	checks = append(checks, j.checkFork())
	if ofPull {
		checks = append(checks, j.checkFirst())
	}
	checks = append(checks, j.checkOwnership(), j.checkTeam())
	checks = append(checks, j.checkLists()...)
	if j.known && (len(j.chooseAddons()) > 0 || j.r.Addons != nil) {
		checks = append(checks, j.checkAddons())
	}
	if j.known && (j.hoursChoice() != nil || j.offHours()) {
		checks = append(checks, j.checkOffHours())
	}
	if j.known && r.Pool != "" {
		checks = append(checks, j.checkPool())
	}
	if j.accountCheck != nil {
		checks = append(checks, *j.accountCheck)
	}
	if j.known {
		return append(checks, j.checkRegion(), checkListed("version", r.Version, p.Versions, p), checkListed("base-domain", r.BaseDomain, p.BaseDomains, p),
			checkTTL(r, p), j.checkPrice())
	}
	if r.TTL < 0 {
		checks = append(checks, checkTTL(r, p))
	}
	return checks
}

// usageChecks runs the checks of existing usage and of the rules. Without a profile there is nothing to count with.
func (j judging) usageChecks() []Check {
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

// fillGrant fills in every default. It is called only for a request that passed every check.
func (j judging) fillGrant() Grant {
	r, p, s := j.r, j.profile, j.settings
	region, _ := p.Region(j.region)
	g := Grant{
		Profile:     p.Name,
		Platform:    p.Platform,
		Provisioner: p.Provisioner,
		Region:      region.Name,
		Zones:       slices.Clone(region.Zones),
		SpareZones:  slices.Clone(region.SpareZones),
		Version:     orDefault(r.Version, p.Versions.Default),
		BaseDomain:  j.baseDomain(),
		Account:     j.account.Name,
		Exclusive:   j.isExclusive(),
		TTL:         s.Scale(ttlOf(r, p)),
		MaxTTL:      s.Scale(p.MaxTTL),
		Grace:       j.gracePeriod(),
		RunGrace:    min(s.Scale(p.RunGrace), s.Scale(p.MaxTTL)),
		MaxTries:    p.Attempts,
		HourlyCents: region.HourlyCents,
		OnDemand:    region.OnDemand,
		PriceCents:  j.price,
		Tags:        r.Tags,
		Ownership:   j.own,
		Nodes:       p.Nodes(),
		Weight:      max(1, j.team.Weight),
		Priority:    r.priority(),
		Addons:      slices.Clone(j.chooseAddons()),
		OffHours:    j.offHours(),
	}
	g.Name, g.FallbackName = nameOf(r, p.Name)
	g.ClaimFrom = ClaimTerms{Only: j.claimOnly, Accounts: j.accounts, AnyDomain: j.accountCheck != nil && r.BaseDomain == ""}
	for _, c := range j.closed {
		g.ClaimFrom.Regions = append(g.ClaimFrom.Regions, c.name)
	}
	return g
}

// priority is the one that a rule gave. Nobody waits for a cluster of a pool, so it comes last.
func (r Request) priority() int {
	n, err := strconv.Atoi(r.Priority)
	if err != nil && r.Source == SourcePool {
		return -profiles.MostPriority
	}
	return n
}

func ttlOf(r Request, p profiles.Profile) time.Duration {
	if r.TTL == 0 {
		return p.DefaultTTL
	}
	return r.TTL
}

// nameOf returns the name that the person chose, which has no fallback, or the pull request's name.
func nameOf(r Request, profile string) (name, fallback string) {
	if r.Name != "" || r.PR == nil {
		return orDefault(r.Name, r.Anew), ""
	}
	return PRName(r.PR.Repo, r.PR.Number, profile, r.Generation)
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

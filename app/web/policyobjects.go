package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/internal/price/list"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// objectLine is one object of the catalogue, in short.
type objectLine struct {
	Name, Says string
	At         profiles.Place
}

// objectsView is the objects of one kind, for a template.
type objectsView struct {
	View  policyView
	Title string
	Lines []objectLine
}

func newObjectsView(v policyView, title string, lines []objectLine) objectsView {
	return objectsView{v, title, lines}
}

// hitsView is what a rule did, for a template.
type hitsView struct {
	View policyView
	Hits []store.CheckHits
}

func newHitsView(v policyView, hits []store.CheckHits) hitsView { return hitsView{v, hits} }

func sortKeys[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// lineUp makes a line of each object.
func lineUp[T any](all []admin.Placed[T], line func(T) (name, says string)) []objectLine {
	out := make([]objectLine, 0, len(all))
	for _, one := range all {
		name, says := line(one.Value)
		out = append(out, objectLine{name, says, one.At})
	}
	return out
}

// ProfileLines lists the profiles with their size and price.
func (v policyView) ProfileLines() []objectLine {
	return lineUp(v.Profiles, func(p profiles.Profile) (string, string) {
		region, _ := p.Region(p.DefaultRegion)
		size := cmp.Or(p.Share(), fmt.Sprintf("%d control plane machines and %d workers", p.ControlPlane.Replicas, p.Workers.Replicas))
		says := fmt.Sprintf("%s: %s in %s, %s an hour", price.PlatformText(p.Platform), size, region.Name, price.Dollars(int64(region.HourlyCents)))
		switch {
		case !p.Enabled:
			says += "; off: " + p.DisabledReason
		case p.AdminOnly:
			says += "; platform admins only"
		}
		return p.Name, says
	})
}

// TeamLines lists the teams with their budgets.
func (v policyView) TeamLines() []objectLine {
	return lineUp(v.Teams, func(t profiles.Team) (string, string) {
		says := "no budget"
		if t.Budget.MonthlyCents > 0 {
			says = price.Dollars(t.Budget.MonthlyCents) + " a month"
		}
		if t.Owner != "" {
			says += ", owner " + t.Owner
		}
		if t.Cohort != "" {
			says += ", cohort " + t.Cohort
		}
		return t.Name, says
	})
}

// QuotaLines lists the quotas.
func (v policyView) QuotaLines() []objectLine {
	return lineUp(v.Quotas, func(q profiles.Quota) (string, string) {
		var parts []string
		for _, limit := range []struct {
			most int
			text string
		}{{q.Live, "clusters at once"}, {q.Borrow, "more to borrow"}, {q.Creating, "being created"}, {q.NodeHours, "node hours a month"}} {
			if limit.most > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", limit.most, limit.text))
			}
		}
		says := string(q.Scope)
		if len(q.Match) > 0 {
			says += " " + strings.Join(q.Match, ", ")
		}
		return q.Name, says + ": " + strings.Join(parts, ", ")
	})
}

// PersonLines lists the people with their identities.
func (v policyView) PersonLines() []objectLine {
	return lineUp(v.People, func(p profiles.Person) (string, string) {
		return p.Name, p.DisplayName + ": " + strings.Join(p.Identities, ", ")
	})
}

// IdentityLines lists the identities with whom they match and what they give.
func (v policyView) IdentityLines() []objectLine {
	return lineUp(v.Identities, func(i profiles.Identity) (string, string) {
		says := fmt.Sprintf("%s in %s for %s", plainState(i.Role), strings.Join(i.Teams, ", "), i.Source)
		if i.Issuer != "" {
			says += " of " + i.Issuer
		}
		for _, name := range sortKeys(i.Match) {
			says += fmt.Sprintf(", %s %s", name, strings.Join(i.Match[name], " or "))
		}
		return i.Name, says
	})
}

// AddonLines lists the add-ons.
func (v policyView) AddonLines() []objectLine {
	return lineUp(v.Addons, func(a profiles.Addon) (string, string) { return a.Name, a.Description })
}

// PoolLines lists the pools with what they hold.
func (v policyView) PoolLines() []objectLine {
	return lineUp(v.Pools, func(p profiles.Pool) (string, string) {
		says := fmt.Sprintf("%d of %s, with claimed ones at most %d", p.Size, p.Profile, p.Max)
		if p.WaitingCents != nil {
			says += ", for at most " + price.Dollars(int64(*p.WaitingCents)) + " a month"
		}
		return p.Name, says
	})
}

// AccountLines lists the cloud accounts with who may use them.
func (v policyView) AccountLines() []objectLine {
	return lineUp(v.Accounts, func(a profiles.Account) (string, string) {
		says := price.PlatformText(a.Platform) + " " + a.Number
		if a.Cap > 0 {
			says += fmt.Sprintf(", at most %d clusters", a.Cap)
		}
		if len(a.Teams) > 0 {
			says += ", for " + strings.Join(a.Teams, ", ")
		}
		if a.Maintenance {
			says += "; in maintenance, it gets no new clusters"
		}
		return a.Name, says
	})
}

// PriceLines lists the price lists.
func (v policyView) PriceLines() []objectLine {
	return lineUp(v.Prices, func(l list.List) (string, string) {
		return price.PlatformText(l.Cloud), fmt.Sprintf("regions: %d, as of %s, from %s", len(l.Regions), l.AsOf, l.Source)
	})
}

package orphans

import (
	"cmp"
	"path"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Rule exempts what it matches. An empty field matches everything; at least one has to be set. Account, Identity and Name are patterns as
// in path.Match.
type Rule struct {
	Account  string // of the cloud account
	Identity string // of the infraID or ccoctl name
	Name     string // of the resource's name
	TagKey   string // the resource has a tag with this key
	Why      string // for people
}

// matches reports that the rule exempts the group of a resource.
func (r Rule) matches(account, identity string, of Resource) bool {
	if r.TagKey != "" {
		if _, tagged := of.Tags[r.TagKey]; !tagged {
			return false
		}
	}
	for _, p := range []struct{ pattern, value string }{{r.Account, account}, {r.Identity, identity}, {r.Name, cmp.Or(of.Name, of.Tags[tagkey.Name])}} {
		if p.pattern == "" {
			continue
		}
		if ok, err := path.Match(p.pattern, p.value); !ok || err != nil {
			return false
		}
	}
	return r != Rule{Why: r.Why}
}

// agreed is what all tags with one key say. Resources without the tag say nothing.
type agreed struct {
	value   string // empty: none has the tag, or they differ
	several bool   // they differ
}

func (a *agreed) add(value string) {
	switch {
	case value == "" || a.several || a.value == value:
	case a.value == "":
		a.value = value
	default:
		a.value, a.several = "", true
	}
}

// tally sums up the resources of one group.
type tally struct {
	name, owner, team agreed
	managed, tagged   bool
	parts             []lifecycle.Part
}

func (t *tally) add(g *lifecycle.Group, r Resource, a Account) {
	g.Marked = g.Marked || len(marksOf(r.Tags)) > 0
	if r.TaggedLater && (r.Tags[tagkey.ManagedBy] != tagkey.ControlPlaneName || r.Tags[tagkey.ClusterID] == "") {
		g.Untagged = append(g.Untagged, r.ID)
	}
	t.name.add(r.Tags[tagkey.ClusterName])
	t.owner.add(r.Tags[tagkey.Owner])
	t.team.add(r.Tags[tagkey.Team])
	if len(r.Tags) > 0 {
		t.tagged = true
		t.managed = t.managed && r.Tags[tagkey.ManagedBy] == tagkey.ControlPlaneName && r.Tags[tagkey.ClusterID] == g.Cluster
	}
	if g.Exempt == "" {
		for _, rule := range a.Exempt {
			if rule.matches(a.ID, g.Identity, r) {
				g.Exempt = cmp.Or(rule.Why, "scan.exempt")
				break
			}
		}
	}
	part := lifecycle.Part{ID: r.ID, Region: r.Region, SeenAt: r.SeenAt, Sights: r.Sights, Fresh: r.Fresh}
	if a.Prices != nil {
		if cents, known := a.Prices.Resource(r.Type, r.Region, r.Detail, r.Stopped); known {
			part.HourlyCents = &cents
		}
	}
	t.parts = append(t.parts, part)
}

func (t *tally) finish(g *lifecycle.Group) {
	g.SetParts(t.parts)
	g.Name, g.Owner, g.Team, g.Owners = t.name.value, t.owner.value, t.team.value, t.owner.several
	g.Managed = t.tagged && t.managed && g.Cluster != ""
}

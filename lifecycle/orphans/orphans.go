// Package orphans groups what a scan saw in an account by whose it is: by tags, then by names as the installer and ccoctl give them, then
// by the place that a resource is in. What has no such sign is a group of its own.
//
// It is pure, and judges nothing: lifecycle.Judge does. A name or a place never outweighs a tag, and a resource with the marks of two
// clusters is in neither's group.
package orphans

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Resource is one resource as scans saw it.
type Resource struct {
	contract.SeenResource
	SeenAt time.Time // the last time
	Sights int       // scans in a row that saw it
	Fresh  bool      // the newest scan saw it
}

// Prices says what a resource costs, in US cents an hour.
type Prices interface {
	Resource(kind, region, detail string, stopped bool) (centsPerHour float64, known bool)
}

// Account says whose resources are grouped, and how.
type Account struct {
	Platform, ID string
	Installation string          // which looks through the account
	Names        map[string]bool // recorded infraIDs and ccoctl names, of those that Candidates returned
	BaseDomains  []string
	Exempt       []Rule
	Prices       Prices // nil: no price is known
}

// Groups returns the groups of the account, sorted by what identifies them.
func Groups(a Account, seen []Resource) []lifecycle.Group {
	g := &grouping{Account: a, byID: make(map[string]int, len(seen)), seen: seen, signs: make([]sign, len(seen)), state: make([]byte, len(seen))}
	g.readTags()
	g.readNames()
	g.completeCut()
	g.nameGroups()
	groups := map[sign]*lifecycle.Group{}
	all := map[sign]*tally{}
	for i := range seen {
		s := g.signOf(i)
		if groups[s] == nil {
			groups[s] = &lifecycle.Group{Platform: a.Platform, Account: a.ID, Installation: s.installation, Cluster: s.cluster,
				Identity: s.identity, Place: s.place, Domain: s.domain}
			all[s] = &tally{managed: true}
		}
		all[s].add(groups[s], seen[i], a)
	}
	out := make([]lifecycle.Group, 0, len(groups))
	for s, group := range groups {
		all[s].finish(group)
		out = append(out, *group)
	}
	slices.SortFunc(out, func(x, y lifecycle.Group) int {
		return cmp.Or(strings.Compare(x.Installation, y.Installation), strings.Compare(x.Cluster, y.Cluster),
			strings.Compare(x.Identity, y.Identity), strings.Compare(x.Place, y.Place))
	})
	return out
}

// sign is what tells a resource's owner. Resources with equal signs are one group.
type sign struct{ installation, cluster, identity, place, domain string }

func (s sign) isEmpty() bool { return s == sign{} }

// grouping finds the sign of each resource.
type grouping struct {
	Account
	seen  []Resource
	byID  map[string]int // also by the last part of a VPC's and a zone's id
	signs []sign
	state []byte // of the search along places: 0 not begun, 1 under way, 2 done
	names map[string]bool
}

// readTags reads the signs that tags give, and collects the names that they mention.
func (g *grouping) readTags() {
	g.names = map[string]bool{}
	for name := range g.Names {
		g.names[name] = true
	}
	for i, r := range g.seen {
		g.byID[r.ID] = i
		if r.Type == "vpc" || r.Type == "hosted-zone" {
			if _, taken := g.byID[tail(r.ID)]; !taken {
				g.byID[tail(r.ID)] = i
			}
		}
		marks := marksOf(r.Tags)
		g.signs[i] = sign{installation: r.Tags[tagkey.Installation], cluster: r.Tags[tagkey.ClusterID], identity: strings.Join(marks, ",")}
		for _, name := range marks {
			g.names[name] = true
		}
	}
}

func tail(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// marksOf returns the infraIDs and ccoctl names that own a resource according to its tags, sorted.
func marksOf(tags map[string]string) (marks []string) {
	for key, value := range tags {
		for _, prefix := range []string{tagkey.KubernetesCluster, tagkey.ProviderCluster, tagkey.CloudCredential} {
			if name, ok := strings.CutPrefix(key, prefix); ok && value == tagkey.Owned && name != "" {
				marks = append(marks, name)
			}
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// readNames gives an identity to resources without a mark and without a cluster's tag whose name is one that the installer or ccoctl makes
// from a known identity.
func (g *grouping) readNames() {
	for i, r := range g.seen {
		s := &g.signs[i]
		if s.identity != "" || s.cluster != "" {
			continue
		}
		for _, name := range candidates(r.SeenResource) { // the longest first
			if g.names[name] {
				s.identity = name
				break
			}
			if infraID.MatchString(name) && name != r.Name { // of another cluster, whose name begins with what follows
				break
			}
		}
	}
}

// completeCut gives resources that have an identity and no cluster's tag to the only owner that has this identity in its tags. If there
// are several, or if the resource is another installation's, they stay apart. So do those with a name that was recorded here, if the only
// owner is another installation: one forged tag must not hide what is ours.
func (g *grouping) completeCut() {
	type owner struct{ installation, cluster string }
	owners := map[string]map[owner]bool{}
	for _, s := range g.signs {
		if s.identity == "" || s.cluster == "" {
			continue
		}
		if owners[s.identity] == nil {
			owners[s.identity] = map[owner]bool{}
		}
		owners[s.identity][owner{s.installation, s.cluster}] = true
	}
	for i := range g.signs {
		s := &g.signs[i]
		if s.cluster != "" || len(owners[s.identity]) != 1 {
			continue
		}
		for only := range owners[s.identity] {
			if hides := g.Names[s.identity] && only.installation != "" && only.installation != g.Installation; hides {
				continue
			}
			if s.installation == "" || s.installation == only.installation {
				s.installation, s.cluster = only.installation, only.cluster
			}
		}
	}
}

// nameGroups gives a resource group without a sign that of what is in it, if everything in it that has one has the same, and the group has
// the name that an attempt of this cluster gives to its own: the group of a cluster has no tag.
func (g *grouping) nameGroups() {
	within := map[string][]sign{} // by the group's id, each once, and no more than two: a group of several is nobody's
	for i, r := range g.seen {
		s, of := g.signs[i], within[r.Within]
		if r.Within != "" && !s.isEmpty() && len(of) < 2 && !slices.Contains(of, s) {
			within[r.Within] = append(of, s)
		}
	}
	for i, r := range g.seen {
		if of := within[r.ID]; r.Type == "resource-group" && g.signs[i].isEmpty() && len(of) == 1 && g.isGroupOf(of[0], r.Name) {
			g.signs[i] = of[0]
		}
	}
}

func (g *grouping) isGroupOf(s sign, name string) bool {
	at := strings.LastIndex(name, "-")
	return s.cluster != "" && at > 0 &&
		names.Scope{Installation: cmp.Or(s.installation, g.Installation), Cluster: s.cluster, Attempt: names.MostAttempts, Name: name[:at]}.IsCCOName(name)
}

// signOf returns the sign of a resource: its own, else that of the place that it is in, else the place itself.
func (g *grouping) signOf(i int) sign {
	s, r := &g.signs[i], g.seen[i]
	if !s.isEmpty() || g.state[i] == done {
		return *s
	}
	if g.state[i] == underWay { // places that are in each other
		return sign{place: r.ID}
	}
	g.state[i] = underWay
	*s = g.placeOf(r)
	g.state[i] = done
	return *s
}

const (
	underWay = 1
	done     = 2
)

func (g *grouping) placeOf(r Resource) sign {
	if domain := domainOf(r.SeenResource, g.BaseDomains); domain != "" {
		return sign{place: domain, domain: domain}
	}
	if in, known := g.byID[r.Within]; known {
		return g.signOf(in)
	}
	if in, known := g.byID[tail(r.Within)]; known && r.Within != "" {
		return g.signOf(in)
	}
	if name := infraIDOf(r.SeenResource); name != "" {
		return sign{place: name}
	}
	return sign{place: cmp.Or(r.Within, r.ID)}
}

package profiles

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/workhours"
)

// Pool is a stock of ready clusters that wait to be claimed.
type Pool struct {
	Name, DisplayName, Description string

	Profile string // whose clusters it holds
	Region  string // empty: the profile's default
	Version string // empty: the profile's default

	// Whose the waiting clusters are, and who pays for them. Team is set if teams are declared; the rest is as the team says if it is empty.
	Team, Owner, CostCenter, Environment string

	Size          int  // clusters that wait, or are being made for that
	Running       int  // of them, how many are awake; less than Size only if the profile's clusters can sleep
	ByClaims      bool // more than Running are awake in hours in which the last weeks' claims needed it
	Max           int  // waiting and claimed clusters together; at least Size
	MaxConcurrent int  // that are made at once

	MaxAge        time.Duration      // an unclaimed cluster is replaced at that age
	ClaimLifetime time.Duration      // a claimed cluster ends that long after its claim at the latest; zero: as its request says
	Teams         []string           // who may claim: names or globs; empty: every team
	WaitingCents  *int               // what waiting may cost in a calendar month (UTC), in US cents; nil: no limit
	WorkHours     workhours.Schedule // outside of them nothing waits; empty: always
	Paused        bool

	// Digest is of everything that its clusters are made from: the profile's document without what says nothing about clusters, those of the
	// profile's default add-ons, region, version and base domain. A cluster with another digest is stale.
	Digest string
}

// RegionOf returns the region of a pool's clusters.
func (c Catalogue) RegionOf(p Pool) string {
	profile, _ := c.Get(p.Profile)
	return cmp.Or(p.Region, profile.DefaultRegion)
}

// MayClaim reports whether a team may claim the pool's clusters.
func (p Pool) MayClaim(team string) bool { return len(p.Teams) == 0 || FitsAny(p.Teams, team) }

// Pool looks a pool up by its exact name.
func (c Catalogue) Pool(name string) (Pool, bool) {
	for _, p := range c.Pools {
		if p.Name == name {
			return p, true
		}
	}
	return Pool{}, false
}

// The bounds that a pool must keep, and the defaults.
const (
	mostPoolClusters = 1000
	usualMaxAge      = 72 * time.Hour
)

func readPool(r *reader, body []byte) Pool {
	p := Pool{MaxConcurrent: 1}
	doc := r.document(body, "pool")
	if doc == nil {
		return p
	}
	r.object(doc, "", poolFields(r, &p)...)
	checkName(r, p.Name)
	if r.lines["displayName"] == 0 {
		p.DisplayName = p.Name
	}
	if r.lines["running"] == 0 {
		p.Running = p.Size
	}
	if r.good("size", "running") && p.Running > p.Size {
		r.failAt("running", fmt.Sprint(p.Running), fmt.Sprintf("at most size, %d", p.Size))
	}
	if r.good("size", "max") && p.Max < p.Size {
		r.failAt("max", fmt.Sprint(p.Max), fmt.Sprintf("at least size, %d", p.Size))
	}
	return p
}

// poolFieldsOf describes the fields of a pool's file.
func poolFields(r *reader, p *Pool) []field {
	region, version := settable["region"], settable["version"]
	return []field{
		text("name", &p.Name, nameAccept, nameForm.MatchString),
		optional(text("displayName", &p.DisplayName, "a text", isFilled)),
		optional(text("description", &p.Description, "a text", isFilled)),
		text("profile", &p.Profile, "a profile's name", nameForm.MatchString),
		optional(text("region", &p.Region, region.accept, region.ok)),
		optional(text("version", &p.Version, version.accept, version.ok)),
		optional(text("team", &p.Team, teamText, TeamName)),
		optional(text("owner", &p.Owner, tagText, tagValue)),
		optional(text("costCenter", &p.CostCenter, tagText, tagValue)),
		optional(text("environment", &p.Environment, tagText, tagValue)),
		whole("size", &p.Size, 0, mostPoolClusters),
		optional(whole("running", &p.Running, 0, mostPoolClusters)),
		optional(boolean("runningByClaims", &p.ByClaims)),
		whole("max", &p.Max, 0, mostPoolClusters),
		optional(whole("maxConcurrent", &p.MaxConcurrent, 1, mostPoolClusters)),
		optional(span("maxAge", &p.MaxAge, mostTTLHours*time.Hour)),
		optional(span("claimLifetime", &p.ClaimLifetime, mostTTLHours*time.Hour)),
		optional(r.texts("teams", &p.Teams, globText, glob)),
		optional(waitingCents(&p.WaitingCents)),
		workHours(r, &p.WorkHours),
		optional(boolean("paused", &p.Paused)),
		kind("Pool"),
	}
}

// waitingCents reads what waiting may cost in a month.
func waitingCents(into **int) field {
	var dollars int
	f := whole("waitingMonthlyDollars", &dollars, 0, mostMonthlyDollars)
	read := f.read
	f.read = func(n *yaml.Node, path string) bool {
		ok := read(n, path)
		cents := dollars * 100
		return ok && put(into, &cents)
	}
	return f
}

// agreePool checks a pool against the profile and the teams that it names.
func (l *loader) agreePool(e *entry[Pool]) {
	l.agreePoolTeams(*e)
	r, p := e.from, &e.value
	named := slices.IndexFunc(l.profiles, func(other entry[Profile]) bool { return other.value.Name == p.Profile })
	if names := listNames(l.profiles); r.good("profile") && !slices.Contains(names, p.Profile) {
		r.failAt("profile", fmt.Sprintf("%q, which is not a profile", p.Profile), "one of "+strings.Join(names, ", "))
	}
	if named < 0 || !l.profiles[named].sound() {
		return
	}
	of := l.profiles[named].value
	if r.good("profile") && !kinds.Can(of.Provisioner, kinds.Installer) {
		r.failAt("profile", of.Name+", whose clusters do not wait in pools: "+kinds.WhyNot(of.Provisioner), "a profile of clusters that are installed")
	}
	if _, allowed := of.Region(p.Region); r.good("region") && !allowed {
		r.failAt("region", fmt.Sprintf("%q, which %s does not allow", p.Region, of.Name), "one of "+strings.Join(of.RegionNames(), ", "))
	}
	if r.good("version") && !of.Versions.Has(p.Version) {
		r.failAt("version", fmt.Sprintf("%q, which %s does not allow", p.Version, of.Name), "one of "+strings.Join(of.Versions.Allow, ", "))
	}
	if r.good("size", "running") && p.Running < p.Size && of.Sleep == SleepNever {
		accept := "none, or a profile with workers that can be scaled, or with sleep: {mode: stopped}"
		if of.Spot != "" {
			accept = acceptSleep(of)
		}
		r.failAt("running", fmt.Sprintf("%d of %d for clusters that cannot sleep", p.Running, p.Size), accept)
	}
	if r.good("size", "runningByClaims") && p.ByClaims && p.Running >= p.Size {
		r.failAt("runningByClaims", "true, although all are awake always", "false, or running below size")
	}
	for _, one := range []struct {
		name string
		span time.Duration
	}{{"maxAge", p.MaxAge}, {"claimLifetime", p.ClaimLifetime}} {
		if r.good(one.name) && one.span > of.MaxTTL {
			r.failAt(one.name, duration.Typed(one.span), fmt.Sprintf("at most ttl.maxHours of %s, %gh", of.Name, of.MaxTTL.Hours()))
		}
	}
	if p.MaxAge == 0 {
		p.MaxAge = min(usualMaxAge, of.MaxTTL)
	}
	p.Digest = l.digestOf(*p, of)
}

// agreePoolTeams checks a pool against the teams that are declared.
func (l *loader) agreePoolTeams(e entry[Pool]) {
	names := listNames(l.teams)
	if len(names) == 0 {
		return
	}
	r, p := e.from, e.value
	if r.lines["name"] > 0 && r.lines["team"] == 0 {
		r.fail(r.lines["name"], "team", "missing", "one of "+strings.Join(names, ", "))
	}
	if r.good("team") && !slices.Contains(names, p.Team) {
		r.failAt("team", fmt.Sprintf("%q, which is not a team", p.Team), "one of "+strings.Join(names, ", "))
	}
	for i, match := range p.Teams {
		if at := fmt.Sprintf("teams[%d]", i); r.good(at) && !fit(match, names) {
			r.failAt(at, fmt.Sprintf("%q, which is not a team", match), "a team or a glob that matches one: "+strings.Join(names, ", "))
		}
	}
	for _, t := range l.teams {
		if t.value.Name != p.Team || !t.sound() {
			continue
		}
		for _, one := range []struct {
			name, value string
			allowed     []string
		}{{"costCenter", p.CostCenter, t.value.CostCenters}, {"environment", p.Environment, t.value.Environments}} {
			if r.good(one.name) && !slices.Contains(one.allowed, one.value) {
				r.failAt(one.name, fmt.Sprintf("%q, which team %s does not have", one.value, p.Team), "one of "+strings.Join(one.allowed, ", "))
			}
		}
	}
}

// notMade are the fields of a profile or an add-on that say nothing about what a cluster is made from: texts, prices, and what is judged with
// each request.
var notMade = []string{"displayName", "description", "kind", "enabled", "disabledReason", "adminOnly", "default", "whenFull", "pricesAsOf", "workHours", "warnBeforeDestroy", "addons"}

// digestOf returns a hash of what the pool's clusters are made from. It is of the documents and not of the values that are read from them, so
// that another release of ocpctl computes the same.
func (l *loader) digestOf(p Pool, of Profile) string {
	region, _ := of.Region(cmp.Or(p.Region, of.DefaultRegion))
	from := l.documentOf("profiles/" + of.Name + ".yaml")
	from["versions"], from["regions"], from["baseDomains"] = cmp.Or(p.Version, of.Versions.Default), append([]string{region.Name}, region.Zones...), of.BaseDomains.Default
	all := []any{from}
	for _, name := range of.Addons.Default {
		all = append(all, l.documentOf("addons/"+name+".yaml"))
	}
	text, _ := json.Marshal(all) // what the readers accept can be represented
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:12]
}

// documentOf returns what a file says about clusters.
func (l *loader) documentOf(file string) map[string]any {
	from := map[string]any{}
	_ = yaml.Unmarshal([]byte(l.texts[file]), &from) // a file with a problem has no pool that counts
	for _, name := range notMade {
		delete(from, name)
	}
	return from
}

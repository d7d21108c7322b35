package aws

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// zoneLetters are the availability zones of regions that do not have three.
var zoneLetters = map[string]string{"us-east-1": "abcdef", "us-west-2": "abcd"}

func zonesOf(region string) []string {
	var out []string
	for _, letter := range cmp.Or(zoneLetters[region], "abc") {
		out = append(out, region+string(letter))
	}
	return out
}

func (c *call) zoneOr(zone string) (string, error) {
	zones := zonesOf(c.region)
	if zone == "" {
		return zones[0], nil
	}
	if !slices.Contains(zones, zone) {
		return "", fault("InvalidParameterValue", "Value (%s) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: %s.", zone, strings.Join(zones, ", "))
	}
	return zone, nil
}

// asked returns the values of one filter; nil: it was not given.
func (c *call) asked(name string) []string {
	for _, f := range c.params.each("Filter") {
		if f.get("Name") == name {
			return f.list("Value")
		}
	}
	return nil
}

func wanted(values []string, v string) bool { return len(values) == 0 || slices.Contains(values, v) }

func describeRegions(c *call) ([]node, error) {
	var items [][]node
	add := func(regions []string, status string) {
		for _, r := range regions {
			if wanted(c.params.list("RegionName"), r) && wanted(c.asked("region-name"), r) && wanted(c.asked("opt-in-status"), status) {
				items = append(items, []node{el("regionName", r), el("regionEndpoint", "ec2."+r+".amazonaws.com"), el("optInStatus", status)})
			}
		}
	}
	enabled, disabled := c.server.regions(c.world)
	add(enabled, "opt-in-not-required")
	if c.params.get("AllRegions") == "true" {
		add(disabled, "not-opted-in")
	}
	return []node{list("regionInfo", "item", items)}, nil
}

func describeZones(c *call) ([]node, error) {
	names := c.params.list("ZoneName")
	for _, z := range names {
		must.EndIf(!slices.Contains(zonesOf(c.region), z), fault("InvalidParameterValue", "Invalid availability zone: [%s]", z))
	}
	var items [][]node
	for i, z := range zonesOf(c.region) {
		id := strings.ReplaceAll(strings.ReplaceAll(c.region, "us-east-", "use"), "us-west-", "usw") + "-az" + string(rune('1'+i))
		fits := wanted(names, z) && wanted(c.asked("zone-name"), z) && wanted(c.asked("region-name"), c.region) &&
			wanted(c.asked("state"), "available") && wanted(c.asked("zone-type"), "availability-zone")
		if fits {
			items = append(items, []node{el("zoneName", z), el("zoneId", id), el("zoneState", "available"), el("regionName", c.region),
				el("zoneType", "availability-zone"), el("groupName", c.region), el("optInStatus", "opt-in-not-required")})
		}
	}
	return []node{list("availabilityZoneInfo", "item", items)}, nil
}

// regions returns the regions that the account has enabled, and the others. The server's mutex is held.
func (s *Server) regions(w *world) (enabled, disabled []string) {
	for _, r := range s.cfg.Regions {
		if w.disabled[r] {
			disabled = append(disabled, r)
		} else {
			enabled = append(enabled, r)
		}
	}
	return enabled, append(disabled, s.cfg.OptedOut...)
}

// SetRegion enables or disables a region for the account. What is in a disabled region stays, and nobody can ask for it. It ends with the
// process.
func (s *Server) SetRegion(name string, enabled bool) error {
	if !slices.Contains(s.cfg.Regions, name) {
		return fmt.Errorf("there is no region %q; give one of %s", name, strings.Join(s.cfg.Regions, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.disabled[name] = !enabled
	return nil
}

package createform

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// ValuesOf returns what a form shows for a request that is partly known, for example from a command.
func ValuesOf(r app.CreateRequest) Values {
	v := Values{
		Name: r.Name, Profile: r.Profile, Region: r.Region, Version: r.Version, BaseDomain: r.BaseDomain, Team: r.Team, Owner: r.Owner,
		CostCenter: r.CostCenter, Environment: r.Environment, SSHPublicKey: r.SSHPublicKey,
	}
	if r.TTL > 0 {
		v[TTL] = duration.Typed(r.TTL)
	}
	if r.OffhoursOptIn != nil {
		v[OffHours] = strconv.FormatBool(*r.OffhoursOptIn)
	}
	if r.Addons != nil {
		v[Addons], v[AddonsFor] = strings.Join(*r.Addons, ","), r.Profile
	}
	lines := make([]string, 0, len(r.ExtraTags))
	for _, key := range slices.Sorted(maps.Keys(r.ExtraTags)) {
		lines = append(lines, key+"="+r.ExtraTags[key])
	}
	v[ExtraTags] = strings.Join(lines, "\n")
	return v
}

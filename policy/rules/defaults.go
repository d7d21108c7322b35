package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/policy"
)

// mostHours is the longest lifetime that a default may set; the profile's maximum is checked with the request.
const mostHours = 720

// setting is one field that a default fills in.
type setting struct{ field, value string }

// sortSettings returns a default's settings sorted by field, so that the same policy always gives the same result.
func sortSettings(set map[string]string) []setting {
	out := make([]setting, 0, len(set))
	for _, field := range slices.Sorted(maps.Keys(set)) {
		out = append(out, setting{field, set[field]})
	}
	return out
}

// fillSettings sets values that neither the request nor the repository's entry specifies, and returns which.
func fillSettings(r *policy.Request, set []setting) (said []string) {
	for _, s := range set {
		if into, table := targetOf(r, s.field); into != nil && *into == "" && table == "" {
			*into = s.value
			said = append(said, fmt.Sprintf("%s %s", s.field, s.value))
		}
		if hours, err := strconv.Atoi(s.value); s.field == "ttlHours" && r.TTL == 0 && err == nil {
			r.TTL = time.Duration(hours) * time.Hour
			said = append(said, "ttlHours "+s.value)
		}
	}
	return said
}

// targetOf returns the request's field, and the value from the repository's entry for it.
func targetOf(r *policy.Request, field string) (into *string, table string) {
	switch field {
	case "profile":
		return &r.Profile, ""
	case "priority":
		return &r.Priority, ""
	case "region":
		return &r.Region, ""
	case "version":
		return &r.Version, ""
	case "baseDomain":
		return &r.BaseDomain, ""
	case "costCenter":
		return &r.CostCenter, r.Ownership.CostCenter
	case "environment":
		return &r.Environment, r.Ownership.Environment
	}
	return nil, ""
}

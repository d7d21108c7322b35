package web

import (
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// way is one entry of the navigation.
type way struct {
	To, Label string
	Here      bool
	Badge     badge
}

// badge is how much waits on a page. The zero value: nothing.
type badge struct {
	Count int
	Text  string // what these are
}

// navigation lists the pages that a principal may see, with what waits there; here marks the current one.
func navigation(who policy.Principal, here string, badges map[string]badge) []way {
	if who.Role() == "" {
		return nil
	}
	var out []way
	for _, w := range []struct {
		to, text string
		act      policy.Act
	}{
		{"/", "Start", policy.ActSee},
		{listPath, "Clusters", policy.ActSee},
		{"/profiles", "Profiles", policy.ActProfiles},
		{poolsPath, "Pools", policy.ActProfiles},
		{"/new", "New cluster", policy.ActCreate},
		{"/approvals", "Approvals", policy.ActSee},
		{"/usage", "Usage", policy.ActReports},
		{"/reports", "Reports", policy.ActReports},
		{"/limits", "Limits", policy.ActQuotas},
		{brakesPath, "Brakes", policy.ActBrakes},
		{policyPath, "Policy", policy.ActProfiles},
		{"/findings", "Findings", policy.ActFindings},
		{"/admin/orphans", "Orphans", policy.ActFindings},
		{"/deliveries", "Deliveries", policy.ActDeliveries},
		{"/audit", "Audit", policy.ActAudit},
	} {
		if who.MayAnywhere(w.act) {
			out = append(out, way{To: w.to, Badge: badges[w.to], Label: w.text, Here: w.to == here || w.to != "/" && strings.HasPrefix(here, w.to+"/")})
		}
	}
	return out
}

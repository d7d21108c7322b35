package web

import (
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// way is one entry of the navigation.
type way struct {
	To, Label string
	Here      bool
}

// navigation lists the pages that a principal may see; here marks the current one.
func navigation(who policy.Principal, here string) []way {
	if who.Role() == "" {
		return nil
	}
	var out []way
	for _, w := range []struct {
		to, text string
		act      policy.Act
	}{
		{listPath, "Clusters", policy.ActSee},
		{"/new", "New cluster", policy.ActCreate},
		{"/approvals", "Approvals", policy.ActSee},
		{"/usage", "Usage", policy.ActReports},
		{"/reports", "Reports", policy.ActReports},
		{"/limits", "Limits", policy.ActQuotas},
		{"/findings", "Findings", policy.ActFindings},
		{"/admin/orphans", "Orphans", policy.ActFindings},
		{"/deliveries", "Deliveries", policy.ActDeliveries},
		{"/audit", "Audit", policy.ActAudit},
	} {
		if who.MayAnywhere(w.act) {
			out = append(out, way{To: w.to, Label: w.text, Here: w.to == here || w.to != "/" && strings.HasPrefix(here, w.to+"/")})
		}
	}
	return out
}

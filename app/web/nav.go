package web

import (
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// way is one entry of the navigation.
type way struct {
	To, Label string
	Here      bool

	Badge string // what on the page waits for the principal, in short; empty: nothing
}

// navigation lists the pages that a principal may see; here marks the current one. badges are by the
// address of their page.
func navigation(who policy.Principal, here string, badges map[string]string) []way {
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
		{policyPath, "Policy", policy.ActProfiles},
		{"/findings", "Findings", policy.ActFindings},
		{"/admin/orphans", "Orphans", policy.ActFindings},
		{"/deliveries", "Deliveries", policy.ActDeliveries},
		{"/audit", "Audit", policy.ActAudit},
	} {
		if who.MayAnywhere(w.act) {
			out = append(out, way{To: w.to, Label: w.text, Here: w.to == here || w.to != "/" && strings.HasPrefix(here, w.to+"/"), Badge: badges[w.to]})
		}
	}
	return out
}

// badges returns what waits for a principal on other pages, for the navigation.
func (p *pages) badges(who policy.Principal) map[string]string {
	out := map[string]string{}
	if n := p.Admin.Mistakes(who); n > 0 {
		out[policyPath] = strconv.Itoa(n)
	}
	return out
}

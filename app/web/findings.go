package web

import (
	"net/http"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/reports"
)

type findingsView struct {
	Tabs     []way
	Findings []reports.FindingRow
}

// listFindings shows what was found, with resolved findings on request.
func (p *pages) listFindings(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	all := r.FormValue("show") == "all"
	list, err := p.Admin.Findings(r.Context(), who, reports.FindingFilter{Resolved: all, Newest: true})
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "findings", findingsView{Findings: list, Tabs: []way{
		{To: "/findings", Label: "Open", Here: !all}, {To: "/findings?show=all", Label: "All", Here: all},
	}})
}

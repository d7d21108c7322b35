package web

import (
	"net/http"
	"net/url"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/cleanup"
	"github.com/ocpctl/ocpctl/policy"
)

type removalsView struct {
	Plans   []cleanup.Plan
	Refused bool // one of them cannot be removed, so none is approved
}

// removals shows what the removal of orphans would delete: the dry run, with the forms to approve or to exempt them.
func (p *pages) removals(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	plans, err := p.Admin.PlanRemovals(r.Context(), who, r.Form["id"])
	if err != nil {
		p.fail(w, r, who, err)
		return
	}
	v := removalsView{Plans: plans}
	for _, plan := range plans {
		v.Refused = v.Refused || plan.Refused != ""
	}
	p.show(w, r, who, http.StatusOK, "removals", v)
}

func (p *pages) approveRemovals(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	plans, err := p.Admin.ApproveRemovals(r.Context(), who, r.PostForm["id"], originOf(r))
	p.answer(w, r, who, removalsPage(r), messages.RemovalsApproved(len(plans)), err)
}

func (p *pages) exemptOrphans(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	err := p.Admin.ExemptOrphans(r.Context(), who, r.PostForm["id"], originOf(r))
	p.answer(w, r, who, removalsPage(r), messages.OrphansExempted, err)
}

// removalsPage is the page of the orphans that a form decides about.
func removalsPage(r *http.Request) string {
	return "/orphans/removal?" + url.Values{"id": r.PostForm["id"]}.Encode()
}

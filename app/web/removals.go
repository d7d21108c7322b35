package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/cleanup"
)

type removalsView struct {
	Plans   []cleanup.Plan
	Refused bool // one of them cannot be removed, so none is approved
	Stays   bool // all of them are exempt: it is decided that they stay
	NoWay   bool // none of them can be removed, so they can only stay
}

func viewOfRemovals(plans []cleanup.Plan) removalsView {
	v := removalsView{Plans: plans, Stays: true, NoWay: true}
	for _, plan := range plans {
		v.Refused = v.Refused || plan.Refused != ""
		v.NoWay = v.NoWay && plan.Refused != ""
		v.Stays = v.Stays && plan.State == lifecycle.OrphanExempt
	}
	return v
}

// Heading says what the page is about.
func (v removalsView) Heading() string {
	orphans := "an orphan"
	if len(v.Plans) != 1 {
		orphans = strconv.Itoa(len(v.Plans)) + " orphans"
	}
	switch {
	case v.Stays && len(v.Plans) == 1:
		return "Orphan that stays"
	case v.Stays:
		return orphans + " that stay"
	case v.NoWay:
		return "Let " + orphans + " stay"
	}
	return "Remove " + orphans
}

// showRemovals shows what the removal of orphans would delete: the dry run, with the forms to approve or to exempt them.
func (p *pages) showRemovals(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	plans, err := p.Admin.PlanRemovals(r.Context(), who, r.Form["id"])
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "removals", viewOfRemovals(plans))
}

func (p *pages) approveRemovals(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	plans, err := p.Admin.ApproveRemovals(r.Context(), who, r.PostForm["id"], originOf(r))
	p.answerForm(w, r, who, removalsPage(r), sayRemovalsApproved(len(plans)), err)
}

func (p *pages) exemptOrphans(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	err := p.Admin.ExemptOrphans(r.Context(), who, r.PostForm["id"], originOf(r))
	p.answerForm(w, r, who, removalsPage(r), "It stays, and is reported no more.", err)
}

// removalsPage is the page of the orphans that a form decides about.
func removalsPage(r *http.Request) string {
	return "/orphans/removal?" + url.Values{"id": r.PostForm["id"]}.Encode()
}

// sayRemovalsApproved tells an admin what follows from an approval.
func sayRemovalsApproved(n int) string {
	if n == 1 {
		return "The removal is approved. The teardown of its cluster begins within a minute, unless the plan says that it waits."
	}
	return fmt.Sprintf("%d removals are approved. The teardowns of their clusters begin within a minute, unless a plan says that it waits.", n)
}

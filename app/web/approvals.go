package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

type approvalsView struct {
	Waiting, Past []approvalView
	Older         string // cursor of the next page of past approvals
}

// approvalView is one approval as the viewer sees it.
type approvalView struct {
	app.Approval
	Now                       time.Time
	What, Takes, Cost, HeadAt string
	Asks                      string // what the cluster would be
	Seen                      bool   // the viewer may see the cluster
	ReadLink                  string // where to get the link to the granted password; empty: nowhere
}

const pastApprovals = 25

// mostWaiting limits how many waiting approvals are shown.
const mostWaiting = 100

func (p *pages) listApprovals(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	var v approvalsView
	waiting, _, err := p.App.Approvals(r.Context(), who, store.ApprovalFilter{State: clusters.ApprovalPending, Limit: mostWaiting})
	if err == nil {
		v.Waiting, err = p.approvalViews(r.Context(), who, waiting)
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	all, older, err := p.App.Approvals(r.Context(), who, store.ApprovalFilter{Cursor: r.FormValue("cursor"), Limit: pastApprovals})
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	for _, a := range all {
		if a.State != clusters.ApprovalPending {
			v.Past = append(v.Past, approvalView{Approval: a, What: nameApproval(a.Kind)})
		}
	}
	v.Older = older
	p.renderPage(w, r, who, http.StatusOK, "approvals", v)
}

func (p *pages) showApproval(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	a, err := p.App.Approval(r.Context(), who, r.PathValue("id"))
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v, err := p.approvalView(r.Context(), who, a)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "approval", v)
}

// castVote records a person's vote; refusing requires a reason, which the service checks.
func (p *pages) castVote(approves bool) handler {
	return func(w http.ResponseWriter, r *http.Request, who policy.Principal) {
		id := r.PathValue("id")
		a, err := p.App.Vote(r.Context(), who, id, approves, originOf(r))
		p.answerForm(w, r, who, "/approvals/"+id, describeVote(a.Approval), err)
	}
}

// describeVote says what the result of a vote is.
func describeVote(a clusters.Approval) string {
	switch {
	case a.State == clusters.ApprovalPending:
		return fmt.Sprintf("Your approval was recorded: %d of %d.", len(a.Votes), a.Needs)
	case a.State == clusters.ApprovalRefused && a.Kind == clusters.ApproveCreate:
		return "Refused. The cluster is not created."
	case a.State == clusters.ApprovalRefused:
		return "Refused."
	case a.Kind == clusters.ApproveKubeadmin:
		return "Approved. The requester can see the password once."
	case a.Kind == clusters.ApproveKubeconfig:
		return "Approved. The requester can download the installer's kubeconfig once."
	}
	return "Approved. The cluster starts now, or when it reaches the front of the queue."
}

func (p *pages) approvalViews(ctx context.Context, who policy.Principal, list []app.Approval) ([]approvalView, error) {
	out := make([]approvalView, 0, len(list))
	for _, a := range list {
		v, err := p.approvalView(ctx, who, a)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// approvalView adds the cluster or password that an approval is about.
func (p *pages) approvalView(ctx context.Context, who policy.Principal, a app.Approval) (approvalView, error) {
	v := approvalView{Approval: a, Now: p.Now().UTC(), What: nameApproval(a.Kind), Takes: describeNeeded(a.Approval)}
	row, err := p.App.Cluster(ctx, who, a.Cluster)
	switch kind := app.KindOf(err); {
	case err == nil:
		v.addCluster(row, p.GitHub)
	case kind != app.NotFound && kind != app.Denied: // one's own request is shown even after leaving the team
		return approvalView{}, err
	}
	v.addGrant(who)
	return v, nil
}

// addGrant adds the link for the person who was granted access to one of the installer's credentials.
func (v *approvalView) addGrant(who policy.Principal) {
	link := map[clusters.ApprovalKind]string{clusters.ApproveKubeadmin: "/kubeadmin-link", clusters.ApproveKubeconfig: "/admin-kubeconfig-link"}[v.Kind]
	mine := link != "" && v.State == clusters.ApprovalApproved && v.RequestedBy == who.ID
	if v.Seen && mine && v.ExpiresAt.After(v.Now) {
		v.ReadLink = "/clusters/" + v.Cluster + link
	}
}

func (v *approvalView) addCluster(row clusters.Row, github string) {
	v.Seen = true
	if v.Kind == clusters.ApproveCreate {
		machines := ""
		if row.Nodes > 0 {
			machines = fmt.Sprintf(", %d machines", row.Nodes)
		}
		v.Asks = fmt.Sprintf("%s, %s on %s %s%s for %s", row.Profile, kinds.Product(row.Provisioner, row.Release), price.PlatformText(row.Platform), row.Region, machines, duration.Format(row.TTL))
		v.Cost = fmt.Sprintf("about %s an hour, %s until its planned end, by list prices", price.Dollars(int64(row.HourlyCents)), price.Dollars(row.Meter.Left(row.AcceptedAt, row.DestroyAt)))
	}
	if v.Head != "" && row.PR != nil && github != "" {
		v.HeadAt = github + "/" + row.PR.Repo + "/commit/" + v.Head
	}
}

// nameApproval names what is approved.
func nameApproval(kind clusters.ApprovalKind) string {
	switch kind {
	case clusters.ApproveKubeadmin:
		return "Show the kubeadmin password"
	case clusters.ApproveKubeconfig:
		return "Hand out the installer's kubeconfig"
	}
	return "Create a cluster"
}

// describeNeeded says whose approval is needed.
func describeNeeded(a clusters.Approval) string {
	who := "a platform admin"
	if a.ByRole == string(policy.Requester) {
		who = "a requester of the team or a platform admin"
	}
	switch {
	case a.Needs > 1:
		return fmt.Sprintf("approval by %d people, each %s, other than the requester", a.Needs, who)
	case a.Kind.BreakGlass():
		return "approval by " + who + " other than the requester"
	}
	return "approval by " + who
}

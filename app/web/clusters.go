package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	pageSize = 50
	logLines = 60
)

func (p *pages) readCluster(r *http.Request, who policy.Principal) (content, error) {
	v, err := p.detailFor(r.Context(), who, r.PathValue("id"))
	return content{name: "detail", view: v, ended: v.Ended()}, err
}

func (p *pages) detailFor(ctx context.Context, who policy.Principal, id string) (detailView, error) {
	found, err := p.App.Get(ctx, who, id, logLines)
	if err != nil {
		return detailView{}, err
	}
	v := detailOf(found)
	if create := found.Row.Tags["RequestId"]; create != "" && create != found.Job.ID {
		made, err := p.App.Job(ctx, who, create, logLines)
		if err != nil {
			return detailView{}, err
		}
		v.CreateLog = made.Log
	}
	got, err := p.App.Explain(ctx, who, id)
	if err != nil {
		return detailView{}, err
	}
	v.Verdict, v.Ends = got.Verdict, got.Ends
	if v.Approvals, err = p.approvalsOf(ctx, who, found.Row); err != nil {
		return detailView{}, err
	}
	if _, v.Tests, err = p.App.TestReports(ctx, who, id); err != nil {
		return detailView{}, err
	}
	shares, err := p.App.Shares(ctx, who, id)
	if err != nil {
		return detailView{}, err
	}
	if v.Bundles, err = p.Credentials.BundledAttempts(ctx, who, id); err != nil {
		return detailView{}, err
	}
	if v.Access, err = p.accessViews(ctx, who, id); err != nil {
		return detailView{}, err
	}
	role, err := p.App.ClusterRole(ctx, who, found.Row)
	if err != nil {
		return detailView{}, err
	}
	v.Can = offers{Kubeconfig: role != "", Bundle: role == policy.ClusterAdmin && app.MayOpen(who, found.Row), Roles: rolesUpTo(role)}
	if who.Role() != "" { // only people with a role may see the catalogue
		state, err := p.Admin.Catalogue(who)
		if err != nil {
			return detailView{}, err
		}
		v.Can = offersOf(who, found.Row, role, found.Actions, shares, state.Catalogue.Catalogue)
		v.Can.BreakGlass = v.Can.BreakGlass && !slices.ContainsFunc(v.Approvals, func(a approvalView) bool { return a.Kind.BreakGlass() })
	}
	return v, nil
}

// approvalsOf returns a cluster's relevant approvals: those that wait, and granted access to its password.
func (p *pages) approvalsOf(ctx context.Context, who policy.Principal, row clusters.Row) ([]approvalView, error) {
	if row.Desired != lifecycle.Present || who.Role() == "" {
		return nil, nil
	}
	list, _, err := p.App.Approvals(ctx, who, store.ApprovalFilter{Cluster: row.ID})
	if err != nil {
		return nil, err
	}
	var out []approvalView
	for _, a := range list {
		v := approvalView{Approval: a, Now: p.Now().UTC(), What: nameApproval(a.Kind), Takes: describeNeeded(a.Approval)}
		v.addCluster(row, p.GitHub)
		v.addGrant(who)
		if a.State == clusters.ApprovalPending || v.ReadLink != "" {
			out = append(out, v)
		}
	}
	return out, nil
}

// detailOf adds the texts of the cluster's comment to its data.
func detailOf(found app.Details) detailView {
	card := found.Row.Card
	v := detailView{Details: found, Steps: stepsOf(found.Row), Line: chatops.Line(card), ETA: chatops.ETA(card)}
	v.Whose, v.Todo = chatops.Turn(card)
	v.TodoRunbook = chatops.Runbook(card)
	v.Why, v.DesiredWhy = chatops.Brief(card), chatops.BriefEnd(card)
	if card.Status == lifecycle.Creating && card.Why.Failure != card.FailMessage {
		v.LastTry = card.FailMessage
	}
	for _, c := range found.Conditions {
		if c.Type == app.GitHubUpToDate {
			v.GitHubWaits = c.Message
		}
	}
	return v
}

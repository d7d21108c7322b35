package api

import (
	"cmp"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/cleanup"
)

// ApproveOrphans implements POST /api/v1/orphans/approve.
func (s *server) ApproveOrphans(w http.ResponseWriter, r *http.Request) {
	var said v1.OrphanApproval
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	var plans []cleanup.Plan
	var err error
	if said.DryRun {
		plans, err = s.Admin.PlanRemovals(r.Context(), principal(r), said.Ids)
	} else {
		plans, err = s.Admin.ApproveRemovals(r.Context(), principal(r), said.Ids, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	list := v1.RemovalPlans{Items: make([]v1.RemovalPlan, len(plans))}
	for i, p := range plans {
		list.Items[i] = removalPlan(p)
	}
	writeOK(w, list)
}

// ExemptOrphans implements POST /api/v1/orphans/exempt.
func (s *server) ExemptOrphans(w http.ResponseWriter, r *http.Request) {
	var said v1.OrphanExemption
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	if err := s.Admin.ExemptOrphans(r.Context(), principal(r), said.Ids, app.Origin{Source: policy.SourceAPI, Why: said.Reason}); err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, v1.ExemptOrphans{Ids: said.Ids})
}

func removalPlan(p cleanup.Plan) v1.RemovalPlan {
	out := v1.RemovalPlan{
		Orphan: p.Orphan, Class: string(p.Class), ClusterID: p.Cluster, ClusterName: p.Name, Refused: p.Refused, Waits: p.Waits, Doubt: p.Doubt,
		Names: []string{}, Calls: []v1.RemovalCall{}, Removed: removalResources(p.Removed), Kept: removalResources(p.Kept),
	}
	for _, n := range p.Add {
		out.Names = append(out.Names, cmp.Or(n.InfraID, n.CCOName))
	}
	for _, c := range p.Calls {
		out.Calls = append(out.Calls, v1.RemovalCall{What: c.What, Call: c.Call})
	}
	return out
}

func removalResources(of []cleanup.Resource) []v1.RemovalResource {
	out := make([]v1.RemovalResource, len(of))
	for i, r := range of {
		out[i] = v1.RemovalResource{ID: r.ID, Type: r.Type, Region: r.Region, Name: r.Name, Why: r.Why}
	}
	return out
}

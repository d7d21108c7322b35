package api

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

var approvalStates = []string{
	string(clusters.ApprovalPending), string(clusters.ApprovalApproved), string(clusters.ApprovalRefused),
	string(clusters.ApprovalExpired), string(clusters.ApprovalVoid), string(clusters.ApprovalUsed),
}

// ListApprovals implements GET /api/v1/approvals.
func (s *server) ListApprovals(w http.ResponseWriter, r *http.Request, params v1.ListApprovalsParams) {
	q := s.newQuery(r)
	f := store.ApprovalFilter{State: clusters.ApprovalState(q.readChoice("state", params.State, approvalStates...)), Cluster: params.Cluster}
	f.Limit, f.Cursor = q.readPage(params.Limit, params.Cursor, "apr_")
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	list, next, err := s.App.Approvals(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	page := v1.ApprovalPage{Items: []v1.Approval{}, NextCursor: next}
	for _, a := range list {
		page.Items = append(page.Items, toApproval(a, s.App.NameOf))
	}
	writeOK(w, page)
}

// GetApproval implements GET /api/v1/approvals/{id}.
func (s *server) GetApproval(w http.ResponseWriter, r *http.Request, id string) {
	a, err := s.App.Approval(r.Context(), principal(r), id)
	s.writeApproval(w, r, http.StatusOK, a, err)
}

// Approve implements POST /api/v1/approvals/{id}/approve.
func (s *server) Approve(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.MaybeReason
	if !s.readDocument(w, r, &said, true, maxBody) {
		return
	}
	a, err := s.App.Vote(r.Context(), principal(r), id, true, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	s.writeApproval(w, r, http.StatusOK, a, err)
}

// Refuse implements POST /api/v1/approvals/{id}/refuse.
func (s *server) Refuse(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.Reason
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	a, err := s.App.Vote(r.Context(), principal(r), id, false, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	s.writeApproval(w, r, http.StatusOK, a, err)
}

func (s *server) writeApproval(w http.ResponseWriter, r *http.Request, status int, a app.Approval, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeReply(w, jsonType, status, toApproval(a, s.App.NameOf))
}

func toApproval(a app.Approval, name func(string) string) v1.Approval {
	out := v1.Approval{
		ApprovalID: a.ID, Kind: v1.ApprovalKind(a.Kind), ClusterID: a.Cluster, ClusterName: a.ClusterName, Team: a.Team, RequestedBy: a.RequestedBy,
		RequestedByName: name(a.RequestedBy),
		Why:             a.Why, Head: a.Head, Needs: a.Needs, By: a.ByRole, State: v1.ApprovalState(a.State), CreatedAt: a.CreatedAt.UTC(),
		ExpiresAt: a.ExpiresAt.UTC(), DecidedAt: when(a.DecidedAt), DecidedWhy: a.DecidedWhy, Votes: []v1.Vote{}, MayVote: a.MayVote,
	}
	for _, v := range a.Votes {
		out.Votes = append(out.Votes, v1.Vote{Principal: v.Principal, Name: name(v.Principal), Approves: v.Approves, Reason: v.Reason, Source: v.Source, At: v.At.UTC()})
	}
	return out
}

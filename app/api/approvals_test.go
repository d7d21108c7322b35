package api

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// asked makes a cluster whose request needs approval.
func (h *fixture) asked(who oidc.Claims, name string) v1.Accepted {
	h.Helper()
	var made v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters", h.as(who), v1.CreateRequest{Name: name}, http.StatusAccepted, &made, idempotencyKey, "ask-"+name)
	require.Regexp(h, `^apr_`, made.ApprovalID)
	return made
}

func TestWhatNeedsAWordBeginsOnceItIsGiven(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	made := h.asked(oidc.Requester, "big-one")
	require.Contains(t, made.Message, "starts when it is approved")
	var c v1.Cluster
	h.get("/api/v1/clusters/big-one", &c)
	require.True(t, c.NeedsApproval)
	require.Equal(t, "awaiting_approval", c.Phase)

	var a v1.Approval
	h.get("/api/v1/approvals/"+made.ApprovalID, &a)
	require.Equal(t, []any{made.ClusterID, "big-one", "platform", "platform_admin", false}, []any{a.ClusterID, a.ClusterName, a.Team, a.By, a.MayVote})
	require.Equal(t, []string{"Big ones need a word."}, a.Why)
	h.does(http.MethodGet, "/api/v1/approvals/"+made.ApprovalID, h.as(oidc.Admin), nil, http.StatusOK, &a)
	require.True(t, a.MayVote)
	theirs := h.refused(http.MethodGet, "/api/v1/approvals/"+made.ApprovalID, h.as(will), nil, http.StatusNotFound)
	require.Contains(t, theirs.Detail, "You have no approval")
	h.refused(http.MethodPost, "/api/v1/approvals/"+made.ApprovalID+"/approve", h.as(will), nil, http.StatusNotFound)
	p := h.refused(http.MethodPost, "/api/v1/approvals/"+made.ApprovalID+"/approve", h.as(oidc.Requester), nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "Only a platform admin")

	var page v1.ApprovalPage
	for query, want := range map[string]int{"": 1, "?state=pending": 1, "?state=approved": 0, "?cluster=big-one": 1, "?limit=1": 1} {
		page = v1.ApprovalPage{}
		h.get("/api/v1/approvals"+query, &page)
		require.Len(t, page.Items, want, query)
	}
	page = v1.ApprovalPage{}
	h.does(http.MethodGet, "/api/v1/approvals", h.as(will), nil, http.StatusOK, &page)
	require.Empty(t, page.Items)
	h.refused(http.MethodGet, "/api/v1/approvals?cluster=big-one", h.as(will), nil, http.StatusNotFound)
	h.refused(http.MethodGet, "/api/v1/approvals?state=open", h.as(oidc.Admin), nil, http.StatusBadRequest)
	h.refused(http.MethodGet, "/api/v1/approvals", h.as(toni), nil, http.StatusForbidden)

	h.does(http.MethodPost, "/api/v1/approvals/"+made.ApprovalID+"/approve", h.as(oidc.Admin), v1.MaybeReason{Reason: "once"}, http.StatusOK, &a)
	require.Equal(t, v1.ApprovalState("approved"), a.State)
	require.Equal(t, []any{h.id(oidc.Admin), true, "once", "api"}, []any{a.Votes[0].Principal, a.Votes[0].Approves, a.Votes[0].Reason, a.Votes[0].Source})
	p = h.refused(http.MethodPost, "/api/v1/approvals/"+made.ApprovalID+"/approve", h.as(boss), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "no longer pending")
	c = v1.Cluster{}
	h.get("/api/v1/clusters/big-one", &c)
	require.False(t, c.NeedsApproval)
}

func TestTwoAreTwoAndNoneIsTheOneWhoAsked(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	made := h.asked(oidc.Requester, "huge-one")
	path := "/api/v1/approvals/" + made.ApprovalID + "/approve"
	p := h.refused(http.MethodPost, path, h.as(oidc.Requester), nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "needs the approval of 2 others")
	var a v1.Approval
	h.does(http.MethodPost, path, h.as(both), nil, http.StatusOK, &a)
	require.Equal(t, v1.ApprovalState("pending"), a.State)
	p = h.refused(http.MethodPost, path, h.as(both), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "already voted")
	h.does(http.MethodPost, path, h.as(oidc.Admin), nil, http.StatusOK, &a)
	require.Equal(t, v1.ApprovalState("approved"), a.State)
}

func TestAnApprovalIsOfferedToThoseWhoseVotesCount(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	obstacle := func(who oidc.Claims, cluster string) string {
		var c v1.ClusterDetail
		h.does(http.MethodGet, "/api/v1/clusters/"+cluster, h.as(who), nil, http.StatusOK, &c)
		i := slices.IndexFunc(c.Actions, func(a v1.Action) bool { return a.Verb == "approve" })
		require.Equal(t, c.Actions[i].Code == "", c.Actions[i].Reason == "")
		return c.Actions[i].Code
	}
	h.asked(oidc.Requester, "big-one")
	require.Equal(t, []string{"not_permitted", "not_permitted", ""}, []string{obstacle(oidc.Requester, "big-one"), obstacle(both, "big-one"), obstacle(oidc.Admin, "big-one")})
	h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Admin), v1.CreateRequest{Name: "big-two", Team: "platform"}, http.StatusAccepted, nil, idempotencyKey, "big-two")
	require.Equal(t, []string{"own_request", ""}, []string{obstacle(oidc.Admin, "big-two"), obstacle(boss, "big-two")})
	path := "/api/v1/approvals/" + h.asked(oidc.Requester, "huge-one").ApprovalID + "/approve"
	require.Equal(t, []string{"own_request", "", "not_permitted"}, []string{obstacle(oidc.Requester, "huge-one"), obstacle(both, "huge-one"), obstacle(oidc.Auditor, "huge-one")})
	h.does(http.MethodPost, path, h.as(both), nil, http.StatusOK, nil)
	require.Equal(t, "voted", obstacle(both, "huge-one"))
	h.does(http.MethodPost, path, h.as(oidc.Admin), nil, http.StatusOK, nil)
	require.Equal(t, "not_waiting", obstacle(boss, "huge-one"))
}

func TestOneRefusalEndsItWithAReason(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	made := h.asked(oidc.Requester, "big-one")
	path := "/api/v1/approvals/" + made.ApprovalID + "/refuse"
	p := h.refused(http.MethodPost, path, h.as(oidc.Admin), v1.Reason{}, http.StatusUnprocessableEntity)
	require.Equal(t, "reason", p.Errors[0].Field)
	var a v1.Approval
	h.does(http.MethodPost, path, h.as(oidc.Admin), v1.Reason{Reason: "too big"}, http.StatusOK, &a)
	require.Equal(t, []any{v1.ApprovalState("refused"), "too big"}, []any{a.State, a.DecidedWhy})
	var c v1.Cluster
	h.get("/api/v1/clusters/"+made.ClusterID, &c)
	require.Equal(t, v1.ClusterDesired("absent"), c.Desired)
	require.Contains(t, c.DesiredWhy, "too big")
}

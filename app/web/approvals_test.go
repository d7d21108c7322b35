package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestWhatWaitsIsShownWithWhyWhoseWhatItCostsAndUntilWhen(t *testing.T) {
	h := newFixture(t)
	made := h.make("maya", "soak", "platform", 60)
	_, page, _ := h.as("will").get("/approvals")
	for _, want := range []string{
		"Pending", "More than two days take a platform admin&#39;s word.", `href="/clusters/` + made.Row.ID + `">soak</a> of team platform`,
		"aws-minimal-test, OpenShift 4.20.3 on AWS us-east-1, 3 machines for 60 h", "about $0.74 an hour, $44.40 until its planned end, by list prices", "Request: <code", "approval by a platform admin", "Expires",
		`formaction="/approvals/` + made.ApprovalID() + `/approve"`, "None yet.",
	} {
		require.Contains(t, page, want)
	}
	_, page, _ = h.as("maya").get("/approvals")
	require.Contains(t, page, "Only a platform admin of team platform can approve this. You are a requester.")
	require.NotContains(t, page, "/approve")
	_, page, _ = h.as("rob").get("/approvals")
	require.Contains(t, page, "No pending approvals.", "another team's is none of his")
}

func TestAnApprovalIsBoundToACommitThatCanBeLookedAt(t *testing.T) {
	v := approvalView{Approval: app.Approval{Approval: clusters.Approval{Kind: clusters.ApproveCreate, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e"}}}
	row := details(func(r *clusters.Row) { r.PR = &clusters.PRRef{Repo: "acme/shop", Number: 41} }).Row
	v.addCluster(row, "https://github.com")
	require.Equal(t, "https://github.com/acme/shop/commit/6dcb09b5b57875f334f61aebed695e2e4193db5e", v.HeadAt)
	v.State, v.Now = clusters.ApprovalPending, noon
	html := page(t, "approval", v)
	require.Contains(t, html, "<code>6dcb09b5b578</code></a>: a push invalidates the approval.")
}

func TestAWordLetsItBeginOrEndsIt(t *testing.T) {
	h := newFixture(t)
	will := h.as("will")
	yes, no := h.make("maya", "soak", "platform", 60), h.make("maya", "load", "platform", 60)

	_, page, answer := will.post("/approvals/"+yes.ApprovalID()+"/approve", nil)
	require.Equal(t, "/approvals/"+yes.ApprovalID(), answer.Request.URL.Path)
	require.Equal(t, "Approved. The cluster starts now, or when it reaches the front of the queue.", says(page))
	require.Contains(t, page, `title="`+h.id("will")+`">Will</span> approved`)
	require.False(t, h.cluster(yes.Row.ID).NeedsApproval)

	_, page, _ = will.post("/approvals/"+no.ApprovalID()+"/refuse", nil)
	require.Contains(t, says(page), "Add a reason for the audit trail.", "a refusal needs a reason")
	require.True(t, h.cluster(no.Row.ID).NeedsApproval)
	_, page, _ = will.post("/approvals/"+no.ApprovalID()+"/refuse", url.Values{"reason": {"not this month"}})
	require.Equal(t, "Refused. The cluster is not created.", says(page))
	require.Equal(t, lifecycle.Absent, h.cluster(no.Row.ID).Desired)

	_, page, _ = will.get("/approvals")
	require.Contains(t, page, "No pending approvals.")
	require.Contains(t, page, "not this month")
	status, page, _ := will.post("/approvals/"+yes.ApprovalID()+"/approve", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, says(page), "This approval is approved")
}

func TestTheMessageSaysWhoseVotesItTakes(t *testing.T) {
	for want, a := range map[string]clusters.Approval{
		"approval by a platform admin":                                                                     {Needs: 1, ByRole: "platform_admin", Kind: clusters.ApproveCreate},
		"approval by a platform admin other than the requester":                                            {Needs: 1, ByRole: "platform_admin", Kind: clusters.ApproveKubeadmin},
		"approval by 2 people, each a requester of the team or a platform admin, other than the requester": {Needs: 2, ByRole: "requester", Kind: clusters.ApproveCreate},
	} {
		require.Equal(t, want, describeNeeded(a))
	}
	require.Equal(t, "Your approval was recorded: 1 of 2.", describeVote(clusters.Approval{State: clusters.ApprovalPending, Needs: 2, Votes: make([]clusters.ApprovalVote, 1)}))
	require.Equal(t, "Refused.", describeVote(clusters.Approval{State: clusters.ApprovalRefused, Kind: clusters.ApproveKubeadmin}))
}

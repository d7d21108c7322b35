package devstack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
)

// approvals: given by two, refused, out of time, and void when the pull request moves on.
func (l *life) approvals(t *testing.T) {
	together(t, l, map[string]func(*life, *testing.T){
		"two votes, and neither is the asker's": (*life).twoVotes,
		"a push makes a vote void":              (*life).aPushMakesAVoteVoid,
		"refused or out of time, nothing began": (*life).nothingBegan,
	})
}

// requestApproval labels a pull request and returns the approval that it asks for; one that may end in seconds can have ended already.
func (l *life) requestApproval(number int) v1.Approval {
	l.t.Helper()
	require.NoError(l.t, l.GitHub.Label(number, label, "maya"))
	l.runUntil("the request waits for approval", 20*time.Second, func() bool {
		return l.count("SELECT count(*) FROM approvals a JOIN clusters c ON c.id = a.cluster_id WHERE c.pr_number = $1", number) == 1
	})
	return l.approvalOf(number, "")
}

// approvalOf returns the one approval of a pull request's cluster that is in a state; "": in any.
func (l *life) approvalOf(number int, state string) v1.Approval {
	l.t.Helper()
	query := url.Values{"state": {state}, "cluster": {l.nameOf(number)}}.Encode()
	page := ask[v1.ApprovalPage](l.as("admin"), http.MethodGet, "/api/v1/approvals?"+query, nil, http.StatusOK)
	require.Len(l.t, page.Items, 1)
	return page.Items[0]
}

func (l *life) approval(id string) v1.Approval {
	l.t.Helper()
	return ask[v1.Approval](l.as("admin"), http.MethodGet, "/api/v1/approvals/"+id, nil, http.StatusOK)
}

// hears waits until the bot says something on a pull request.
func (l *life) hears(number int, text string) {
	l.t.Helper()
	l.runUntil(fmt.Sprintf("#%d hears %q", number, text), 20*time.Second, func() bool {
		return strings.Contains(strings.Join(l.commentBodies(number), "\n"), text)
	})
}

// twoVotes: the one who asked has none of them, by whatever entry point they come.
func (l *life) twoVotes(*testing.T) {
	const number = 44
	a := l.requestApproval(number)
	require.Equal(l.t, []any{2, "requester", "github:id/2001"}, []any{a.Needs, a.By, a.RequestedBy})
	l.hears(number, "Pull request 44 takes the word of two.")

	_, err := l.GitHub.Comment(number, "/ocp approve "+a.Head, "maya")
	require.NoError(l.t, err)
	l.hears(number, "You requested this yourself")
	_, err = l.GitHub.Comment(number, "/ocp link", "maya")
	require.NoError(l.t, err)
	link := regexp.MustCompile(`/links/\S+`)
	l.hears(number, "/links/")
	at := link.FindString(strings.Join(l.commentBodies(number), "\n"))
	maya := l.signIn("maya")
	status, _, _ := maya.visit(at, url.Values{})
	require.Equal(l.t, http.StatusUnprocessableEntity, status, "one click links nothing")
	status, _, page := maya.visit(at, url.Values{"account": {"maya"}})
	require.Equal(l.t, http.StatusOK, status, page)
	_, _, page = maya.visit("/approvals/"+a.ApprovalID+"/approve", url.Values{})
	require.Contains(l.t, page, "You requested this yourself", "GitHub's maya and the one who signed in are one person now")

	_, err = l.GitHub.Comment(number, "/ocp approve "+a.Head, "will")
	require.NoError(l.t, err)
	l.hears(number, "1 of 2 votes")
	out := l.cli("admin").run("approve", l.nameOf(number), "--reason", "looks fine").ends(0)
	require.Contains(l.t, out, "approved")
	l.as("requester").until(l.nameOf(number), "ready", isReady)
	a = l.approval(a.ApprovalID)
	require.Len(l.t, a.Votes, 2)
	require.Equal(l.t, []string{"github:id/2002", "pr_comment", "api"}, []string{a.Votes[0].Principal, a.Votes[0].Source, a.Votes[1].Source})
}

// aPushMakesAVoteVoid: a word is for exactly the commit it was asked for.
func (l *life) aPushMakesAVoteVoid(*testing.T) {
	const number = 48
	first := l.requestApproval(number)
	l.hears(number, "This one takes a platform admin's word.")
	l.runUntil("the check says so too", 20*time.Second, func() bool {
		for _, c := range l.GitHub.Checks(number) {
			if c.Head == first.Head && c.Status == "queued" && strings.Contains(c.Title, "waiting for approval") {
				return true
			}
		}
		return false
	})
	_, err := l.GitHub.Comment(number, "/ocp approve "+first.Head, "will")
	require.NoError(l.t, err)
	l.hears(number, "Only a platform admin")
	vote := func(id string) string { return "/api/v1/approvals/" + id + "/approve" }
	l.as("requester").refused(http.MethodPost, vote(first.ApprovalID), nil, http.StatusForbidden)

	require.NoError(l.t, l.GitHub.Push(number, "maya"))
	l.askUntil("the word is asked for anew", 20*time.Second, polite, func() bool { return l.approvalOf(number, "pending").ApprovalID != first.ApprovalID })
	second := l.approvalOf(number, "pending")
	require.NotEqual(l.t, first.Head, second.Head)
	require.Equal(l.t, v1.ApprovalStateVoid, l.approval(first.ApprovalID).State)
	l.as("admin").refused(http.MethodPost, vote(first.ApprovalID), nil, http.StatusConflict)
	require.Zero(l.t, l.count("SELECT count(*) FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE c.pr_number = $1", number), "nothing began")

	will := l.signIn("will")
	_, _, page := will.visit("/approvals", nil)
	require.Contains(l.t, page, second.ApprovalID)
	require.NotContains(l.t, page, first.ApprovalID+"/approve")
	status, at, page := will.visit("/approvals/"+second.ApprovalID+"/approve", url.Values{})
	require.Equal(l.t, []any{http.StatusOK, "/approvals/" + second.ApprovalID}, []any{status, at}, page)
	require.Contains(l.t, page, "Approved.")
	l.as("requester").until(l.nameOf(number), "ready", isReady)
}

// nothingBegan: one refusal ends it, and so does silence; there is never an attempt, so nothing has to be counted.
func (l *life) nothingBegan(*testing.T) {
	const refused, silent = 47, 46
	maya := l.as("requester")
	quiet := l.requestApproval(silent)
	no := l.requestApproval(refused)
	at := "/api/v1/approvals/" + no.ApprovalID + "/refuse"
	l.as("admin").refused(http.MethodPost, at, v1.Reason{}, http.StatusUnprocessableEntity)
	said := ask[v1.Approval](l.as("admin"), http.MethodPost, at, v1.Reason{Reason: "not this week"}, http.StatusOK)
	require.Equal(l.t, v1.ApprovalStateRefused, said.State)
	for _, a := range []v1.Approval{no, quiet} {
		c := maya.until(a.ClusterID, "released", isGone)
		require.True(l.t, c.NothingBegun)
		require.Empty(l.t, c.Attempts)
	}
	require.Equal(l.t, v1.ApprovalStateExpired, l.approval(quiet.ApprovalID).State)
	l.hears(refused, "not this week")
	l.hears(silent, "obody approved it by")
}

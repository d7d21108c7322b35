package web

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

func TestEveryActIsAnsweredWithTheServicesMessageOnTheClustersPage(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	at, b := "/clusters/"+row.ID, h.as("zoe")
	for _, step := range []struct {
		to   string
		form url.Values
		want string
	}{
		{"/extend", url.Values{"for": {"1h"}}, "1 h later."},
		{"/extend", url.Values{"for": {"soon"}}, `for: "soon" is not a duration. Accepted: 90m, 4h, 1h30m, 2d, or a number of hours.`},
		{"/sleep", url.Values{"for": {"0"}}, `for: "0" is not a duration. Accepted: 90m`},
		{"/hold", url.Values{"for": {"1h"}, "reason": {"the board looks at it"}}, "It lives until"},
		{"/hold", url.Values{"for": {"1h"}}, "Add a reason for the audit trail. reason: it has 0 bytes. Accepted: 1 to 500 bytes."},
		{"/unhold", nil, "is no longer held"},
		{"/scale", url.Values{"replicas": {"3"}}, "shop is being scaled to 3 workers (job job_"},
		{"/scale", url.Values{"replicas": {"9"}}, "may have 0 to 3 workers"},
		{"/share", url.Values{"kind": {"team"}, "with": {"payments"}, "access": {"edit"}}, "The cluster is now shared with team payments, who may use it as edit."},
		{"/share", url.Values{"kind": {"team"}, "with": {"nobody"}}, `with: there is no team "nobody"`},
		{"/share", url.Values{"kind": {"principal"}, "with": {"somebody"}, "access": {"view"}}, `with: nobody in the catalogue is called "somebody". Accepted: the name of a person in the catalogue, a principal's id`},
		{"/unshare", url.Values{"kind": {"team"}, "with": {"payments"}}, "The cluster is no longer shared with team payments."},
		{"/transfer", url.Values{"team": {"payments"}, "owner": {"rob"}, "reason": {"theirs now"}}, "now belongs to team payments, and its owner is rob"},
		{"/transfer", url.Values{"team": {"security"}}, "Accepted: payments, platform."},
	} {
		_, page, answer := b.press(at, at+step.to, step.form)
		require.Equal(t, at, answer.Request.URL.Path)
		require.Contains(t, says(page), step.want, step.to)
		_, page, _ = b.get(at)
		require.Empty(t, says(page), "it is said once")
	}
	now, err := h.store.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"payments", "rob"}, []string{now.Team, now.Owner})
	require.Equal(t, 3, *now.WorkersWanted)
}

func TestDestroyingAsksFirst(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	b := h.as("maya")
	_, page, _ := b.get("/clusters/" + row.ID)
	require.NotContains(t, page, `action="/clusters/`+row.ID+`/destroy"`, "one click destroys nothing")
	ask := "/clusters/" + row.ID + "/destroy"
	_, page, _ = b.get(ask)
	require.Contains(t, page, "Destroy shop?")
	require.Contains(t, page, "cannot be undone")
	require.Equal(t, lifecycle.Present, h.cluster(row.ID).Desired)

	_, page, _ = b.press(ask, ask, url.Values{"reason": {"done with it"}})
	require.Contains(t, says(page), "shop is being destroyed (job job_")
	require.Equal(t, lifecycle.Absent, h.cluster(row.ID).Desired)
	_, page, answer := b.get(ask)
	require.Equal(t, "/clusters/"+row.ID, answer.Request.URL.Path)
	require.Contains(t, says(page), "already being destroyed: done with it")
}

func (h *fixture) cluster(id string) clusters.Row {
	h.Helper()
	row, err := h.store.Cluster(h.Context(), id)
	require.NoError(h, err)
	return row
}

func TestAStalePageChangesNothing(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	at, b := "/clusters/"+row.ID, h.as("maya")
	_, page, _ := b.get(at)
	mark := b.field(page, "seen")

	_, err := h.service.Hold(t.Context(), h.principal("zoe"), row.ID, app.Span{For: time.Hour}, app.Origin{Why: "mine"})
	require.NoError(t, err)
	for _, to := range []string{"/extend", "/destroy", "/unhold", "/scale"} {
		_, page, _ = b.post(at+to, url.Values{"seen": {mark}, "for": {"1h"}, "replicas": {"1"}})
		require.Contains(t, says(page), "Somebody changed shop after you opened the page, so nothing was done.", to)
		require.Contains(t, page, "mine", "it shows what is so now")
	}
	require.Equal(t, row.Ends.TTL, h.cluster(row.ID).Ends.TTL)
	require.Equal(t, lifecycle.Present, h.cluster(row.ID).Desired)
}

func TestWhatTheControlPlaneDoesItselfMakesNoPageStale(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	at, b := "/clusters/"+row.ID, h.as("maya")
	_, page, _ := b.get(at)
	h.sql(`UPDATE clusters SET row_version = row_version + 7, why = '{"words": "a step further"}' WHERE id = $1`, row.ID)
	_, page, _ = b.post(at+"/extend", url.Values{"seen": {b.field(page, "seen")}, "for": {"1h"}})
	require.Contains(t, says(page), "1 h later.")
}

func TestAVoteForAnotherStandsOnTheClustersPageUntilItIsGiven(t *testing.T) {
	h := newFixture(t)
	made := h.make("maya", "soak", "platform", 60)
	at := "/clusters/" + made.Row.ID
	_, page, _ := h.as("maya").get(at)
	for _, want := range []string{"It is waiting for approval", "More than two days take a platform admin&#39;s word.", "$44.40 until its planned end", "You are a requester"} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "/approve")
	_, page, _ = h.as("will").get(at)
	require.Contains(t, page, "/approvals/"+made.ApprovalID()+"/approve")
}

// mayDo is what somebody is offered.
func mayDo(role policy.Role, change func(*clusters.Row), shares ...people.Share) string {
	row := details(change).Row
	row.Team = "platform"
	who, inCluster := policy.As("x", "X", role, "platform", "payments"), policy.ClusterRole("")
	if who.May(policy.ActKubeconfig, row.Team) {
		inCluster = policy.ClusterAdmin
	}
	return offersOf(who, row, inCluster, policy.Actions(row.Card, app.RightsOn(who, row, shareOf(inCluster), false), noon), shares, profiles.Catalogue{}).Kinds()
}

func TestOnlyWhatMakesSenseIsOffered(t *testing.T) {
	least, most := 0, 3
	for want, change := range map[string]func(*clusters.Row){
		"extend-hold-link-glass-share-transfer-destroy": func(*clusters.Row) {},
		"extend-hold-scale-link-glass-share-transfer-destroy": func(r *clusters.Row) {
			r.WorkersLeast, r.WorkersMost = &least, &most
		},
		"hold-link-glass-share-transfer-destroy": func(r *clusters.Row) { r.Ends.TTL = r.Ends.Max },
		"extend-hold-share-transfer-destroy":     func(r *clusters.Row) { r.Status, r.Outputs = lifecycle.Creating, nil },
		"retry": func(r *clusters.Row) {
			r.Status, r.Phase, r.Desired = lifecycle.Failed, lifecycle.DestroyBlocked, lifecycle.Absent
		},
		"": func(r *clusters.Row) {
			r.Status, r.Phase, r.Desired, r.ReleasedAt = lifecycle.Destroyed, lifecycle.Released, lifecycle.Absent, noon
		},
	} {
		require.Equal(t, want, mayDo(policy.Requester, change))
	}
	blocked := func(r *clusters.Row) {
		r.Status, r.Phase, r.Desired = lifecycle.Failed, lifecycle.DestroyBlocked, lifecycle.Absent
	}
	require.Equal(t, "retry-abandon", mayDo(policy.PlatformAdmin, blocked))
	require.Empty(t, mayDo(policy.Auditor, func(*clusters.Row) {}))
	require.Equal(t, "share", mayDo(policy.Auditor, func(*clusters.Row) {}, people.Share{Kind: "principal", Grantee: "x"}), "to give it back")
}

func TestAMarkChangesWithWhatPeopleChange(t *testing.T) {
	row := details(func(*clusters.Row) {}).Row
	first := markOfState(row, nil)
	n := 2
	for name, change := range map[string]func(*clusters.Row){
		"desired": func(r *clusters.Row) { r.Desired = lifecycle.Absent }, "owner": func(r *clusters.Row) { r.Owner = "rob" }, "team": func(r *clusters.Row) { r.Team = "x" },
		"end": func(r *clusters.Row) { r.Ends.TTL = noon.Add(time.Minute) }, "hold": func(r *clusters.Row) { r.Ends.Hold = noon },
		"workers": func(r *clusters.Row) { r.WorkersWanted = &n }, "approval": func(r *clusters.Row) { r.NeedsApproval = true },
	} {
		changed := details(change).Row
		require.NotEqual(t, first, markOfState(changed, nil), name)
	}
	require.NotEqual(t, first, markOfState(row, []people.Share{{Kind: "team", Grantee: "x", Access: people.AccessSee}}))
	require.NotEqual(t, markOfState(row, []people.Share{{Access: people.AccessUse, Role: "view"}}), markOfState(row, []people.Share{{Access: people.AccessUse, Role: "admin"}}))
	row.Version, row.Why.Words, row.Phase = 9, "further", lifecycle.Degraded
	require.Equal(t, first, markOfState(row, nil))
}

func TestWithoutAMarkAFormIsForTheClusterAsItIs(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	status, page, _ := h.as("maya").post("/clusters/"+row.ID+"/extend", url.Values{"for": {"1h"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, says(page), "1 h later.")
}

package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/duration"
)

func TestDestroyingAgainAnswersWithTheSameJob(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	var first, again v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters/shop/destroy", h.as(oidc.Requester), v1.MaybeReason{Reason: "done"}, http.StatusAccepted, &first)
	require.Equal(t, made.ClusterID, first.ClusterID)
	h.does(http.MethodPost, "/api/v1/clusters/"+made.ClusterID+"/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, &again)
	require.Equal(t, first.JobID, again.JobID)
	h.step(made.ClusterID)
	h.does(http.MethodPost, "/api/v1/clusters/"+made.ClusterID+"/destroy", h.as(oidc.Admin), nil, http.StatusAccepted, &again)
	require.Equal(t, v1.Status("DESTROYED"), again.Status)

	p := h.refused(http.MethodPost, "/api/v1/clusters/"+made.ClusterID+"/destroy", h.as(oidc.Auditor), nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "you need the role requester or platform admin there. You are an auditor")
	require.Contains(t, p.Detail, "Ask someone of team platform")
}

func TestAChangeIsMeantForTheClusterThatWasSeen(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	path := "/api/v1/clusters/" + made.ClusterID
	seen := h.does(http.MethodGet, path, h.as(oidc.Requester), nil, http.StatusOK, nil).Header.Get("ETag")
	require.Regexp(t, `^"\d+"$`, seen)
	var c v1.Change
	after := h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, &c, "If-Match", seen)
	require.NotEqual(t, seen, after.Header.Get("ETag"))
	for what, body := range map[string]any{
		"extend": v1.Extend{Hours: 1}, "hold": v1.Hold{Hours: 1, Reason: "x"}, "destroy": v1.MaybeReason{}, "transfer": v1.Transfer{Team: "platform", Owner: "will"},
	} {
		p := h.refused(http.MethodPost, path+"/"+what, h.as(oidc.Requester), body, http.StatusPreconditionFailed, "If-Match", seen)
		require.Contains(t, p.Detail, "nothing was done", what)
	}
	h.refused(http.MethodDelete, path+"/hold", h.as(oidc.Requester), nil, http.StatusPreconditionFailed, "If-Match", seen)
	for _, bad := range []string{"17", `W/"17"`, `"x"`, `"1", "2"`, `"-1"`} {
		p := h.refused(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusBadRequest, "If-Match", bad)
		require.Equal(t, "If-Match", p.Errors[0].Field, bad)
	}
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, nil, "If-Match", "*")
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusOK, nil)
}

func TestAnExtensionMovesTheEndAndNeverPassesTheMaximum(t *testing.T) {
	h := newFixture(t)
	path := "/api/v1/clusters/" + h.make(oidc.Requester, "shop").ClusterID
	var before v1.Cluster
	h.get(path, &before)
	var c v1.Change
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 2}, http.StatusOK, &c)
	require.Equal(t, before.DestroyAt.Add(2*time.Hour), c.Cluster.DestroyAt)
	require.Contains(t, c.Message, "2 h later")
	until := before.DestroyAt.Add(5 * time.Hour)
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Until: until}, http.StatusOK, &c)
	require.Equal(t, until, c.Cluster.DestroyAt)
	h.does(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 500}, http.StatusOK, &c)
	require.True(t, c.Capped)
	require.Equal(t, before.MaxDestroyAt, c.Cluster.DestroyAt)
	require.Contains(t, c.Message, "the maximum of its profile")

	for name, body := range map[string]any{
		"neither": v1.Extend{}, "both": v1.Extend{Hours: 1, Until: until}, "negative": map[string]any{"hours": -1}, "backwards": v1.Extend{Until: before.AcceptedAt},
		"at its maximum": v1.Extend{Hours: 1}, "no number": map[string]any{"hours": "two"}, "no field": map[string]any{"hour": 2},
	} {
		p := h.refused(http.MethodPost, path+"/extend", h.as(oidc.Requester), body, http.StatusUnprocessableEntity)
		require.NotEmpty(t, p.Errors, name)
		require.NotEmpty(t, p.Errors[0].Accepted, name)
	}
	h.refused(http.MethodPost, path+"/extend", h.as(oidc.Requester), nil, http.StatusBadRequest)
	h.does(http.MethodPost, path+"/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, nil)
	p := h.refused(http.MethodPost, path+"/extend", h.as(oidc.Requester), v1.Extend{Hours: 1}, http.StatusConflict)
	require.Contains(t, p.Detail, "already being destroyed")
}

func TestAHoldIsAFloorUnderTheEnds(t *testing.T) {
	h := newFixture(t)
	path := "/api/v1/clusters/" + h.make(oidc.Requester, "shop").ClusterID
	var c v1.Change
	h.does(http.MethodPost, path+"/hold", h.as(oidc.Requester), v1.Hold{Hours: 48, Reason: "a bug to look at"}, http.StatusOK, &c)
	require.Equal(t, c.Cluster.HoldUntil, c.Cluster.DestroyAt)
	require.Contains(t, c.Cluster.EndReason, "postponed by a hold")
	h.does(http.MethodPost, path+"/hold", h.as(oidc.Requester), v1.Hold{Until: now().Add(10_000 * time.Hour), Reason: "for ever"}, http.StatusOK, &c)
	require.True(t, c.Capped)
	require.Equal(t, c.Cluster.MaxDestroyAt, c.Cluster.DestroyAt)
	c = v1.Change{}
	h.does(http.MethodDelete, path+"/hold", h.as(oidc.Requester), nil, http.StatusOK, &c)
	require.Zero(t, c.Cluster.HoldUntil)
	require.Contains(t, c.Message, "no longer held")
	h.does(http.MethodDelete, path+"/hold", h.as(oidc.Requester), nil, http.StatusOK, &c)
	require.Contains(t, c.Message, "was not held")

	for field, body := range map[string]any{
		"reason": v1.Hold{Hours: 1}, "for": v1.Hold{Reason: "x"}, "until": v1.Hold{Until: now().Add(-time.Hour), Reason: "x"},
		"tonight": v1.Hold{For: "4h", Tonight: true, Reason: "x"},
	} {
		p := h.refused(http.MethodPost, path+"/hold", h.as(oidc.Requester), body, http.StatusUnprocessableEntity)
		require.Equal(t, field, p.Errors[0].Field)
	}
}

func TestNothingIsPutToSleepForNoTime(t *testing.T) {
	h := newFixture(t)
	path := "/api/v1/clusters/" + h.make(oidc.Requester, "shop").ClusterID
	for _, body := range []v1.SleepRequest{{For: "0"}, {For: "0h", Until: now().Add(time.Hour)}, {For: "never"}} {
		p := h.refused(http.MethodPost, path+"/sleep", h.as(oidc.Requester), body, http.StatusUnprocessableEntity)
		require.Equal(t, "for", p.Errors[0].Field)
		require.Equal(t, []string{duration.Accepted}, p.Errors[0].Accepted)
	}
	p := h.refused(http.MethodPost, path+"/sleep", h.as(oidc.Requester), v1.SleepRequest{For: "4h", Hours: 4}, http.StatusUnprocessableEntity)
	require.Equal(t, []string{"one of for, hours and until"}, p.Errors[0].Accepted)
}

// Who may approve in a team of their own would else decide what another team's admin was asked for.
func TestWhatWaitsForATeamsWordStaysWithTheTeam(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	h.does(http.MethodPost, "/api/v1/clusters", h.as(both), v1.CreateRequest{Name: "big-one", Team: "platform"}, http.StatusAccepted, nil, idempotencyKey, "k")
	p := h.refused(http.MethodPost, "/api/v1/clusters/big-one/transfer", h.as(both), v1.Transfer{Team: "security"}, http.StatusConflict)
	require.Contains(t, p.Detail, "Get it approved first")
	h.does(http.MethodPost, "/api/v1/clusters/big-one/transfer", h.as(both), v1.Transfer{Team: "platform", Owner: "maya"}, http.StatusOK, nil)
}

func TestATransferNeedsMembershipAndQuotaInTheNewTeam(t *testing.T) {
	h := fixtureWith(t, teams(t), nil)
	made := h.make(oidc.Requester, "shop")
	path := "/api/v1/clusters/" + made.ClusterID + "/transfer"
	p := h.refused(http.MethodPost, path, h.as(oidc.Requester), v1.Transfer{Team: "security"}, http.StatusUnprocessableEntity)
	require.Contains(t, p.Errors[0].Detail, "may not create clusters for team")
	p = h.refused(http.MethodPost, path, h.as(oidc.Admin), v1.Transfer{Team: "nobody"}, http.StatusUnprocessableEntity)
	require.Equal(t, []string{"platform", "security", "team-a"}, p.Errors[0].Accepted)
	h.refused(http.MethodPost, path, h.as(will), v1.Transfer{Team: "security"}, http.StatusNotFound)

	var c v1.Change
	h.does(http.MethodPost, path, h.as(both), v1.Transfer{Team: "security", Reason: "it is theirs"}, http.StatusOK, &c)
	require.Equal(t, []string{"security", "Both"}, []string{c.Cluster.Team, c.Cluster.Owner})
	require.Contains(t, c.Message, "The cloud tags keep their original values")
	h.refused(http.MethodGet, "/api/v1/clusters/"+made.ClusterID, h.as(oidc.Requester), nil, http.StatusNotFound)

	for i := range 5 {
		h.accept("full-"+string(rune('a'+i)), "team-a")
	}
	p = h.refused(http.MethodPost, path, h.as(oidc.Admin), v1.Transfer{Team: "team-a"}, http.StatusConflict)
	require.Contains(t, p.Detail, "has 5 of the 5 clusters")
}

func TestWorkersAreScaledWithinTheBoundsOfTheProfile(t *testing.T) {
	h := newFixture(t)
	var made v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters", h.as(oidc.Requester), v1.CreateRequest{Name: "shop", Profile: "aws-standard", CostCenter: "c", Environment: "e"},
		http.StatusAccepted, &made, idempotencyKey, "k")
	path := "/api/v1/clusters/" + made.ClusterID + "/scale-workers"
	p := h.refused(http.MethodPost, path, h.as(oidc.Requester), v1.Scale{Replicas: 2}, http.StatusConflict)
	require.Contains(t, p.Detail, "only while the cluster is READY")
	h.ready(made.ClusterID)
	var first, again v1.Accepted
	h.does(http.MethodPost, path, h.as(oidc.Requester), v1.Scale{Replicas: 0}, http.StatusAccepted, &first)
	require.NotEqual(t, made.JobID, first.JobID)
	h.does(http.MethodPost, path, h.as(oidc.Requester), v1.Scale{Replicas: 0}, http.StatusAccepted, &again)
	require.Equal(t, first.JobID, again.JobID)
	var job v1.JobDetail
	h.get("/api/v1/jobs/"+first.ClusterID, &job) // the newest of the cluster
	require.Equal(t, first.ClusterID, job.ClusterID)
	h.get("/api/v1/jobs/"+first.JobID, &job)
	require.Equal(t, "SCALE_WORKERS", job.Type)

	p = h.refused(http.MethodPost, path, h.as(oidc.Requester), v1.Scale{Replicas: 99}, http.StatusUnprocessableEntity)
	require.Equal(t, "replicas", p.Errors[0].Field)
	p = h.refused(http.MethodPost, path, h.as(oidc.Requester), map[string]any{}, http.StatusUnprocessableEntity)
	require.Equal(t, v1.FieldError{Field: "replicas", Detail: "it is required", Accepted: []string{"a whole number"}}, p.Errors[0])

	fixed := h.make(oidc.Requester, "fixed") // of a profile with one number of workers
	p = h.refused(http.MethodPost, "/api/v1/clusters/"+fixed.ClusterID+"/scale-workers", h.as(oidc.Requester), v1.Scale{Replicas: 1}, http.StatusConflict)
	require.Contains(t, p.Detail, "has a fixed number of workers")
}

func TestAnExplanationSaysWhyUntilWhenAndWhatNext(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	var e v1.Explanation
	h.get("/api/v1/clusters/shop/explain", &e)
	require.True(t, e.Verdict.Allowed)
	require.Equal(t, "shop", e.Verdict.Name)
	require.Contains(t, e.Why[0], "shop is PENDING (queued): accepted.")
	require.Equal(t, []string{"ttl", "maximum"}, []string{e.Ends[0].Kind, e.Ends[1].Kind})
	require.Contains(t, e.Next[len(e.Next)-1], "ocpctl destroy shop")
	h.does(http.MethodGet, "/api/v1/clusters/shop/explain", h.as(oidc.Auditor), nil, http.StatusOK, &e)
	require.Empty(t, e.Next, "an auditor changes nothing")

	h.ready(made.ClusterID)
	h.does(http.MethodPost, "/api/v1/clusters/shop/hold", h.as(oidc.Requester), v1.Hold{Hours: 30, Reason: "a bug"}, http.StatusOK, nil)
	h.get("/api/v1/clusters/shop/explain", &e)
	require.Equal(t, []string{"hold", "ttl", "maximum"}, []string{e.Ends[0].Kind, e.Ends[1].Kind, e.Ends[2].Kind}, "the hold comes first: it postpones the others")
	require.Contains(t, e.Next[0], "ocpctl kubeconfig shop")
	var line v1.Timeline
	h.get("/api/v1/clusters/shop/timeline", &line)
	require.Equal(t, "accepted", line.Items[0].Action)
	require.Contains(t, line.Items[len(line.Items)-1].Message, ": a bug", "until when, and why")
	h.refused(http.MethodGet, "/api/v1/clusters/shop/timeline", h.as(will), nil, http.StatusNotFound)
	h.refused(http.MethodGet, "/api/v1/clusters/shop/explain", h.as(will), nil, http.StatusNotFound)
}

func TestOfAClusterThatGoesNoOtherEndIsTold(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	h.ready(made.ClusterID)
	h.does(http.MethodPost, "/api/v1/clusters/shop/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, nil)
	var e v1.Explanation
	h.get("/api/v1/clusters/shop/explain", &e)
	require.Empty(t, e.Ends)
	require.NotContains(t, strings.Join(e.Why, " "), "It ends ")
}

func TestAnOlderClusterWithoutAVerdictIsExplainedAllTheSame(t *testing.T) {
	h := newFixture(t)
	row := h.accept("old", "platform")
	_, err := h.store.Pool().Exec(t.Context(), `DELETE FROM cluster_requests WHERE cluster_id = $1`, row.ID)
	require.NoError(t, err)
	var e v1.Explanation
	h.get("/api/v1/clusters/"+row.ID+"/explain", &e)
	require.Zero(t, e.Verdict.Message)
}

func TestANameMeansTheClusterThatLivesAndIsSeen(t *testing.T) {
	h := newFixture(t)
	made := h.make(oidc.Requester, "shop")
	var c v1.Cluster
	h.get("/api/v1/clusters/shop", &c)
	require.Equal(t, made.ClusterID, c.ClusterID)
	h.refused(http.MethodGet, "/api/v1/clusters/shop", h.as(will), nil, http.StatusNotFound)
	h.acceptOn("labs.example.org", "shop", "platform")
	p := h.refused(http.MethodGet, "/api/v1/clusters/shop", h.as(oidc.Requester), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "labs.example.org")
	require.Contains(t, p.Detail, made.ClusterID)
	h.does(http.MethodPost, "/api/v1/clusters/"+made.ClusterID+"/destroy", h.as(oidc.Requester), nil, http.StatusAccepted, nil)
	h.step(made.ClusterID)
	h.get("/api/v1/clusters/"+made.ClusterID, &c)
	require.Equal(t, v1.Status("DESTROYED"), c.Status)
}

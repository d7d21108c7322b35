package api

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// blocked is a cluster of the demo's team whose teardowns found something left, as its row says.
func blocked(t *testing.T) (h *fixture, cluster string) {
	h, cluster, r := started(t)
	r.say("claim", contract.Claim{Pod: "pod-1"})
	r.say("record", r.record())
	_, status := r.say("result", contract.Result{Outcome: "failed", Reason: "BootstrapFailed", Message: "it did not come up", Whose: "cloud", Next: "try again"})
	require.Equal(t, http.StatusOK, status)
	h.step(cluster)
	_, err := h.store.Pool().Exec(t.Context(), `UPDATE clusters SET phase = 'destroy_blocked', retry_at = now() + interval '1 hour' WHERE id = $1`, cluster)
	require.NoError(t, err)
	return h, cluster
}

func TestAPlatformAdminAloneAbandonsWithAReason(t *testing.T) {
	h, cluster := blocked(t)
	path, why := "/api/v1/clusters/"+cluster+"/abandon", v1.Reason{Reason: " ticket 4711 "}
	p := h.refused(http.MethodPost, path, h.as(oidc.Requester), why, http.StatusForbidden)
	require.Contains(t, p.Detail, "platform admin")
	h.refused(http.MethodPost, path, h.as(oidc.Auditor), why, http.StatusForbidden)
	stranger := oidc.Requester
	stranger.Groups = []string{"another"}
	h.refused(http.MethodPost, path, h.as(stranger), why, http.StatusNotFound)
	h.refused(http.MethodPost, "/api/v1/clusters/clu_none/abandon", h.as(oidc.Admin), why, http.StatusNotFound)
	for _, empty := range []string{"", " \x00\n"} {
		p = h.refused(http.MethodPost, path, h.as(oidc.Admin), v1.Reason{Reason: empty}, http.StatusUnprocessableEntity)
		require.Equal(t, "reason", p.Errors[0].Field)
	}
	h.refused(http.MethodPost, path, h.as(oidc.Admin), "no object", http.StatusBadRequest)

	for range 2 {
		answer, raw := h.ask(http.MethodPost, path, h.as(oidc.Admin), why)
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	}
	h.step(cluster)
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, []any{v1.Status("FAILED"), "abandoned", "cloud", "try again"}, []any{c.Status, c.Phase, c.FailWhose, c.FailNext})
	said := slices.IndexFunc(c.Timeline, func(e v1.Event) bool { return e.Action == "abandon_asked" })
	require.Equal(t, "ticket 4711", c.Timeline[said].Message)
	require.Contains(t, c.Timeline[said].Actor, "#")
	require.False(t, slices.ContainsFunc(c.Timeline[said+1:], func(e v1.Event) bool { return e.Action == "abandon_asked" }), "asked twice is asked once")
}

func TestOnlyABlockedTeardownIsAbandoned(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	for _, what := range []string{"abandon", "retry"} {
		p := h.refused(http.MethodPost, "/api/v1/clusters/"+row.ID+"/"+what, h.as(oidc.Admin), v1.Reason{Reason: "x"}, http.StatusConflict)
		require.Contains(t, p.Detail, "shop is PENDING (queued)")
	}
}

func TestTheTeamBringsTheNextTeardownForward(t *testing.T) {
	h, cluster := blocked(t)
	path, why := "/api/v1/clusters/"+cluster+"/retry", v1.Reason{Reason: "the load balancer is gone"}
	h.refused(http.MethodPost, path, h.as(oidc.Auditor), why, http.StatusForbidden)
	h.refused(http.MethodPost, path, h.as(oidc.Requester), v1.Reason{}, http.StatusUnprocessableEntity)
	var before v1.ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &before)
	require.True(t, before.RetryAt.After(now()))
	answer, raw := h.ask(http.MethodPost, path, h.as(oidc.Requester), why)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	h.step(cluster)
	open, _ := h.attempt(cluster)
	require.Equal(t, 2, open.Number)
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+cluster, &c)
	require.Equal(t, "destroy_blocked", c.Phase)
	require.Equal(t, []v1.AttemptKind{"create", "destroy"}, []v1.AttemptKind{c.Attempts[0].Kind, c.Attempts[1].Kind})
	require.Equal(t, "cloud", c.Attempts[0].Whose)
	require.False(t, c.NothingBegun)
}

func TestNothingBegunIsAProofOfItsOwn(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	_, err := h.store.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "changed her mind"})
	require.NoError(t, err)
	h.step(row.ID)
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+row.ID, &c)
	require.Equal(t, []any{v1.Status("DESTROYED"), true, 0, 0}, []any{c.Status, c.NothingBegun, len(c.Proof), len(c.Attempts)})
	require.Contains(t, c.Why, "nothing was ever created, so there is nothing to remove")
}

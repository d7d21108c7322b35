package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

const labelsPath = "/api/v1/repositories/labels"

func TestARepositorysLabelsAreAskedForOnceWithAKey(t *testing.T) {
	h := newFixture(t)
	ask := v1.LabelsRequest{Repository: "acme/shop", Reason: "a new profile"}
	var asked, again, state v1.Labels
	answer := h.does(http.MethodPost, labelsPath, h.as(oidc.Admin), ask, http.StatusAccepted, &asked, idempotencyKey, "k")
	require.Equal(t, labelsPath+"/"+asked.ID, answer.Header.Get("Location"))
	require.Equal(t, []any{"acme/shop", v1.LabelsStateWaiting}, []any{asked.Repository, asked.State})
	h.does(http.MethodPost, labelsPath, h.as(oidc.Admin), ask, http.StatusAccepted, &again, idempotencyKey, "k")
	require.Equal(t, asked, again)
	h.does(http.MethodPost, labelsPath, h.as(oidc.Admin), ask, http.StatusAccepted, &again, idempotencyKey, "another")
	require.NotEqual(t, asked.ID, again.ID)
	other := oidc.Admin
	other.Subject = "else"
	h.does(http.MethodPost, labelsPath, h.as(other), ask, http.StatusAccepted, &again, idempotencyKey, "k")
	require.NotEqual(t, asked.ID, again.ID, "a key is its principal's")

	require.NoError(t, h.store.Outbox.EffectDone(t.Context(), asked.ID, "made: ocp/keep; fine: ocp-ttl/4", false))
	h.seenBy(oidc.Admin, labelsPath+"/"+asked.ID, &state)
	require.Equal(t, []any{v1.LabelsStateDone, "made: ocp/keep; fine: ocp-ttl/4", false}, []any{state.State, state.Note, state.DoneAt.IsZero()})
	require.NoError(t, h.store.Outbox.EffectDone(t.Context(), again.ID, "given up: the App may not write issues", true))
	h.seenBy(oidc.Admin, labelsPath+"/"+again.ID, &state)
	require.Equal(t, v1.LabelsStateFailed, state.State)
	var trail v1.AuditPage
	h.seenBy(oidc.Auditor, "/api/v1/audit?action=labels_asked", &trail)
	require.Len(t, trail.Items, 3)
	require.JSONEq(t, `{"why": "a new profile", "repository": "acme/shop"}`, trail.Items[0].Metadata)
	require.JSONEq(t, trail.Items[0].Metadata, string(trail.Items[0].Details))
}

func TestLabelsAreRefusedWithWhatWouldBeAccepted(t *testing.T) {
	h := newFixture(t)
	h.does(http.MethodPost, labelsPath, h.as(oidc.Admin), v1.LabelsRequest{Repository: "acme/shop"}, http.StatusAccepted, nil, idempotencyKey, "used")
	for name, c := range map[string]struct {
		body   any
		key    string
		status int
		says   string
	}{
		"no key":                   {v1.LabelsRequest{Repository: "acme/shop"}, "", http.StatusBadRequest, "Idempotency-Key"},
		"no repository":            {v1.LabelsRequest{}, "a", http.StatusUnprocessableEntity, "repository"},
		"no name":                  {v1.LabelsRequest{Repository: "acme/shop/../else"}, "b", http.StatusUnprocessableEntity, "owner/name"},
		"not in the table":         {v1.LabelsRequest{Repository: "other/thing"}, "c", http.StatusNotFound, "server's configuration has no entry for the repository"},
		"the App is not installed": {v1.LabelsRequest{Repository: "acme/else"}, "d", http.StatusNotFound, "Install it there first"},
		"a key of another's":       {v1.LabelsRequest{Repository: "acme/api"}, "used", http.StatusConflict, "Use a new key"},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{idempotencyKey, c.key}
			if c.key == "" {
				headers = nil
			}
			answer, raw := h.ask(http.MethodPost, labelsPath, h.as(oidc.Admin), c.body, headers...)
			require.Equal(t, c.status, answer.StatusCode, "%s", raw)
			require.Contains(t, string(raw), c.says)
		})
	}
	p := h.refused(http.MethodGet, labelsPath+"/eff_none", h.as(oidc.Admin), nil, http.StatusNotFound)
	require.Contains(t, p.Detail, "Request the labels again")
}

package web

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestThePolicyPageShowsRulesWithWhomTheyHit(t *testing.T) {
	h := newFixture(t)
	h.make("maya", "long", "platform", 60) // needs an approval
	_, page, _ := h.as("will").get("/policy")
	for _, want := range []string{
		"from the built-in catalogue", "Reload now", "policies/long.yaml:", "asks for approval", "1 request needed approval: maya (OIDC)",
		"<th scope=\"row\">break-glass</th>", "with the role in every team", "AWS: 3 control plane machines and 0 workers", "identities/identities.yaml:", "teams/platform.yaml:", "prices/aws.yaml",
		"2 of aws-minimal-test, with claimed ones at most 6, for at most $400", "pools/own.yaml",
	} {
		require.Contains(t, page, want)
	}
	_, page, _ = h.as("will").post("/policy/reload", nil)
	require.Contains(t, says(page), "is active.")

	_, page, _ = h.as("maya").get("/policy")
	require.Contains(t, page, "asks for approval")
	for _, hidden := range []string{"Last 7 days", "Reload now", "Identities", "team payments", "payments", "pools/own.yaml"} {
		require.NotContains(t, page, hidden)
	}
	status, page, _ := h.as("ada").get("/policy")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "Last 7 days", "an auditor reads what happened")
	require.NotContains(t, page, "Reload now", "an auditor changes nothing")
}

func TestMistakesOfTheCatalogueStandOnTopOfThePolicyPage(t *testing.T) {
	state := admin.CatalogueState{Catalogue: catalogue.Catalogue{Catalogue: profiles.Catalogue{Hash: "0123456789ab"}}}
	state.Hash, state.LoadedAt, state.ErrSince = "0123456789ab", noon, noon
	state.Err = profiles.Problems{{File: "quotas/quotas.yaml", Line: 2, Field: "live", Got: "0", Accept: "1 or more"}, {Got: "unreadable"}}
	state.CatalogueHome, state.Commit = app.CatalogueHome{Repository: "acme/catalogue", Path: "files"}, "0a0b"
	v := policyView{Policy: admin.Policy{State: state}, Source: "a directory", Problems: state.Problems(), MayEdit: true, Site: "https://github.test"}
	html := page(t, "policy", v)
	for _, want := range []string{"files have 2 mistakes", "quotas/quotas.yaml:2", "<strong>live</strong>: 0", "Accepted: 1 or more", "since 2025-03-01 12:00:00 UTC"} {
		require.Contains(t, html, want)
	}
	require.Equal(t, "https://github.test/acme/catalogue/blob/0a0b/files/teams/shop.yaml#L3", v.Place(profiles.Place{File: "teams/shop.yaml", Line: 3}).To)
	require.Empty(t, v.Place(profiles.Place{}).To)
}

func TestAQuestionInTheAddressIsAnsweredOnThePage(t *testing.T) {
	h := newFixture(t)
	_, page, _ := h.as("will").get("/policy/what-if?ask=1&as=github:maya&role=requester&team=platform&profile=aws-minimal-test&ttl=60h&source=api&permission=write")
	for _, want := range []string{"It would be accepted", "needs approval", "(request.ttlHours is 60)", "Judged as", "requester of team platform", `value="60h"`} {
		require.Contains(t, page, want)
	}
	status, page, _ := h.as("will").get("/policy/what-if?ask=1&as=nobody&workers=many&source=api&permission=write")
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, `id="wrong-as"`)
	require.Contains(t, page, `id="wrong-workers"`)
	status, page, _ = h.as("will").get("/policy/what-if?ask=1&as=github:maya&role=requester&team=platform&ttl=soon&source=api&permission=write")
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, `id="wrong-ttl"`, "what the form cannot read is no question")
	status, _, _ = h.as("maya").get("/policy/what-if")
	require.Equal(t, http.StatusForbidden, status)
}

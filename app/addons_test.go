package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

func TestWhatAClusterWasAcceptedWithIsWhatItKeeps(t *testing.T) {
	h := servicetest.New(t)
	h.File("addons: [pr-namespace]\n")
	h.Labeled("will", servicetest.Label)
	kept := func() []string {
		return h.Query(`SELECT name || ' ' || manifests FROM cluster_addons ORDER BY position`)
	}
	before := kept()
	require.Len(t, before, 1)
	require.Contains(t, before[0], `pr-namespace {"apiVersion":"v1","items":[{`)
	h.Catalogue.Addons = nil
	h.File("addons: [cert-manager]\n")
	h.Usable()
	row, _, err := h.Service.Refresh(t.Context(), policy.As("github:maya", "maya", policy.Requester, "platform"), h.Only().ID, app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Equal(t, []string{"pr-namespace"}, row.Addons)
	require.Equal(t, before, kept())
}

func TestARefreshTakesARoleAndAReadyClusterWithAddons(t *testing.T) {
	h := servicetest.New(t)
	h.File("addons: [pr-namespace]\n")
	h.Labeled("will", servicetest.Label)
	id := h.Only().ID
	maya, origin := policy.As("github:maya", "maya", policy.Requester, "platform"), app.Origin{Source: policy.SourceAPI}
	_, _, err := h.Service.Refresh(t.Context(), maya, id, origin)
	require.ErrorContains(t, err, "Add-ons can be refreshed only while the cluster is READY")
	h.Usable()
	_, _, err = h.Service.Refresh(t.Context(), policy.As("github:ada", "ada", policy.Auditor, "platform"), id, origin)
	require.Equal(t, app.Denied, app.KindOf(err))
	require.ErrorContains(t, err, "To refresh its add-ons you need the role")
	row, job, err := h.Service.Refresh(t.Context(), maya, id, origin)
	require.NoError(t, err)
	again, same, err := h.Service.Refresh(t.Context(), maya, id, origin)
	require.NoError(t, err)
	require.Equal(t, []any{job, 1, 2}, []any{same, row.Work[lifecycle.Configure].Wanted, again.Work[lifecycle.Configure].Wanted})

	_, err = h.Store.Pool().Exec(t.Context(), `INSERT INTO conditions VALUES ($1, 'AddonApplied/pr-namespace', 'False', 'NotReady', 'it never came', now())`, id)
	require.NoError(t, err)
	why, err := h.Service.Explain(t.Context(), maya, id)
	require.NoError(t, err)
	require.Contains(t, why.Why, "Its add-ons are being refreshed: pr-namespace.")
	require.Contains(t, why.Why, "Its add-on pr-namespace is missing (NotReady): it never came")
	require.Contains(t, why.Next, messages.Step{Text: "Refresh its add-ons", CLI: "refresh " + row.Name, Slack: "refresh " + row.Name})
}

func TestARequestPicksItsAddons(t *testing.T) {
	h := servicetest.New(t)
	maya := policy.As("saml:maya", "maya", policy.Requester, "platform")
	read := func(addons string) app.CreateRequest {
		r := app.ReadCreateRequest(strings.NewReader(`{"name": "demo", "team": "platform", "costCenter": "x", "environment": "test", "addons": ` + addons + `}`))
		r.Source = policy.SourceAPI
		return r
	}
	for addons, want := range map[string]string{
		`"cert-manager"`: "It is not a list of names", `[7]`: "It is not a list of names", `[cert-manager, cert-manager]`: "It is given twice", `[cert-manger]`: "There is no add-on",
		"[" + strings.Repeat("a,", 11) + "]": "given twice", `[a, b, c, d, e, f, g, h, i, j, k]`: "at most 10",
	} {
		_, err := h.Service.Create(t.Context(), maya, read(addons))
		if err == nil {
			made, _ := h.Service.DryRun(t.Context(), maya, read(addons))
			err = app.Refused(made.Verdict, nil)
		}
		var refused *app.Error
		require.ErrorAs(t, err, &refused, addons)
		require.Contains(t, refused.Fields[0].Detail+strings.Join(refused.Fields[0].Accept, ""), want, addons)
		require.Equal(t, "addons", refused.Fields[0].Name)
	}
	require.Empty(t, h.Clusters())
	_, err := h.Service.Create(t.Context(), maya, read(`[cert-manager]`))
	require.NoError(t, err)
	require.Equal(t, []string{"cert-manager"}, h.Only().Addons)
}

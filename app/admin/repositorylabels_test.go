package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
)

func TestLabelsAreMadeForAPlatformAdmin(t *testing.T) {
	h := servicetest.New(t)
	h.GitHub.Installed = map[string]int64{servicetest.Repo: 5001}
	admin := policy.As("saml:ada", "Ada", policy.PlatformAdmin)
	for name, c := range map[string]struct {
		who  policy.Principal
		repo string
		kind app.Kind
	}{
		"an admin":             {admin, servicetest.Repo, ""},
		"a requester":          {policy.As("saml:will", "Will", policy.Requester), servicetest.Repo, app.Denied},
		"an admin of one team": {policy.As("saml:rob", "Rob", policy.PlatformAdmin, "platform"), servicetest.Repo, app.Denied},
		"not in the table":     {admin, "other/thing", app.NotFound},
		"not installed":        {admin, "acme/else", app.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := h.Service.EnsureLabels(t.Context(), c.who, c.repo, app.Origin{Source: policy.SourceAPI})
			require.Equal(t, c.kind, app.KindOf(err))
			require.Equal(t, c.kind == "", id != "")
		})
	}
	require.Equal(t, []string{"ensure_labels "}, h.Effects())
	require.Len(t, h.Query(`SELECT action FROM audit_events WHERE action = 'labels_asked'`), 1)
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	offline := servicetest.Wire(app.Config{Store: h.Store, Catalogue: func() catalogue.Catalogue { return terms }, Repositories: []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform"}}}})
	_, err = offline.EnsureLabels(t.Context(), admin, servicetest.Repo, app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err, "the half without GitHub leaves it to the other")
}

package admin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

func TestOnlyAFileOfTheCatalogueIsProposedAndOnce(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, nil))
	config := h.Config()
	config.CatalogueIn = app.CatalogueHome{Repository: "acme/catalogue", Path: "files"}
	office := admin.New(app.New(config), config)
	quotas, origin := "quotas:\n  - {name: few, scope: person, live: 2}\n", app.Origin{Source: policy.SourceWeb, Once: "a form"}
	first, err := office.Propose(t.Context(), will, "quotas/few.yaml", quotas, "Fewer clusters", origin)
	require.NoError(t, err)
	again, err := office.Propose(t.Context(), will, "quotas/few.yaml", quotas, "Fewer clusters", origin)
	require.NoError(t, err)
	require.Equal(t, first, again, "the form was sent twice")
	require.Len(t, h.Query(`SELECT id FROM effects WHERE kind = 'propose_catalogue'`), 1)

	for _, file := range []string{
		"", "quotas", "few.yaml", "other/few.yaml", "quotas/a/few.yaml", "quotas/.yaml", "quotas/.few.yaml", "quotas/few.yml", "quotas/few.yaml?ref=main", "quotas/a#few.yaml",
		"quotas/a%2F..%2F..%2Ffew.yaml", "quotas/" + strings.Repeat("a", 200) + ".yaml", "../quotas/few.yaml", "quotas/a b.yaml", "quotas/a\x00.yaml",
	} {
		_, err := office.Propose(t.Context(), will, file, quotas, "Fewer clusters", origin)
		var refused *app.Error
		require.ErrorAs(t, err, &refused, file)
		require.Equal(t, "file", refused.Fields[0].Name, file)
	}
	_, err = office.Propose(t.Context(), policy.As("saml:maya", "maya", policy.Requester, "platform"), "quotas/few.yaml", quotas, "Fewer clusters", origin)
	require.Equal(t, app.Denied, app.KindOf(err))
}

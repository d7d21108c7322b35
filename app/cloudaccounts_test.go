package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

const anAccount = "name: one\nplatform: aws\nnumber: \"111111111111\"\ncredentials: {ref: \"file:/one\"}\ncap: 1\n"

func TestAClusterIsFrozenWithTheAccountThatWasChosen(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"accounts/one.yaml":    anAccount,
		"accounts/two.yaml":    "name: two\nplatform: aws\nnumber: \"222222222222\"\nmaintenance: true\n",
		"accounts/secret.yaml": "name: secret\nplatform: aws\nnumber: \"333333333333\"\nteams: [billing]\n",
	}))
	maya := policy.As("github:maya", "maya", policy.Requester, "platform")
	create := func(name, account string) (app.Created, error) {
		return h.Service.Create(t.Context(), maya, app.CreateRequest{
			Source: policy.SourceAPI, Profile: "aws-minimal-test", Name: name, Account: account, Team: "platform", CostCenter: "sandbox", Environment: "test",
		})
	}
	made, err := create("first", "")
	require.NoError(t, err)
	row, err := h.Store.Cluster(t.Context(), made.Row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "111111111111", "file:/one"}, []string{row.Account, row.Spec.Account, row.Spec.CloudCredsRef})

	refused := func(name, account, says string) {
		t.Helper()
		made, err := create(name, account)
		require.NoError(t, err)
		require.False(t, made.Allowed)
		require.Contains(t, made.Verdict.Text(), says)
	}
	refused("second", "", "No account takes a new cluster: one (1 of 1 clusters), two (in maintenance).")
	refused("third", "secret", `Team platform has no account that is called "secret".`)

	names := func(p policy.Principal) (names []string) {
		list, err := h.Service.VisibleAccounts(t.Context(), p)
		require.NoError(t, err)
		for _, a := range list {
			names = append(names, a.Name+" "+a.State())
		}
		return names
	}
	require.Equal(t, []string{"one full", "two maintenance"}, names(maya), "not what only another team may use")
	admin := policy.As("saml:ada", "ada", policy.PlatformAdmin)
	require.Equal(t, []string{"one full", "secret open", "two maintenance"}, names(admin))
	_, err = h.Service.VisibleAccount(t.Context(), maya, "secret")
	require.ErrorContains(t, err, "The account secret does not exist. Accepted: one, two.")

	h.Catalogue = servicetest.Catalogue(t, nil)
	require.Empty(t, names(maya))
	require.Equal(t, []string{"one gone"}, names(admin), "its cluster is still there")
	row, err = h.Store.Cluster(t.Context(), made.Row.ID)
	require.NoError(t, err)
	require.Equal(t, "file:/one", row.Spec.CloudCredsRef)
}

func TestARequestThatNoPoolServesIsRefusedByAFullAccount(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"accounts/one.yaml": anAccount,
		"pools/stock.yaml":  "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 0\nmax: 1\n",
	}))
	maya := policy.As("github:maya", "maya", policy.Requester, "platform")
	for i, says := range []string{"Accepted.", "Refused. No account takes a new cluster: one (1 of 1 clusters)."} {
		made, err := h.Service.Create(t.Context(), maya, app.CreateRequest{
			Source: policy.SourceAPI, Profile: "aws-minimal-test", Pool: "stock", Team: "platform", CostCenter: "sandbox", Environment: "test", Key: string(rune('a' + i)),
		})
		require.NoError(t, err)
		require.Contains(t, made.Verdict.Text(), says)
	}
}

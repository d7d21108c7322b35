package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestATransferBringsWhatTheClusterCostThisMonth(t *testing.T) {
	for budget, refused := range map[string]bool{"{monthlyDollars: 100, hard: true}": true, "{monthlyDollars: 100}": false} {
		files := map[string]string{}
		for _, team := range []string{"bank", "shop"} {
			files["teams/"+team+".yaml"] = "name: " + team + "\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n"
		}
		files["teams/shop.yaml"] += "budget: " + budget + "\n"
		h := servicetest.With(t, servicetest.Catalogue(t, files))
		both := policy.As("saml:zoe@acme.example", "zoe", policy.Requester, "bank", "shop")
		moves := creates(h, "bank", "b1")
		h.Query(`UPDATE clusters SET month_amount = 9000 * 3600000::bigint, meter_month = date_trunc('month', now(), 'UTC'), meter_since = now() WHERE id = $1 RETURNING id`, moves.Row.ID)
		creates(h, "shop", "s1")
		h.Query(`UPDATE clusters SET month_amount = 2000 * 3600000::bigint, meter_month = date_trunc('month', now(), 'UTC'), meter_since = now() WHERE name = 's1' RETURNING id`)
		change, err := h.Service.Transfer(t.Context(), both, moves.Row.ID, "shop", "", byWeb)
		if refused {
			require.Equal(t, app.Conflict, app.KindOf(err))
			require.ErrorContains(t, err, "Team shop has spent $20.00 this month")
			continue
		}
		require.NoError(t, err)
		require.Contains(t, change.Message, "Team shop has spent $20.00 this month")
		after, err := h.Store.Usage(t.Context(), usage.Scope{Team: "shop"})
		require.NoError(t, err)
		require.Equal(t, int64(11000), after.Team.SpentCents)
	}
}

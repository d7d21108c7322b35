package profiles

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// withCohort is the embedded catalogue with three teams, of which some have a cohort, and these quotas.
func withCohort(t *testing.T, cohorts map[string]string, quotas string) (Catalogue, error) {
	t.Helper()
	files := embeddedFiles(t)
	for _, team := range []string{"bank", "shop", "web"} {
		body := "name: " + team + "\nowner: maya\ncostCenters: [cc-1]\nenvironments: [test]\n"
		if cohort := cohorts[team]; cohort != "" {
			body += "cohort: " + cohort + "\n"
		}
		files["teams/"+team+".yaml"] = &fstest.MapFile{Data: []byte(body)}
	}
	files["quotas/quotas.yaml"] = &fstest.MapFile{Data: []byte("quotas:\n" + quotas)}
	return Load(files)
}

var bankAndShop = map[string]string{"bank": "payments", "shop": "payments"}

func TestACohortHasTheSumOfItsTeamsQuotas(t *testing.T) {
	c, err := withCohort(t, bankAndShop, `
  - {name: all, scope: team, live: 6}
  - {name: payers, scope: team, match: [bank, shop], live: 5, borrow: 2}
  - {name: small, scope: team, match: [shop], live: 3, creating: 1}
  - {name: people, scope: person, live: 2}
`)
	require.NoError(t, err)
	cohort, has := c.CohortOf("shop")
	require.True(t, has)
	require.Equal(t, Cohort{"payments", map[string]int{"bank": 5, "shop": 3}}, cohort, "the lowest quota of each counts")
	require.Equal(t, 8, cohort.Most())
	_, has = c.CohortOf("web")
	require.False(t, has)
	_, has = c.CohortOf("nobody")
	require.False(t, has)
}

func TestACohortThatCannotWorkIsRefused(t *testing.T) {
	const both = "  - {name: payers, scope: team, match: [bank, shop], live: 5%s}\n"
	for name, c := range map[string]struct {
		cohorts     map[string]string
		quotas, why string
	}{
		"it has one team":               {map[string]string{"shop": "payments"}, fmt.Sprintf(both, ""), `teams/shop.yaml:5: cohort: "payments", which no other team has; accepted: the cohort of another team, or none`},
		"a team has no quota":           {bankAndShop, "  - {name: q, scope: team, match: [shop], live: 5}\n", `teams/bank.yaml:5: cohort: "payments", and no quota limits the live clusters of team bank; accepted: a quota with scope: team and live that matches the team, or no cohort`},
		"a team without one borrows":    {bankAndShop, "  - {name: q, scope: team, live: 5, borrow: 1}\n", `quotas[0].borrow: 1, and team web has no cohort; accepted: none, or a cohort for each team that the quota matches`},
		"a person borrows":              {bankAndShop, fmt.Sprintf(both, "") + "  - {name: p, scope: person, live: 5, borrow: 1}\n", `quotas[1].borrow: 1 for the scope person; accepted: none, or scope: team`},
		"there is no limit to pass":     {bankAndShop, fmt.Sprintf(both, "") + "  - {name: p, scope: team, match: [shop], creating: 5, borrow: 1}\n", `quotas[1].borrow: 1 without live; accepted: none, or live: what the team has of its own`},
		"a number is negative":          {bankAndShop, fmt.Sprintf(both, ", borrow: -1"), `quotas[0].borrow: -1; accepted: a whole number from 0 to 100000`},
		"a cohort's name is not a name": {map[string]string{"shop": "Payments!", "bank": "payments"}, fmt.Sprintf(both, ""), `cohort: "Payments!"; accepted: `},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := withCohort(t, c.cohorts, c.quotas)
			require.ErrorContains(t, err, c.why)
		})
	}
	_, err := withCohort(t, bankAndShop, fmt.Sprintf(both, ", borrow: 0"))
	require.NoError(t, err, "0 is never")
}

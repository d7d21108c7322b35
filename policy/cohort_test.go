package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

// cohortTerms are terms with a cohort of three teams: shop is guaranteed 5 clusters and may borrow 3, billing has 4, web 3.
func cohortTerms(t testing.TB, whenFull string) Terms {
	out := declaredTerms(t)
	if whenFull == profiles.WhenFullWait {
		out.Catalogue = patient(t, out.Catalogue)
	}
	for i := range out.Catalogue.Teams {
		out.Catalogue.Teams[i].Cohort = "payments"
	}
	out.Catalogue.Teams = append(out.Catalogue.Teams, profiles.Team{Name: "web", Cohort: "payments"})
	out.Catalogue.Quotas = []profiles.Quota{
		{Name: "shops", Scope: profiles.ScopeTeam, Match: []string{"shop"}, Live: 5, Borrow: 3},
		{Name: "others", Scope: profiles.ScopeTeam, Match: []string{"billing"}, Live: 4},
		{Name: "web", Scope: profiles.ScopeTeam, Match: []string{"web"}, Live: 3},
	}
	return out
}

// uses is what the three teams use: live and waiting of each.
func uses(shop, billing, web [2]int) Usage {
	of := func(n [2]int) Counts { return Counts{Live: n[0], Waiting: n[1]} }
	return Usage{Team: of(shop), Cohort: map[string]Counts{"shop": of(shop), "billing": of(billing), "web": of(web)}}
}

func TestAVerdictSaysWhetherAPlaceIsBorrowed(t *testing.T) {
	const extended = "While a team of the cohort waits for its own quota, borrowed clusters cannot be extended."
	for name, c := range map[string]struct {
		used   Usage
		result Result
		text   string
	}{
		"within the quota":             {uses([2]int{2, 0}, [2]int{4, 0}, [2]int{3, 0}), Pass, "Within the quota of team shop (3 of 5)."},
		"the last of its own":          {uses([2]int{4, 0}, [2]int{4, 9}, [2]int{3, 0}), Pass, "Within the quota of team shop (5 of 5)."},
		"borrowed":                     {uses([2]int{6, 0}, [2]int{2, 0}, [2]int{1, 0}), Warn, "2 over the quota of team shop: borrowed from the cohort payments, which has 3 of 12 free."},
		"nothing to borrow":            {uses([2]int{6, 0}, [2]int{3, 0}, [2]int{3, 0}), Wait, "2 over the quota of team shop: to be borrowed from the cohort payments, which has 0 of 12 free."},
		"those who wait come first":    {uses([2]int{5, 0}, [2]int{3, 0}, [2]int{2, 2}), Wait, "1 over the quota of team shop: to be borrowed from the cohort payments, which has 2 of 12 free; waiting before it: 2."},
		"lent":                         {uses([2]int{2, 0}, [2]int{7, 0}, [2]int{3, 0}), Wait, "Within the quota of team shop (3 of 5): it waits for the cohort payments, which has 0 of 12 free, and comes before every team that borrows."},
		"before those that borrow":     {uses([2]int{2, 0}, [2]int{6, 3}, [2]int{3, 1}), Pass, "Within the quota of team shop (3 of 5)."},
		"behind others with their own": {uses([2]int{2, 0}, [2]int{8, 0}, [2]int{1, 1}), Wait, "Within the quota of team shop (3 of 5): it waits for the cohort payments, which has 1 of 12 free, and comes before every team that borrows; waiting before it: 1."},
	} {
		t.Run(name, func(t *testing.T) {
			v := Evaluate(validRequest(), c.used, cohortTerms(t, profiles.WhenFullWait), Settings{})
			require.True(t, v.Allowed)
			check := find(t, v, "quota").Checks[1]
			require.Equal(t, "cohort payments", check.Name)
			require.Equal(t, c.text, check.Message)
			require.Equal(t, c.result, check.Result)
			require.Equal(t, c.result == Warn, check.Next == extended)
			cohort := Limit{Scope: "cohort", Key: "payments", What: LimitLive, Most: 12, Own: map[string]int{"shop": 5, "billing": 4, "web": 3}}
			require.Equal(t, []Limit{{Quota: "shops", Scope: "team", Key: "shop", What: LimitLive, Most: 8}, cohort}, v.Grant.Limits)
			require.Equal(t, c.result == Wait, len(v.Waits) == 1 && v.Waits[0].Scope == "cohort")

			v = Evaluate(validRequest(), c.used, cohortTerms(t, ""), Settings{})
			require.Equal(t, c.result != Wait, v.Allowed, "without a wait it is refused")
		})
	}
	v := Evaluate(validRequest(), uses([2]int{8, 0}, [2]int{}, [2]int{}), cohortTerms(t, ""), Settings{})
	require.Equal(t, []Check{find(t, v, "quota").Checks[0]}, find(t, v, "quota").Checks[:1])
	require.Contains(t, v.Text(), "Team shop has 8 of the 8 clusters that quota shops allows at once, 3 of them borrowed.")
	stranger := validRequest()
	stranger.Principal = Principal{ID: "saml:eve", Name: "eve"}
	stranger.Source, stranger.PR, stranger.Team = SourceAPI, nil, "shop"
	require.NotContains(t, Evaluate(stranger, uses([2]int{6, 0}, [2]int{3, 0}, [2]int{3, 0}), cohortTerms(t, ""), Settings{}).Text(), "cohort")
}

func TestABorrowedClusterIsAskedBack(t *testing.T) {
	c := cohortTerms(t, "").Catalogue
	waits := uses([2]int{7, 0}, [2]int{2, 1}, [2]int{3, 0})
	check := JudgeRecall("shop", 5, waits, c)
	require.Equal(t, Fail, check.Result)
	require.Equal(t, "It is borrowed from the cohort payments: team shop has 7 clusters and a quota of 5. Team billing waits for one of its own quota, of which it has 2 of 4.", check.Message)
	require.Equal(t, "Destroy another cluster of team shop, or ask again when team billing has its cluster.", check.Next)
	for name, check := range map[string]Check{
		"an older one is the team's own": JudgeRecall("shop", 4, waits, c),
		"nobody waits":                   JudgeRecall("shop", 5, uses([2]int{7, 0}, [2]int{2, 0}, [2]int{3, 0}), c),
		"who waits would borrow":         JudgeRecall("shop", 5, uses([2]int{6, 0}, [2]int{4, 1}, [2]int{2, 0}), c),
		"it waits for something else":    JudgeRecall("shop", 5, uses([2]int{6, 0}, [2]int{2, 1}, [2]int{3, 0}), c),
		"its own team waits":             JudgeRecall("shop", 5, uses([2]int{6, 2}, [2]int{4, 0}, [2]int{2, 0}), c),
		"a team without a cohort":        JudgeRecall("other", 5, waits, c),
	} {
		require.Equal(t, Pass, check.Result, name)
	}
}

func TestATransferWithinACohortTakesNoPlaceOfIt(t *testing.T) {
	c := cohortTerms(t, "").Catalogue
	full := uses([2]int{5, 0}, [2]int{4, 0}, [2]int{3, 0})
	left := Held{NodeHours: 3, From: "billing"}
	require.NotEqual(t, Fail, JudgeTransfer("shop", left, full, c).Result)
	left.From = "elsewhere"
	require.Contains(t, JudgeTransfer("shop", left, full, c).Message, "1 over the quota of team shop: to be borrowed from the cohort payments, which has 0 of 12 free")
	require.Len(t, TeamLimits("shop", c), 2)
}

// Whatever order the requests come in, the teams together get the sum of their quotas and no more, and while nobody borrowed each gets its own.
func TestACohortAcceptsItsSum(t *testing.T) {
	terms := cohortTerms(t, "")
	terms.Catalogue.Teams = append([]profiles.Team{}, terms.Catalogue.Teams...)
	for i := range terms.Catalogue.Teams {
		terms.Catalogue.Teams[i].CostCenters, terms.Catalogue.Teams[i].Environments, terms.Catalogue.Teams[i].Budget = []string{"cc-100"}, []string{"test"}, profiles.Budget{}
	}
	own := map[string]int{"shop": 5, "billing": 4, "web": 3}
	rapid.Check(t, func(t *rapid.T) {
		used, all := map[string]Counts{}, 0
		for range 30 {
			team := rapid.SampledFrom([]string{"shop", "billing", "web"}).Draw(t, "team")
			borrowed := 0
			for name, n := range own {
				borrowed += max(0, used[name].Live-n)
			}
			request := validRequest()
			request.Principal, request.Ownership.Team, request.Team = As("saml:maya@acme.example", "maya", Requester, team), team, team
			v := Evaluate(request, Usage{Team: used[team], Cohort: used}, terms, Settings{})
			if borrowed == 0 && used[team].Live < own[team] {
				require.True(t, v.Allowed, "%v", v.Refusals())
			}
			if v.Allowed {
				used[team], all = Counts{Live: used[team].Live + 1}, all+1
			}
			require.LessOrEqual(t, all, 12)
		}
	})
}

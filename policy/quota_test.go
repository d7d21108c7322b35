package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

// declaredTerms are terms with two teams, a quota of every scope and a month's budget.
func declaredTerms(t testing.TB) Terms {
	out := terms(t)
	out.Catalogue.Teams = []profiles.Team{
		{Name: "billing", CostCenters: []string{"cc-7"}, Environments: []string{"prod"}},
		{Name: "shop", CostCenters: []string{"cc-100", "cc-200"}, Environments: []string{"test", "dev"}, Weight: 3, Budget: profiles.Budget{MonthlyCents: 50_000, WarnPercent: 80}},
	}
	out.Catalogue.Quotas = []profiles.Quota{
		{Name: "person", Scope: profiles.ScopePerson, Live: 4},
		{Name: "shops", Scope: profiles.ScopeTeam, Match: []string{"sh*"}, Live: 5, Creating: 3},
		{Name: "repo", Scope: profiles.ScopeRepository, Match: []string{"acme/*"}, Live: 2, NodeHours: 400},
		{Name: "all", Scope: profiles.ScopeEverywhere, Live: 50},
		{Name: "others", Scope: profiles.ScopeTeam, Match: []string{"billing"}, Live: 1},
	}
	return out
}

// patient is the same catalogue, whose profiles wait for capacity.
func patient(t testing.TB, c profiles.Catalogue) profiles.Catalogue {
	out := embedded(t, profiles.WhenFullWait).Without(map[string]string{"ibmcloud": ibmOff})
	out.Teams, out.Quotas = c.Teams, c.Quotas
	return out
}

// objecting are rules that say the same of every request.
type objecting struct {
	checks   []Check
	defaults func(In) (Request, []Check)
	saw      *[]In
}

func (o objecting) Defaults(in In) (Request, []Check) {
	if o.defaults == nil {
		return in.Request, nil
	}
	return o.defaults(in)
}

func (o objecting) Judge(in In) []Check {
	if o.saw != nil {
		*o.saw = append(*o.saw, in)
	}
	return o.checks
}

func TestAQuotaRefusesWithItsFigures(t *testing.T) {
	for name, c := range map[string]struct {
		usage         Usage
		text, next    string
		have, accepts string
	}{
		"a person":     {Usage{Person: Counts{Live: 4}}, "maya has 4 of the 4 clusters that quota person allows at once.", "Destroy one", "4", "4 at once, this one included"},
		"a team":       {Usage{Team: Counts{Live: 9}}, "Team shop has 9 clusters, and quota shops allows 5 at once.", "Destroy one", "9", "5 at once, this one included"},
		"creating":     {Usage{Team: Counts{Live: 3, Creating: 3}}, "Team shop has 3 of the 3 clusters being created that quota shops allows at once.", "when one of them is ready", "3", "3 at once, this one included"},
		"a repository": {Usage{Repository: Counts{Live: 2}}, "acme/shop has 2 of the 2 clusters that quota repo allows at once.", "Destroy one", "2", "2 at once, this one included"},
		"everywhere":   {Usage{Everywhere: Counts{Live: 50}}, "This installation has 50 of the 50 clusters that quota all allows at once.", "raise the quota", "50", "50 at once, this one included"},
		"who waits": {Usage{Repository: Counts{Live: 1, Waiting: 1}}, "acme/shop has 1 of the 2 clusters that quota repo allows at once; waiting for their turn: 1.",
			"Destroy one", "1 and 1 waiting", "2 at once, this one included"},
		"node hours": {Usage{Repository: Counts{NodeHours: 340.5}}, "acme/shop has used or reserved 341 of the 400 node hours that quota repo allows this month; this cluster needs 72 (3 nodes for 24 h).",
			"Ask for at most 19 h", "341", "at most 59 more"},
		"no node hour": {Usage{Repository: Counts{NodeHours: 399}}, "has used or reserved 399 of the 400", "Ask again next month", "399", "at most 1 more"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Evaluate(validRequest(), c.usage, declaredTerms(t), Settings{})
			require.False(t, v.Allowed)
			require.Nil(t, v.Waits)
			check := v.Refusals()[0]
			require.Equal(t, "quota", check.Name)
			require.Contains(t, check.Message, c.text)
			require.Contains(t, check.Next, c.next)
			require.Equal(t, c.have, check.Have)
			require.Equal(t, c.accepts, check.Accept)
		})
	}
}

func TestAFullQuotaIsWaitedForWhereTheProfileSaysSo(t *testing.T) {
	terms := declaredTerms(t)
	terms.Catalogue = patient(t, terms.Catalogue)
	v := Evaluate(validRequest(), Usage{Team: Counts{Live: 5, Creating: 1, Waiting: 2}, Person: Counts{Live: 1}}, terms, Settings{})
	require.True(t, v.Allowed)
	require.Equal(t, []Limit{{Quota: "shops", Scope: "team", Key: "shop", What: "live", Most: 5}, {Quota: "shops", Scope: "team", Key: "shop", What: "creating", Most: 3}}, v.Waits)
	require.Equal(t, Wait, find(t, v, "quota").Result)
	require.Equal(t, []Limit{
		{"person", "person", "github:id/2001", "live", 4, nil}, {"shops", "team", "shop", "live", 5, nil}, {"shops", "team", "shop", "creating", 3, nil},
		{"repo", "repository", "acme/shop", "live", 2, nil}, {"all", "everywhere", "", "live", 50, nil},
	}, v.Grant.Limits, "every limit that applies is kept for who waits")
	require.Equal(t, 3, v.Grant.Weight)
	require.Contains(t, v.Text(), "Accepted. It waits: Team shop has 5 of the 5 clusters that quota shops allows at once; waiting for their turn: 2.")

	v = Evaluate(validRequest(), Usage{Repository: Counts{NodeHours: 400}}, terms, Settings{})
	require.False(t, v.Allowed, "a month's node hours do not come back")
}

func TestQuotasOfOthersDoNotCount(t *testing.T) {
	r := validRequest()
	r.PR, r.Name, r.Source, r.Permission, r.Principal = nil, "mine", SourceAPI, "", As("saml:will", "will", Requester, "billing")
	r.Ownership = Ownership{}
	v := Evaluate(r, Usage{Repository: Counts{Live: 9}, Team: Counts{Live: 0}}, declaredTerms(t), Settings{})
	require.True(t, v.Allowed, "%v", v.Refusals())
	require.Equal(t, []string{"person", "all", "others"}, []string{v.Grant.Limits[0].Quota, v.Grant.Limits[1].Quota, v.Grant.Limits[2].Quota}, "no repository, another team")
	require.False(t, Evaluate(r, Usage{Team: Counts{Live: 1}}, declaredTerms(t), Settings{}).Allowed)
}

func TestABudgetWarnsAsksAndRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spent, committed int64
		hard             bool
		result           Result
		text             string
	}{
		"far below":          {1_000, 2_000, false, Pass, "Team shop has spent $10.00 this month and promised $20.00 to its clusters; with $17.76 for this one, that is $47.76 of its $500.00."},
		"just below warning": {30_000, 8_223, false, Pass, "that is $399.99 of its $500.00."},
		"at the warning":     {30_000, 8_224, true, Ask, "that is $400.00 of its $500.00, and above 80 % an approval is needed."},
		"all of it":          {48_224, 0, true, Ask, "that is $500.00 of its $500.00, and above 80 %"},
		"above, soft":        {48_225, 0, false, Ask, "that is $500.01 of its $500.00."},
		"above, hard":        {48_225, 0, true, Fail, "that is $500.01 of its $500.00."},
	} {
		t.Run(name, func(t *testing.T) {
			terms := declaredTerms(t)
			terms.Catalogue.Teams[1].Budget.Hard = c.hard
			v := Evaluate(validRequest(), Usage{Team: Counts{SpentCents: c.spent, CommittedCents: c.committed}}, terms, Settings{})
			check := find(t, v, "budget")
			require.Equal(t, c.result, check.Result)
			require.Contains(t, check.Message, c.text)
			require.Equal(t, c.result != Fail, v.Allowed)
			require.Equal(t, c.result == Ask, v.Approval != nil)
			if v.Approval != nil {
				require.Equal(t, &Approval{Count: 1, By: PlatformAdmin, For: 24 * time.Hour, Why: []string{check.Message}}, v.Approval)
			}
			require.Contains(t, find(t, v, "price").Message, "Before this, team shop has $")
		})
	}
	long := validRequest()
	long.TTL = 10_000 * time.Hour
	require.Equal(t, "Team shop has spent $10.00 this month and promised $20.00 to its clusters, of its $500.00; the price of this one is not known yet.",
		find(t, Evaluate(long, Usage{Team: Counts{SpentCents: 1_000, CommittedCents: 2_000}}, declaredTerms(t), Settings{}), "budget").Message)
	terms := declaredTerms(t)
	terms.Catalogue.Teams[1].Budget = profiles.Budget{}
	for _, c := range Evaluate(validRequest(), Usage{Team: Counts{SpentCents: 1 << 40}}, terms, Settings{}).Checks {
		require.NotEqual(t, "budget", c.Name, "no budget, no check")
	}
}

func TestALimitOfNAcceptsExactlyN(t *testing.T) {
	base := terms(t)
	rapid.Check(t, func(t *rapid.T) {
		terms, n := base, rapid.IntRange(1, 12).Draw(t, "n")
		scope := rapid.SampledFrom([]profiles.Scope{profiles.ScopePerson, profiles.ScopeTeam, profiles.ScopeRepository, profiles.ScopeEverywhere}).Draw(t, "scope")
		quota := profiles.Quota{Name: "q", Scope: scope}
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			quota.Live = n
		case 1:
			quota.Creating = n
		default:
			quota.NodeHours = n * 3 * 24
		}
		terms.Catalogue.Quotas = []profiles.Quota{quota}
		counts, accepted := Counts{}, 0
		for range n + 5 {
			v := Evaluate(validRequest(), Usage{Person: counts, Team: counts, Repository: counts, Everywhere: counts}, terms, Settings{})
			if !v.Allowed {
				continue
			}
			accepted++
			counts.Live, counts.Creating, counts.NodeHours = counts.Live+1, counts.Creating+1, counts.NodeHours+float64(v.Grant.Nodes)*v.Grant.TTL.Hours()
		}
		require.Equal(t, n, accepted)
	})
}

func TestABudgetIsNeverSpentTwice(t *testing.T) {
	base := declaredTerms(t)
	rapid.Check(t, func(t *rapid.T) {
		terms := base
		budget := rapid.Int64Range(1, 40_000).Draw(t, "budget")
		terms.Catalogue.Teams = []profiles.Team{{Name: "shop", Budget: profiles.Budget{MonthlyCents: budget, Hard: true}}}
		terms.Catalogue.Quotas = nil
		var spent int64
		for range 30 {
			if v := Evaluate(validRequest(), Usage{Team: Counts{CommittedCents: spent}}, terms, Settings{}); v.Allowed {
				spent += v.Grant.PriceCents
			}
		}
		require.LessOrEqual(t, spent, budget)
		require.Greater(t, spent+1776, budget, "and what fits is given")
	})
}

func TestWhatIsNotReadyNeedsQuotaInTheNewTeamToBecomeReady(t *testing.T) {
	terms := declaredTerms(t)
	usage := Usage{Team: Counts{Live: 3, Creating: 3}}
	left := Held{NodeHours: 3}
	require.Equal(t, Pass, JudgeTransfer("shop", left, usage, terms.Catalogue).Result)
	left.Creating = true
	refused := JudgeTransfer("shop", left, usage, terms.Catalogue)
	require.Equal(t, Fail, refused.Result)
	require.Contains(t, refused.Message, "Team shop has 3 of the 3 clusters being created")
	require.Equal(t, []Limit{
		{Quota: "shops", Scope: "team", Key: "shop", What: LimitLive, Most: 5}, {Quota: "shops", Scope: "team", Key: "shop", What: LimitCreating, Most: 3},
	}, TeamLimits("shop", terms.Catalogue))
}

func TestAVerdictSaysWhoComesFirstAmongEquals(t *testing.T) {
	on := declaredTerms(t)
	on.Catalogue = patient(t, on.Catalogue)
	next := func(u Usage, s Settings) string {
		full := Evaluate(validRequest(), u, on, s).Full()
		require.Len(t, full, 1)
		return full[0].Next
	}
	for name, c := range map[string]struct {
		usage    Usage
		settings Settings
		says     bool
	}{
		"teams wait for what everybody shares": {Usage{Everywhere: Counts{Live: 50}}, Settings{UsageDecays: true}, true},
		"usage decides nothing here":           {Usage{Everywhere: Counts{Live: 50}}, Settings{}, false},
		"only one team waits for its own":      {Usage{Team: Counts{Live: 5}}, Settings{UsageDecays: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, next(c.usage, c.settings), "starts by itself")
			require.Equal(t, c.says, strings.Contains(next(c.usage, c.settings), "the team that used less lately comes first"))
		})
	}
}

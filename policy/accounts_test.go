package policy

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/profiles"
)

// ofAWS returns terms with accounts.
func ofAWS(t testing.TB, accounts ...profiles.Account) Terms {
	with := terms(t)
	for _, a := range accounts {
		a.Platform = "aws"
		with.Catalogue.Accounts = append(with.Catalogue.Accounts, a)
	}
	return with
}

func TestANewClusterGoesToTheAccountWithTheMostRoom(t *testing.T) {
	one, two := profiles.Account{Name: "one", Number: "1", Cap: 8}, profiles.Account{Name: "two", Number: "2", BaseDomain: "labs.example.com"}
	east := func(number string) AccountRegion { return AccountRegion{Number: number, Region: "us-east-1"} }
	for name, c := range map[string]struct {
		accounts []profiles.Account
		used     AccountUsage
		change   func(*Request)
		account  string
		says     string
	}{
		"as measured":       {[]profiles.Account{one, two}, AccountUsage{Fits: map[AccountRegion]int{east("1"): 3, east("2"): 5}}, nil, "two", "A new cluster is made in the account two (room for 5). The others: one (room for 3)."},
		"less the accepted": {[]profiles.Account{one, two}, AccountUsage{Fits: map[AccountRegion]int{east("1"): 3, east("2"): 5}, Unasked: map[AccountRegion]int{east("2"): 4}}, nil, "one", "A new cluster is made in the account one (room for 3). The others: two (room for 1)."},
		"for its profile":   {[]profiles.Account{one, two}, AccountUsage{Fits: map[AccountRegion]int{east("1"): 3, {Number: "1", Region: "us-east-1", Profile: "aws-minimal-test"}: 6, east("2"): 5}}, nil, "one", "A new cluster is made in the account one (room for 6). The others: two (room for 5)."},
		"as the cap says":   {[]profiles.Account{one, two}, AccountUsage{Live: map[string]int{"one": 7}, Fits: map[AccountRegion]int{east("1"): 9, east("2"): 2}}, nil, "two", "A new cluster is made in the account two (room for 2). The others: one (room for 1)."},
		"rather unknown":    {[]profiles.Account{one, two}, AccountUsage{Fits: map[AccountRegion]int{east("1"): 0}}, nil, "two", "A new cluster is made in the account two. The others: one (no room now)."},
		"rather room":       {[]profiles.Account{one, two}, AccountUsage{}, nil, "one", "A new cluster is made in the account one (room for 8). The others: two."},
		"it waits":          {[]profiles.Account{two}, AccountUsage{Fits: map[AccountRegion]int{east("2"): 0}}, nil, "two", "A new cluster is made in the account two (no room now)."},
		"as named":          {[]profiles.Account{one, two}, AccountUsage{}, func(r *Request) { r.Account = "two" }, "two", "A new cluster is made in the account two."},
		"the higher first":  {[]profiles.Account{two, {Name: "xyz", Number: "3", Priority: 1}}, AccountUsage{}, nil, "xyz", "A new cluster is made in the account xyz. The others: two."},
	} {
		t.Run(name, func(t *testing.T) {
			r := validRequest()
			if c.change != nil {
				c.change(&r)
			}
			v := Evaluate(r, Usage{Accounts: c.used}, ofAWS(t, c.accounts...), Settings{})
			require.True(t, v.Allowed, v.Text())
			require.Equal(t, c.account, v.Grant.Account)
			require.Equal(t, c.says, find(t, v, "account").Message)
			require.False(t, v.Grant.ClaimFrom.Only)
		})
	}
}

// What fits is counted every few seconds. A cluster that was accepted and has asked since is in neither count.
func TestRoomThatWasTakenAfterItWasCountedIsNotGivenAgain(t *testing.T) {
	counted := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	with := ofAWS(t, profiles.Account{Name: "one", Number: "1"}, profiles.Account{Name: "two", Number: "2"})
	u := AccountUsage{Counted: counted, Fits: map[AccountRegion]int{{Number: "1", Region: "us-east-1"}: 3, {Number: "2", Region: "us-east-1"}: 2}}
	for n, want := range map[int]string{0: "one", 1: "one", 2: "two"} {
		u.Asked = []AccountAsk{{"1", "us-east-1", counted}, {"1", "us-west-2", counted.Add(time.Second)}}
		for range n {
			u.Asked = append(u.Asked, AccountAsk{"1", "us-east-1", counted.Add(time.Second)})
		}
		require.Equal(t, want, Evaluate(validRequest(), Usage{Accounts: u}, with, Settings{}).Grant.Account, n)
	}
}

func TestAnAccountThatDoesNotFitSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		account profiles.Account
		used    AccountUsage
		change  func(*Request)
		says    string
	}{
		"full":                {profiles.Account{Name: "one", Cap: 2}, AccountUsage{Live: map[string]int{"one": 2}}, nil, "No account takes a new cluster: one (2 of 2 clusters)."},
		"in maintenance":      {profiles.Account{Name: "one", Maintenance: true}, AccountUsage{}, nil, "No account takes a new cluster: one (in maintenance)."},
		"another region":      {profiles.Account{Name: "one", Regions: []string{"us-west-2"}}, AccountUsage{}, nil, "No account takes a new cluster: one (not for us-east-1)."},
		"another base domain": {profiles.Account{Name: "one", BaseDomain: "two.example.com"}, AccountUsage{}, nil, "No account takes a new cluster: one (only for two.example.com)."},
		"another team's":      {profiles.Account{Name: "one", Teams: []string{"bill*"}}, AccountUsage{}, nil, "Team shop may use no account of AWS."},
		"another team's name": {profiles.Account{Name: "one", Teams: []string{"bill*"}}, AccountUsage{}, func(r *Request) { r.Account = "one" }, `Team shop has no account that is called "one".`},
		"a name of none":      {profiles.Account{Name: "one"}, AccountUsage{}, func(r *Request) { r.Account = "two" }, `Team shop has no account that is called "two".`},
	} {
		t.Run(name, func(t *testing.T) {
			r := validRequest()
			if c.change != nil {
				c.change(&r)
			}
			v := Evaluate(r, Usage{Accounts: c.used}, ofAWS(t, c.account), Settings{})
			require.False(t, v.Allowed)
			check := find(t, v, "account")
			require.Equal(t, c.says, check.Message)
			require.NotEmpty(t, check.Next)
			if len(c.account.Teams) > 0 {
				require.NotContains(t, check.Accept, "one", "other teams do not learn of it")
			}
		})
	}
}

func TestAnAccountForOneClusterAlone(t *testing.T) {
	with := ofAWS(t, profiles.Account{Name: "one", Number: "1", Priority: 2}, profiles.Account{Name: "two", Number: "2", Priority: 1}, profiles.Account{Name: "xyz", Number: "3"})
	used := Usage{Accounts: AccountUsage{Live: map[string]int{"one": 2, "two": 1}, Kept: map[string]bool{"two": true}}}
	shared := Evaluate(validRequest(), used, with, Settings{})
	require.Equal(t, "one", shared.Grant.Account)
	require.False(t, shared.Grant.Exclusive)
	require.Contains(t, find(t, shared, "account").Message, "two (reserved for one cluster)")

	r := validRequest()
	r.Account = profiles.ExclusiveAccount
	alone := Evaluate(r, used, with, Settings{})
	require.True(t, alone.Grant.Exclusive)
	require.Equal(t, "A new cluster is made in the account xyz, which no other cluster uses while it lives. The others: one (not empty: 2 clusters), two (reserved for one cluster).", find(t, alone, "account").Message)
	used.Accounts.Live["xyz"] = 1
	require.Contains(t, find(t, Evaluate(r, used, with, Settings{}), "account").Message, "No account takes a new cluster: ")
	none := find(t, Evaluate(r, Usage{}, terms(t), Settings{}), "account")
	require.Equal(t, []any{Fail, "The catalogue has no account of AWS that team shop may use, so a cluster cannot have one to itself."}, []any{none.Result, none.Message}, "the installation's own is for everybody")
}

func TestAnUnprovenAccountSaysWhoCanMendIt(t *testing.T) {
	with := ofAWS(t, profiles.Account{Name: "one", Number: "1"}, profiles.Account{Name: "two", Number: "2"})
	with.Unproven = map[string]Unproven{"1": {Why: "not proven: there is no zone", Next: "Ask the DNS administrator."}}
	v := Evaluate(validRequest(), Usage{}, with, Settings{})
	require.Equal(t, "two", v.Grant.Account)
	require.Contains(t, find(t, v, "account").Message, "The others: one (not proven: there is no zone).")
	with.Unproven["2"] = Unproven{Why: "not proven yet"}
	check := find(t, Evaluate(validRequest(), Usage{}, with, Settings{}), "account")
	require.Equal(t, []any{Fail, "Ask the DNS administrator."}, []any{check.Result, check.Next})
	require.Contains(t, check.Message, "two (not proven yet)")
}

func TestWithoutAccountsOfThePlatformNothingIsChosen(t *testing.T) {
	with := terms(t)
	with.Catalogue.Accounts = []profiles.Account{{Name: "ibm", Platform: "ibmcloud"}}
	v := Evaluate(validRequest(), Usage{}, with, Settings{})
	require.True(t, v.Allowed)
	require.Empty(t, v.Grant.Account)
	require.False(t, slices.ContainsFunc(v.Checks, func(c Check) bool { return c.Name == "account" }))
}

func TestTheBaseDomainIsThatOfTheAccount(t *testing.T) {
	with := ofAWS(t, profiles.Account{Name: "one", BaseDomain: "labs.example.com"})
	v := Evaluate(validRequest(), Usage{}, with, Settings{})
	require.Equal(t, "labs.example.com", v.Grant.BaseDomain)
	require.True(t, v.Grant.ClaimFrom.AnyDomain)
	r := validRequest()
	r.BaseDomain = "labs.example.com"
	v = Evaluate(r, Usage{}, with, Settings{})
	require.Equal(t, "one", v.Grant.Account)
	require.False(t, v.Grant.ClaimFrom.AnyDomain)
}

func TestAFullAccountLeavesARequestToAPool(t *testing.T) {
	with := ofAWS(t, profiles.Account{Name: "one", Cap: 1})
	with.Claims = true
	v := Evaluate(validRequest(), Usage{Accounts: AccountUsage{Live: map[string]int{"one": 1}}}, with, Settings{})
	require.True(t, v.Allowed)
	require.Equal(t, ClaimTerms{Only: true, Accounts: []string{"one"}, AnyDomain: true}, v.Grant.ClaimFrom)
	require.Equal(t, "No account takes a new cluster, so only one that waits in a pool can be taken: one (1 of 1 clusters).", find(t, v, "account").Message)
}

// Lives of three accounts: clusters are accepted and end, caps and maintenance change. What is chosen is always one that the team may use, that is
// not in maintenance and below its cap, and has at least as much room as every other one that fits; and it is the same if the accounts come in another order.
func TestRandomLivesOfThreeAccounts(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "2000"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	lives, chosen, refused := 0, 0, 0
	base := terms(t)
	rapid.Check(t, func(t *rapid.T) {
		lives++
		teams := []string{"shop", "billing"}
		accounts := make([]profiles.Account, 3)
		for i := range accounts {
			accounts[i] = profiles.Account{
				Name: fmt.Sprintf("account-%d", i), Number: fmt.Sprint(i), Platform: "aws", Cap: rapid.IntRange(0, 4).Draw(t, "cap"), Priority: rapid.IntRange(0, 2).Draw(t, "priority"),
				Maintenance: rapid.IntRange(0, 4).Draw(t, "maintenance") == 0, Teams: rapid.SampledFrom([][]string{nil, {"shop"}, {"bill*"}}).Draw(t, "teams"),
				Regions: rapid.SampledFrom([][]string{nil, nil, {"us-east-1"}}).Draw(t, "regions"),
			}
		}
		used := AccountUsage{Live: map[string]int{}, Fits: map[AccountRegion]int{}}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			r := validRequest()
			r.Ownership.Team, r.Region = rapid.SampledFrom(teams).Draw(t, "team"), rapid.SampledFrom([]string{"us-east-1", "us-west-2"}).Draw(t, "region")
			r.Principal = As("github:id/2001", "maya", Requester, r.Ownership.Team)
			if i := rapid.IntRange(0, 5).Draw(t, "measured"); i < len(accounts) {
				used.Fits[AccountRegion{Number: accounts[i].Number, Region: r.Region}] = rapid.IntRange(0, 3).Draw(t, "room")
			}
			if i := rapid.IntRange(0, 8).Draw(t, "ends"); i < len(accounts) && used.Live[accounts[i].Name] > 0 {
				used.Live[accounts[i].Name]--
			}
			if i := rapid.IntRange(0, 20).Draw(t, "maintained"); i < len(accounts) {
				accounts[i].Maintenance = !accounts[i].Maintenance
			}
			with := base
			with.Catalogue.Accounts = accounts
			v := Evaluate(r, Usage{Accounts: used}, with, Settings{})
			turned := with
			turned.Catalogue.Accounts = slices.Clone(accounts)
			slices.Reverse(turned.Catalogue.Accounts)
			require.Equal(t, v.Grant.Account, Evaluate(r, Usage{Accounts: used}, turned, Settings{}).Grant.Account)
			fits := func(a profiles.Account) bool {
				return !a.Maintenance && a.MayUse(r.Ownership.Team) && (len(a.Regions) == 0 || slices.Contains(a.Regions, r.Region)) && (a.Cap == 0 || used.Live[a.Name] < a.Cap)
			}
			if !v.Allowed {
				require.False(t, slices.ContainsFunc(accounts, fits), "%+v", accounts)
				refused++
				continue
			}
			at := slices.IndexFunc(accounts, func(a profiles.Account) bool { return a.Name == v.Grant.Account })
			require.True(t, fits(accounts[at]), "%+v", accounts[at])
			room := func(a profiles.Account) int {
				n, known := used.Fits[AccountRegion{Number: a.Number, Region: r.Region}]
				if a.Cap > 0 && (!known || a.Cap-used.Live[a.Name] < n) {
					n, known = a.Cap-used.Live[a.Name], true
				}
				if !known {
					return -1
				}
				return n
			}
			order := func(a profiles.Account) int { // an unknown room is better than none, and worse than any
				if n := room(a); n > 0 {
					return n + 1
				} else if n < 0 {
					return 1
				}
				return 0
			}
			for _, a := range accounts {
				require.False(t, fits(a) && order(a) > order(accounts[at]), "%s has more room than %s", a.Name, accounts[at].Name)
			}
			chosen++
			used.Live[v.Grant.Account]++
			if n := used.Fits[AccountRegion{Number: accounts[at].Number, Region: r.Region}]; n > 0 {
				used.Fits[AccountRegion{Number: accounts[at].Number, Region: r.Region}]--
			}
		}
	})
	t.Logf("%d lives: %d clusters were accepted, %d refused", lives, chosen, refused)
}

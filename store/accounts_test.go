package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// inAccount has a request granted in an account.
func inAccount(name, account, number string) (store.Ask, store.Judgement) {
	g := storetest.Granted(name)
	g.Row.Account, g.Row.Spec.Account, g.Row.Spec.CloudCredsRef = account, number, "file:/"+account
	g.Row.Spec.ServiceAccounts = map[string]string{"create": account + "-create", "destroy": account + "-destroy"}
	ask := storetest.Requests(g)
	ask.Scope.Accounts = true
	return ask, g
}

func TestTheAccountOfAClusterIsKeptAndNeverChanges(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	ask, g := inAccount("one", "aws-one", "111111111111")
	row, err := storetest.Judge(s, ask, g)
	require.NoError(t, err)
	read := storetest.Read(t, s, row.ID)
	require.Equal(t, read, row)
	require.Equal(t, "aws-one", read.Account)
	require.Equal(t, map[string]string{"create": "aws-one-create", "destroy": "aws-one-destroy"}, read.Spec.ServiceAccounts)
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET account = 'aws-two' WHERE id = $1`, row.ID)
	require.ErrorContains(t, err, "the account of cluster "+row.ID+" never changes")

	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, "aws-one-create", open.ServiceAccounts["create"])
	used, err := s.UsedAccounts(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.UsedAccount{{Name: "aws-one", Platform: "aws", Number: "111111111111", CredentialsRef: "file:/aws-one",
		ServiceAccounts: g.Row.Spec.ServiceAccounts, BaseDomains: []string{"labs.example.com"}, Live: 1}}, used)

	plain := storetest.Accept(t, s, storetest.Granted("two"))
	require.Empty(t, plain.Account)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, plain.ID).Open)
	open, err = s.Attempts.OpenAttempt(t.Context(), plain.ID)
	require.NoError(t, err)
	require.Empty(t, open.ServiceAccounts)
}

// Requests that arrive together, of several people, see each other's choices.
func TestNoAccountGetsMoreThanItsCap(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	const most = 3
	var all sync.WaitGroup
	accepted := make(chan string, 20)
	for i := range cap(accepted) {
		all.Go(func() {
			ask, g := inAccount(fmt.Sprintf("c-%d", i), "", "")
			g.Row.RequestedBy = fmt.Sprintf("github:p%d", i%5)
			ask.Scope.Person, ask.Principal = g.Row.RequestedBy, g.Row.RequestedBy
			if i%3 == 0 { // such a request is judged alone
				ask.Claims = true
			}
			judged, err := s.Judge(t.Context(), ask, func(u usage.Usage) (store.Judgement, error) {
				for _, name := range []string{"one", "two"} {
					if u.Accounts.Live[name] < most {
						made := g
						made.Row.Account = name
						return made, nil
					}
				}
				return store.Judgement{Verdict: []byte(`{"allowed":false}`)}, nil
			})
			if err == nil && judged.Allowed {
				accepted <- judged.Row.Account
			}
		})
	}
	all.Wait()
	close(accepted)
	counted := map[string]int{}
	for account := range accepted {
		counted[account]++
	}
	require.Equal(t, map[string]int{"one": most, "two": most}, counted)
}

// Of requests that arrive together, judged in groups or alone, one gets an account for itself.
func TestAnAccountForOneClusterAloneGetsNoOther(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			ask, g := inAccount(fmt.Sprintf("c-%d", i), "one", "")
			g.Row.Exclusive = i%2 == 0
			g.Row.RequestedBy = fmt.Sprintf("github:p%d", i%5)
			ask.Scope.Person, ask.Principal, ask.Claims = g.Row.RequestedBy, g.Row.RequestedBy, i%3 == 0
			_, _ = s.Judge(t.Context(), ask, func(u usage.Usage) (store.Judgement, error) {
				if u.Accounts.Kept["one"] || g.Row.Exclusive && u.Accounts.Live["one"] > 0 {
					return store.Judgement{Verdict: []byte(`{"allowed":false}`)}, nil
				}
				return g, nil
			})
		})
	}
	all.Wait()
	live, kept := storetest.Count(t, s, `SELECT count(*) FROM clusters`), storetest.Count(t, s, `SELECT count(*) FROM clusters WHERE exclusive`)
	require.NotZero(t, live)
	require.True(t, kept == 0 || kept == 1 && live == 1, "%d live, %d of them exclusive", live, kept)
}

func TestRoomIsWhatWasMeasuredWithoutWhatOthersHold(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	fits := func() (n int, known bool) {
		counted, err := s.CountAccounts(t.Context())
		require.NoError(t, err)
		now, err := s.Now(t.Context())
		require.NoError(t, err)
		all, _, err := usage.ReadRoom(t.Context(), s.Pool(), now)
		require.NoError(t, err)
		at := usage.AccountRegion{Number: "111111111111", Region: "us-east-1"}
		n, known = all[at]
		return n - counted.Unasked[at], known
	}
	ask, g := inAccount("one", "aws-one", "111111111111")
	row, err := storetest.Judge(s, ask, g)
	require.NoError(t, err)
	_, known := fits()
	require.False(t, known, "nothing was measured")
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	_, _, err = s.Attempts.Reserve(t.Context(), open.Attempt, open.Token, attempts.CapacityDemand{Account: "111111111111", Region: "us-east-1", Quotas: []lifecycle.Quota{
		{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Limit: 5, Used: 1, Need: 1, Lasting: 1}, {Service: "ec2", Code: "L-0263D0A3", Name: "addresses", Limit: 20, Used: 2, Need: 3, Lasting: 3},
		{Service: "ec2", Code: "L-1", Unknown: "no permission", Need: 4},
	}})
	require.NoError(t, err)
	n, _ := fits()
	require.Equal(t, 3, n, "four VPCs are free, and the cluster holds one of them")
	counted, err := s.CountAccounts(t.Context())
	require.NoError(t, err)
	require.Len(t, counted.Asked, 1)
	require.Equal(t, usage.Asked{Number: "111111111111", Region: "us-east-1", Since: clock.Now()}, usage.Asked{Number: counted.Asked[0].Number, Region: counted.Asked[0].Region, Since: counted.Asked[0].Since.UTC()})
	ask, g = inAccount("two", "aws-one", "111111111111")
	_, err = storetest.Judge(s, ask, g)
	require.NoError(t, err)
	n, _ = fits()
	require.Equal(t, 2, n, "another one was accepted and has not asked yet")

	// A proof of an hour ago measured what a small profile needs. Its needs stand, and the limits are those of the newer install.
	measured := func(ago time.Duration, limit int) map[string]int {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), `
			INSERT INTO rooms (account, region, profile, platform, items, measured_at) VALUES ('111111111111', 'us-east-1', 'small', 'aws', $1, $2)
			ON CONFLICT (account, region, profile) DO UPDATE SET items = excluded.items, measured_at = excluded.measured_at`,
			[]lifecycle.Quota{{Service: "vpc", Code: "L-F678F1CE", Name: "VPCs", Limit: limit, Used: 1, Need: 2, Lasting: 2}}, clock.Now().Add(-ago))
		require.NoError(t, err)
		all, rooms, err := usage.ReadRoom(t.Context(), s.Pool(), clock.Now())
		require.NoError(t, err)
		require.Len(t, rooms, 1)
		out := map[string]int{}
		for at, n := range all {
			out[at.Profile] = n
		}
		return out
	}
	require.Equal(t, map[string]int{"": 3, "small": 1}, measured(time.Hour, 50), "three VPCs are free, and a small one needs two")
	require.Equal(t, map[string]int{"": 0, "small": 0}, measured(-time.Second, 2), "whoever measured last knows the limit")

	clock.Pass(25 * time.Hour)
	_, known = fits()
	require.False(t, known, "that was too long ago")
}

func TestAFullAccountServesFromAPoolOrNotAtAll(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	ask, g := inAccount("one", "", "")
	ask.Claims, g.ClaimOnly = true, true
	_, err := storetest.Judge(s, ask, g)
	require.ErrorIs(t, err, db.ErrNoAccount)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM clusters`))
}

// The count is made under the lock of all accounts, for which every other request waits.
func TestTheClustersOfAnAccountAreCountedFromAnIndexAlone(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Pool().Exec(t.Context(), `VACUUM ANALYZE clusters`)
	require.NoError(t, err)
	tx, err := s.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	_, err = tx.Exec(t.Context(), `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`)
	require.NoError(t, err)
	rows, err := tx.Query(t.Context(), `EXPLAIN SELECT account, count(*), bool_or(exclusive) FROM clusters WHERE account <> '' AND destroyed_at IS NULL GROUP BY 1`)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, strings.Join(plan, "\n"), "Index Only Scan using clusters_account")
}

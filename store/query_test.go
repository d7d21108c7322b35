package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// found returns the names of the clusters that a filter finds for somebody who may see all, in the list's order, page by page.
func found(t *testing.T, s *store.Store, text string, now time.Time, f store.Filter) string {
	t.Helper()
	q, problems := filter.Parse(text, filter.Reader{Principal: "saml:maya", Name: "maya", Now: now})
	require.Empty(t, problems, text)
	f.Query, f.Limit = q, 2
	var names []string
	for more := true; more; more = f.Cursor != "" {
		page, next, err := s.List(t.Context(), f)
		require.NoError(t, err, text)
		for _, row := range page {
			names = append(names, row.Name)
		}
		f.Cursor = next
	}
	return strings.Join(names, " ")
}

func TestAFilterFindsWhatItSays(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for i, name := range []string{"one", "two", "three", "four"} {
		a := storetest.Granted(name)
		if i%2 == 0 {
			a = storetest.FromPR(a, 41+i)
			a.Row.PR.Repo = "Acme/Shop"
		}
		a.Row.Team, a.Row.Owner = []string{"payments", "platform"}[i/2], []string{"maya", "Will"}[i%2]
		a.Row.HourlyCents = 100 * (i + 1)
		storetest.Accept(t, s, a)
		clock.Pass(time.Hour)
	}
	for _, sql := range []string{
		`ALTER TABLE clusters DISABLE TRIGGER USER`,
		`UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', teardown = 'DESTROY', destroyed_at = created_at + interval '1 minute',
			desired_why = '{"code":"install_failed","words":"quota"}' WHERE name = 'one'`,
		`UPDATE clusters SET status = 'DESTROYED', phase = 'released', desired = 'absent', teardown = 'DESTROY', destroyed_at = created_at + interval '1 minute', desired_why = '{"code":"ttl"}' WHERE name = 'two'`,
		`UPDATE clusters SET requested_by = 'saml:maya', version = '4.20.3' WHERE name = 'four'`,
	} {
		_, err := s.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	now := clock.Now()
	for text, want := range map[string]string{
		"":                           "four three two one",
		"owner:me":                   "four three one", // requested by her, or hers by name
		"owner:WILL -owner:me":       "two",
		"team:payments,none":         "two one",
		"-team:payments":             "four three",
		"repo:acme/shop":             "three one",
		"repo:SHOP":                  "three one",
		"-repo:shop":                 "four two", // what has none is not of it
		"pr:43":                      "three",
		"shop#43":                    "three",
		`"acme/shop"`:                "three one",
		"failed":                     "one",
		"-failed":                    "four three two",
		"gone":                       "two one",
		"live":                       "four three",
		"status:failed,live":         "four three one",
		"version:4.20.3":             "four",
		"version:4.2":                "",
		"name:t":                     "three two",
		"created:<150m":              "four three",
		"created:>150m":              "two one",
		"ended:<1h":                  "",
		"ended:>1h":                  "two one",
		"ends:>1h":                   "four three",
		"sort:oldest":                "one two three four",
		"sort:name":                  "four one three two",
		"sort:owner":                 "one three two four",
		"sort:price":                 "four three two one",
		"platform:ibm":               "",
		"https://ci.example.com/r/1": "",
		"%":                          "",
	} {
		require.Equal(t, want, found(t, s, text, now, store.Filter{}), text)
		teams := found(t, s, text, now, store.Filter{Teams: []string{"payments"}, Principal: "saml:rob"})
		require.Equal(t, strings.Join(slices.DeleteFunc(strings.Fields(want), func(n string) bool { return n == "three" || n == "four" }), " "), teams, "of one team: "+text)
	}
	require.Equal(t, "four three one", found(t, s, "", now, store.Filter{Current: true}), "an install that failed is listed among the live ones")
	clock.Pass(lifecycle.FailureShown)
	require.Equal(t, "four three", found(t, s, "", clock.Now(), store.Filter{Current: true}), "for a day")
}

// The grammar and the store name the same things.
func TestAFilterKnowsEachStatusAndSource(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for status := range lifecycle.Phases {
		require.Contains(t, filter.Statuses, strings.ToLower(string(status)))
	}
	for _, key := range filter.Keys {
		for _, value := range map[filter.Key][]string{filter.Status: filter.Statuses, filter.Source: filter.Sources, filter.Sort: filter.Orders}[key] {
			require.Empty(t, found(t, s, fmt.Sprintf("%s:%s", key, value), clock.Now(), store.Filter{}))
		}
	}
}

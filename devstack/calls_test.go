package devstack_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// mostCalls is what a straight life may cost of the calls that GitHub counts, from the label to the last word about its end.
// Five of them are the gate's: it is posted, it opens, and it says that the cluster ended; before each of the last two the commit's pull
// requests are listed.
const mostCalls = 25

// ofTheApp is how the App asks every five minutes which webhooks never came: once for all installations, and against no
// installation's limit.
const ofTheApp = "GET /app/hook/deliveries"

// notOfALife are the most calls that a first life costs beside its own: whose each login and owner in the catalogue is, three here, is asked
// once in an installation's life, and polling looks for merge queues in each repository with gates. Until there is one, later looks are answered 304.
var notOfALife = map[string]int{"GET /users/{user}": 3, "GET /repos/{owner}/{repo}/git/matching-refs/{ref...}": 1}

// counted groups calls by route, without those that answered 304, which GitHub does not count.
func counted(calls []github.Call) (by map[string]int, sum int) {
	by = map[string]int{}
	for _, c := range calls {
		if c.Status != http.StatusNotModified && c.Route != ofTheApp {
			by[c.Method+" "+strings.TrimPrefix(c.Route, c.Method+" ")]++
			sum++
		}
	}
	return by, sum
}

func TestAStraightLifeCostsFewCalls(t *testing.T) {
	l := newLife(t, time.Hour)
	pr, err := l.GitHub.Open("A straight life", "maya")
	require.NoError(t, err)
	l.runUntil("the pull request was seen", 30*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM deliveries WHERE convert_from(body, 'UTF8')::jsonb ->> 'number' = $1 AND state = 'done'`, fmt.Sprint(pr)) == 1
	})
	before := len(l.GitHub.Calls())
	require.NoError(t, l.GitHub.Label(pr, "ocp/aws-minimal-test", "maya"))
	l.runUntil("it is ready", time.Minute, l.every(lifecycle.PhaseReady))
	shown := func() bool {
		return l.count(`SELECT count(*) FROM subscribers WHERE shown_version < wanted_version`) == 0 && l.count(`SELECT count(*) FROM effects WHERE done_at IS NULL`) == 0
	}
	l.runUntil("everything is shown", time.Minute, shown)
	ready := len(l.GitHub.Calls())
	require.NoError(t, l.GitHub.Close(pr, "maya"))
	l.runUntil("it is gone", time.Minute, l.every(lifecycle.Released))
	l.runUntil("its end is shown", time.Minute, shown)
	calls := l.GitHub.Calls()
	_, first := counted(calls[before:ready])
	by, sum := counted(calls[before:])
	var table []string
	for _, route := range slices.Sorted(maps.Keys(by)) {
		table = append(table, fmt.Sprintf("%3d  %s", by[route], route))
	}
	t.Logf("%d calls until ready, %d in all:\n%s", first, sum, strings.Join(table, "\n"))
	for route, most := range notOfALife {
		require.LessOrEqual(t, by[route], most, route)
		sum -= by[route]
	}
	require.LessOrEqual(t, sum, mostCalls)
	require.LessOrEqual(t, by["GET /repos/{owner}/{repo}/commits/{ref...}"], 2, "a commit is looked at before its gate opens, and before it says that the cluster ended")
}

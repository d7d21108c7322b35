package devstack_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

const oneAtATime = `
quotas:
  - {name: sources, scope: team, match: [platform], creating: 1}
`

// pullRequests: a catalogue that changes under a living cluster, three that ask at once where one may be made; then a hold
// beside what needs a person's word.
func (l *life) pullRequests(t *testing.T) {
	const number = 41
	maya := l.as("requester")
	require.NoError(l.t, l.GitHub.Label(number, label, "maya"))
	l.runUntil("pull request 41 has a ready cluster", time.Minute, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'READY'", number) == 1
	})
	before := maya.cluster(l.nameOf(number))
	frozen := l.frozen(before.ClusterID)

	l.brokenCatalogueIsNotTaken()
	l.writeCatalogue("quotas/sources.yaml", oneAtATime)
	l.askUntil("the server took the quota by itself", 20*time.Second, polite, func() bool {
		for _, q := range ask[v1.Quotas](maya, http.MethodGet, "/api/v1/quotas", nil, http.StatusOK).Items {
			if q.Name == "sources" {
				return q.Key == "platform" && q.Creating.Most == 1
			}
		}
		return false
	})
	l.threeTakeTurns(maya)
	require.Equal(l.t, frozen, l.frozen(before.ClusterID), "what lives is not touched by a catalogue")
	now := maya.cluster(l.nameOf(number))
	require.Equal(l.t, []any{before.ClusterID, before.Status, before.DestroyAt, before.MaxDestroyAt}, []any{now.ClusterID, now.Status, now.DestroyAt, now.MaxDestroyAt})
	l.catalogueWith(map[string]string{"quotas/sources.yaml": ""})
	together(t, l, map[string]func(*life, *testing.T){
		"a hold keeps what its pull request would end": func(l *life, _ *testing.T) { l.holdKeeps(l.as("requester"), number, now) },
		"what needs a person's word waits for it":      (*life).approvals,
	})
}

// frozen is everything of a cluster that its acceptance settled.
func (l *life) frozen(id string) (text string) {
	require.NoError(l.t, l.pool.QueryRow(l.ctx, `SELECT concat_ws(' ', spec, request_tags, effective_tags, end_ttl, end_max, owner, team, nodes,
		workers_base, workers_least, workers_most, max_tries, hourly_cents) FROM clusters WHERE id = $1`, id).Scan(&text))
	return text
}

// brokenCatalogueIsNotTaken: half of a catalogue is none, and everybody with a seat can see what is wrong.
func (l *life) brokenCatalogueIsNotTaken() {
	admin := l.as("admin")
	state := func() v1.CatalogueState {
		return ask[v1.CatalogueState](admin, http.MethodGet, "/api/v1/catalogue", nil, http.StatusOK)
	}
	good := state().Hash
	l.writeCatalogue("quotas/sources.yaml", strings.ReplaceAll(oneAtATime, "creating", "creatign"))
	l.askUntil("the broken file was seen", 20*time.Second, polite, func() bool { return state().Problem != "" })
	require.Contains(l.t, state().Problem, "quotas/sources.yaml:3")
	require.Equal(l.t, good, state().Hash, "the last good one stays in force")
}

// threeTakeTurns: by a label, by a comment and through the API, where one may be made at a time. Each installation stops until
// those who wait have been told their place.
func (l *life) threeTakeTurns(maya visitor) {
	begin := time.Now()
	names := []string{l.nameOf(42), l.nameOf(43), "third"}
	for _, name := range names {
		require.NoError(l.t, installer.SetFault(l.Faults(), "create/"+name, &installer.Fault{FailAt: "bootstrap", Pause: true}))
	}
	require.NoError(l.t, l.GitHub.Label(42, label, "maya"))
	_, err := l.GitHub.Comment(43, "/ocp create aws-minimal-test", "will")
	require.NoError(l.t, err)
	maya.create(v1.CreateRequest{Name: "third"}, "third")
	l.runUntil("all three are accepted", 20*time.Second, func() bool { return len(l.since(begin)) == len(names) })

	for made := range names {
		waiting := len(names) - made - 1
		creating := ""
		l.askUntil(fmt.Sprintf("one is created, and %d are told their place", waiting), 30*time.Second, 2*polite, func() bool {
			creating = ""
			got := map[int]bool{}
			for _, c := range ask[v1.ClusterPage](maya, http.MethodGet, "/api/v1/clusters?team=platform", nil, http.StatusOK).Items {
				switch {
				case c.Phase == "awaiting_capacity" && strings.Contains(c.Why, "team platform may have 1 cluster being created at once (quota sources)"):
					got[c.Position] = c.Name == "third" || l.heard(c.Name, placeText(c.Position))
				case c.Status == v1.CREATING:
					require.Empty(l.t, creating, "never two at once")
					creating = c.Name
				}
			}
			return creating != "" && len(got) == waiting && (waiting == 0 || got[1]) && (waiting < 2 || got[2])
		})
		require.NoError(l.t, installer.SetFault(l.Faults(), "create/"+creating, nil))
		maya.until(creating, "ready", isReady)
	}
}

// placeText are what a comment says of a position in the queue.
func placeText(place int) string {
	if place == 1 {
		return "It is next in the queue."
	}
	return fmt.Sprintf("It is number %d in the queue.", place)
}

// heard reports whether the bot's words on the pull request of a cluster contain these.
func (l *life) heard(name, text string) bool {
	for _, number := range []int{42, 43} {
		if l.nameOf(number) == name {
			return strings.Contains(strings.Join(l.commentBodies(number), "\n"), text)
		}
	}
	return false
}

// since lists the team's clusters that were accepted after a moment.
func (l *life) since(begin time.Time) (names []string) {
	rows, err := l.pool.Query(l.ctx, "SELECT name FROM clusters WHERE team = 'platform' AND created_at > $1 AND NOT needs_approval", begin)
	require.NoError(l.t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(l.t, rows.Scan(&name))
		names = append(names, name)
	}
	return names
}

// holdKeeps: a closed pull request ends its cluster after the grace, and not before the hold.
func (l *life) holdKeeps(maya visitor, number int, c v1.ClusterDetail) {
	until := time.Now().Add(l.Grace + 6*time.Second).UTC().Truncate(time.Microsecond) // six seconds for the server to see the pull request closed
	at := "/api/v1/clusters/" + c.ClusterID + "/hold"
	noReason := maya.refused(http.MethodPost, at, v1.Hold{Until: until}, http.StatusUnprocessableEntity)
	require.Equal(l.t, "reason", noReason.Errors[0].Field)
	held := ask[v1.Change](maya, http.MethodPost, at, v1.Hold{Until: until, Reason: "somebody looks at it"}, http.StatusOK)
	require.Equal(l.t, until, held.Cluster.HoldUntil)
	require.NoError(l.t, l.GitHub.Close(number, "maya"))
	l.runUntil("it goes", 20*time.Second, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE id = $1 AND desired = 'absent'", c.ClusterID) == 1
	})
	require.False(l.t, time.Now().Before(until), "it went before its hold ended")
	var closed time.Time
	require.NoError(l.t, l.pool.QueryRow(l.ctx, "SELECT end_pr_closed FROM clusters WHERE id = $1", c.ClusterID).Scan(&closed))
	require.True(l.t, closed.Before(until), "the hold had nothing to hold back: %s, %s", closed, until)
	maya.until(c.ClusterID, "released", isGone)
	l.hears(number, "is gone")
}

// commentBodies are the bot's words on a pull request.
func (l *life) commentBodies(number int) (bodies []string) {
	for _, c := range l.GitHub.Comments(number) {
		if c.Author == github.Bot {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

package devstack_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

// A new account has capacity for five VPCs and five public addresses. Ten people ask at once.
func TestTenLabelsAtOnceNeverAskForMoreThanTheAccountHas(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	for code, limit := range aws.RealLimits() {
		require.NoError(t, l.AWS.SetLimit(code, limit))
	}
	var prs []int
	for i := range 10 {
		pr, err := l.GitHub.Open(fmt.Sprintf("One of ten, %d", i+1), "maya")
		require.NoError(t, err)
		prs = append(prs, pr)
	}
	var all sync.WaitGroup
	for _, pr := range prs {
		all.Go(func() { require.NoError(t, l.GitHub.Label(pr, label, "maya")) })
	}
	all.Wait()
	places := map[int]bool{}
	waited, running := 0, 0
	ended := map[string]bool{}
	l.runUntil("every one was ready, and released its reservation", 8*time.Minute, func() bool {
		waiting := 0
		for _, r := range l.clusters() {
			if r.Phase == "awaiting_capacity" {
				waiting++
			}
			require.NotEqual(t, "create_failed", r.Phase, "%+v", r)
			if r.Status == "READY" && !ended[r.ID] { // somebody has looked at it and is content
				ended[r.ID] = true
				_, err := l.GitHub.Comment(l.pullOf(r.ID), "/ocp destroy", "maya")
				require.NoError(t, err)
			}
		}
		waited = max(waited, waiting)
		running = max(running, l.count("SELECT count(*) FROM clusters WHERE phase IN ('claiming', 'rendering', 'recording', 'installing', 'configuring') OR status IN ('READY', 'DESTROYING')"))
		for _, place := range l.places() {
			places[place] = true
		}
		return len(ended) == len(prs)
	})
	l.runUntil("all are released", 2*time.Minute, l.every("released"))
	t.Logf("at most %d had a reservation at once, at most %d waited, places seen: %v", running, waited, places)
	require.Positive(t, waited, "nobody had to wait, so nothing was proven")
	require.True(t, places[1] && places[2], "those who wait are told their place: %v", places)
	require.Zero(t, l.AWS.Exceeded(), "the account was asked for more than it has")
	l.assertNothingLeft()
	l.assertSettled()
}

// pullOf is the pull request a cluster was requested for on.
func (l *life) pullOf(id string) (number int) {
	require.NoError(l.t, l.pool.QueryRow(l.ctx, "SELECT pr_number FROM clusters WHERE id = $1", id).Scan(&number))
	return number
}

// places reads the places in line that people are shown on their pull requests.
func (l *life) places() (out []int) {
	for _, r := range l.clusters() {
		if r.Phase != "awaiting_capacity" {
			continue
		}
		for _, c := range l.GitHub.Comments(l.pullOf(r.ID)) {
			if strings.Contains(c.Body, "It is next in the queue.") {
				out = append(out, 1)
			}
			for place := range 10 {
				if strings.Contains(c.Body, fmt.Sprintf("It is number %d in the queue.", place)) {
					out = append(out, place)
				}
			}
		}
	}
	return out
}

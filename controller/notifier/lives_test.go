package notifier

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

func lives() int {
	if n, err := strconv.Atoi(os.Getenv("LIVES")); err == nil && n > 0 {
		return n
	}
	return 24
}

// Whatever is lost, done twice, refused or cut off: each place hears once of each thing that happened, and nobody of anything else.
func TestEachPlaceHearsOnceOfWhatHappened(t *testing.T) {
	for seed := range uint64(lives()) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.subscribe("CALL", "", "ready", "failed", "expiring", "blocked", "destroyed")
			w.subscribe("CSHOP", "shop", "ready", "expiring")
			w.live(pick(seed), 40)
			w.slack.before = func(string) error { return nil }
			w.slack.after = w.slack.before
			w.settle()
			w.inspect()
		})
	}
}

func (w *world) subscribe(channel, team string, events ...string) {
	w.t.Helper()
	require.NoError(w.t, w.Store.Notices.Subscribe(w.t.Context(), notices.Subscription{
		Workspace: "T1", Channel: channel, Team: team, Events: events, CreatedBy: "saml:maya",
	}, clusters.Origin{Actor: "saml:maya"}))
}

// live does things at random while Slack and the processes fail at random.
func (w *world) live(pick func(int) int, steps int) {
	w.slack.before = func(call string) error { return trouble(pick, call, true) }
	w.slack.after = func(call string) error { return trouble(pick, call, false) }
	for range steps {
		if len(w.rows) == 0 || pick(6) == 0 {
			var at *clusters.SlackPlace
			if pick(2) == 0 {
				at = &clusters.SlackPlace{Workspace: "T1", Channel: []string{"CHERE", "CALL"}[pick(2)], Person: "UMAYA"}
			}
			w.accept([]string{"shop", "payments"}[pick(2)], at, pick(5) == 0)
		}
		id := w.rows[pick(len(w.rows))]
		ctx := w.t.Context()
		switch pick(9) {
		case 0, 1:
			w.install(id, []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Succeeded, lifecycle.Failure}[pick(3)])
		case 2:
			w.pass(time.Duration(pick(90)) * time.Minute)
			for _, id := range w.rows {
				w.step(id)
			}
		case 3:
			_, err := w.Store.Extend(ctx, id, time.Hour, clusters.Origin{Actor: "saml:maya"})
			require.True(w.t, err == nil || errors.Is(err, db.ErrConflict), err)
			w.step(id)
		case 4:
			if pick(4) == 0 {
				_, err := w.Store.Destroy(ctx, id, clusters.Origin{Actor: "saml:maya"})
				require.NoError(w.t, err)
				w.step(id)
			}
		case 5:
			w.show(id)
		case 6:
			_, err := w.Store.WakeDue(ctx, 100)
			require.NoError(w.t, err)
		default:
			for _, j := range w.jobs() {
				switch pick(5) {
				case 0:
					w.forget(j) // lost
				case 1:
					if w.work(j) == nil {
						_ = w.work(j) // done twice
					}
				case 2, 3:
					_ = w.work(j)
				}
			}
			w.pass(time.Duration(pick(3)) * time.Second)
		}
	}
}

// trouble is what goes wrong around a call: before it, so that nothing was done, or after it, so that only the answer was lost.
func trouble(pick func(int) int, call string, before bool) error {
	switch pick(14) {
	case 0:
		panic(crash{})
	case 1:
		return errors.New("connection reset")
	case 2:
		if before {
			return slack.RateLimited{RetryAfter: time.Duration(1+pick(20)) * time.Second}
		}
	case 3:
		if before && call != "identity" {
			return slack.ErrChannel
		}
	}
	return nil
}

// inspect holds what is in Slack against what happened.
func (w *world) inspect() {
	w.t.Helper()
	var announced []string
	rows, err := w.Store.Pool().Query(w.t.Context(), `SELECT cause FROM announcements`)
	require.NoError(w.t, err)
	for rows.Next() {
		var cause string
		require.NoError(w.t, rows.Scan(&cause))
		announced = append(announced, cause)
	}
	require.NoError(w.t, rows.Err())
	require.ElementsMatch(w.t, w.did, announced, "what happened is announced, and nothing else")

	told := map[string]int{} // notices of each message
	heard := map[string]bool{}
	for _, n := range w.notices() {
		require.Contains(w.t, w.did, n.Cause, "nobody hears of what did not happen")
		heard[n.Cause+" "+n.Channel+n.Person] = true
		if n.GivenUp != "" {
			require.Zero(w.t, n.ExternalID, "%s was given up (%s) and stands in Slack", n.ID, n.GivenUp)
			require.False(w.t, slices.ContainsFunc(w.slack.messages, func(m *posted) bool { return m.marker == n.ID }), "%s was given up (%s) and stands in Slack", n.ID, n.GivenUp)
			continue
		}
		require.NotZero(w.t, n.ExternalID)
		require.Equal(w.t, n.Wanted, n.Shown)
		require.Equal(w.t, n.PostedIn, w.slack.at(n.ExternalID).at.Channel)
		told[fmt.Sprint(n.ExternalID)]++
	}
	markers := map[string]bool{}
	for _, m := range w.slack.messages {
		require.False(w.t, markers[m.marker], "%s stands twice in Slack", m.marker)
		markers[m.marker] = true
		if strings.HasPrefix(m.marker, "not_") {
			require.NotZero(w.t, told[fmt.Sprint(m.ts)], "a message that no notice knows")
		}
	}
	for _, cause := range w.did {
		if strings.HasPrefix(cause, "apr_") {
			require.True(w.t, heard[cause+" CADMIN"], cause)
			continue
		}
		require.True(w.t, heard[cause+" CALL"], "%s is not heard in the channel that subscribed", cause)
	}
}

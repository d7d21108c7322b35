package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// comment stores a comment of an installation without working it, and returns its job.
func (i *inboxFixture) comment(delivery string, installation int64, text string) *river.Job[queue.InboxArgs] {
	i.Helper()
	body := payload(i, "issue_comment", "created", pull(0, label), func(e *github.Event) {
		e.Comment = github.Comment{ID: 77, Author: "will", Body: text}
	})
	body = bytes.Replace(body, []byte(`"installation":{"id":5001`), fmt.Appendf(nil, `"installation":{"id":%d`, installation), 1)
	require.Contains(i, string(body), fmt.Sprintf(`"installation":{"id":%d`, installation))
	status, _ := i.post("/webhooks/github", body, signed("issue_comment", delivery, body))
	require.Equal(i, http.StatusAccepted, status)
	id := i.query(`SELECT id::text FROM deliveries WHERE delivery_id = '` + delivery + `'`)
	row, err := strconv.ParseInt(id[0], 10, 64)
	require.NoError(i, err)
	return &river.Job[queue.InboxArgs]{Args: queue.InboxArgs{Row: row}}
}

func (i *inboxFixture) exec(sql string) {
	i.Helper()
	_, err := i.store.Pool().Exec(i.Context(), sql)
	require.NoError(i, err)
}

func TestADeliveryThatFailsHoldsUpLaterOnesForHalfAMinuteAtMost(t *testing.T) {
	i := newInbox(t)
	first := i.comment("d1", github.Installation, "/ocp create")
	i.github.say(errors.New("GitHub is down"))
	require.ErrorContains(t, i.worker.Work(t.Context(), first), "GitHub is down")
	i.github.say(nil)
	second := i.arrive("d2", 41)
	var snooze *river.JobSnoozeError
	require.ErrorAs(t, i.worker.Work(t.Context(), second), &snooze, "the first one is tried again soon")
	require.LessOrEqual(t, snooze.Duration, holdsFor)
	i.exec(`UPDATE deliveries SET received_at = received_at - interval '31 seconds', try_at = now() + interval '1 hour' WHERE delivery_id = 'd1'`)
	require.NoError(t, i.worker.Work(t.Context(), second))
	require.Equal(t, []string{"d2"}, i.done())
	require.NoError(t, i.worker.Work(t.Context(), first), "it is tried beside the line")
	require.Equal(t, []string{"d2", "d1"}, i.done())
}

func TestADeliveryOfAnotherInstallationNeverHoldsUpAPullRequest(t *testing.T) {
	i := newInbox(t)
	foreign := i.comment("d1", 999, "/ocp create")
	i.github.say(errors.New("GitHub is down"))
	require.ErrorContains(t, i.worker.Work(t.Context(), foreign), "GitHub is down")
	i.github.say(nil)
	require.NoError(t, i.worker.Work(t.Context(), i.arrive("d2", 41)))
	require.Equal(t, []string{"d2"}, i.done())
}

// A storm leaves the workers to others: of a thousand jobs of one pull request one runs at once, and four a second later on.
func TestAStormOnOnePullRequestOccupiesOneWorker(t *testing.T) {
	i := newInbox(t)
	stormOf(t, i.store, 1000)
	_, err := i.store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: SourceGitHub, ID: "other", Event: "pull_request", Topic: "acme/shop#42", Body: []byte("{}"), Installation: 5001})
	require.NoError(t, err)
	require.Equal(t, []string{"2"}, i.query(`SELECT count(*)::text FROM river_job WHERE scheduled_at <= created_at`), "the first one, and the other pull request's")
	most := i.query(`SELECT max(n)::text FROM (SELECT count(*) AS n FROM river_job WHERE scheduled_at > created_at + interval '1 millisecond'
		AND scheduled_at - created_at < interval '29 seconds' GROUP BY date_trunc('second', scheduled_at - created_at)) AS each`)
	require.Equal(t, []string{"4"}, most)
}

func stormOf(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for k := range n {
		_, err := s.Inbox.SaveDelivery(t.Context(), inbox.Delivery{
			Source: SourceGitHub, ID: "storm-" + strconv.Itoa(k), Event: "pull_request", Topic: "acme/shop#41", Body: []byte("{}"), Installation: 5001,
		})
		require.NoError(t, err)
	}
}

func TestWhatFailsIsTriedAgainLaterEachTime(t *testing.T) {
	i := newInbox(t)
	i.arrive("d1", 41)
	var waits []time.Duration
	for range 8 {
		require.NoError(t, i.store.Inbox.RetryDelivery(t.Context(), 1, "GitHub is down", false, 0))
		var wait float64
		require.NoError(t, i.store.Pool().QueryRow(t.Context(), `SELECT extract(epoch FROM try_at - clock_timestamp())::float8 FROM deliveries`).Scan(&wait))
		waits = append(waits, time.Duration(wait*float64(time.Second)+float64(time.Second)/2).Truncate(time.Second))
	}
	require.Equal(t, []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9}, waits)
	require.Equal(t, []string{"try 8 failed and is repeated: GitHub is down"}, i.notes())
}

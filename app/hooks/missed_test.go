package hooks

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
)

// tries counts how often GitHub tried to deliver each event.
func (l *life) tries(event string) (n int) {
	for _, d := range l.github.Deliveries() {
		if d.Event == event {
			n++
		}
	}
	return n
}

// mark is how far the reading came; empty: it never came to an end.
func (l *life) mark() string {
	l.Helper()
	return strings.Join(l.query(`SELECT at::text FROM marks WHERE name = $1`, readMark), "")
}

func TestWebhooksThatNeverCameAreSentAgain(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.github.DropNext(1)
	l.label(number, "ocp/"+first)
	l.settle()
	require.Empty(t, l.clusters(number))
	require.NoError(t, l.missed.Read(t.Context()))
	l.settle()
	l.one(number, first)
	require.NotEmpty(t, l.mark())
	census, err := l.store.Census(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"came": 1, "awaited": 0, "given_up": 0}, census.Again)

	tries := l.tries("pull_request")
	require.NoError(t, l.missed.Read(t.Context()))
	require.Equal(t, tries, l.tries("pull_request"), "what came is not sent again")
}

func TestWhatWasAnsweredOrMeansNothingIsNotSentAgain(t *testing.T) {
	l := newLife(t)
	number := l.open()
	id, err := l.github.Comment(number, "/ocp help", github.Bot) // 202, and not stored
	require.NoError(t, err)
	l.github.DropNext(2)
	require.NoError(t, l.github.EditComment(id, "/ocp destroy", "will"))
	require.NoError(t, l.github.DeleteComment(id, "will"))
	l.arrive()
	tries := l.tries("issue_comment")
	require.NoError(t, l.missed.Read(t.Context()))
	l.arrive()
	require.Equal(t, tries, l.tries("issue_comment"))
	require.NotEmpty(t, l.mark())

	elsewhere := NewMissed(l.store, l.missed.github, []int64{7}, time.Minute, l.missed.log)
	require.True(t, l.missed.wouldBeStored(wire.HookDelivery{Event: "pull_request", Action: "closed", Installation: 5001}))
	require.False(t, elsewhere.wouldBeStored(wire.HookDelivery{Event: "pull_request", Action: "closed", Installation: 5001}))
	require.False(t, l.missed.wouldBeStored(wire.HookDelivery{Event: "star", Action: "created"}))
	require.False(t, l.missed.wouldBeStored(wire.HookDelivery{Event: "workflow_run", Action: "completed", Installation: 5001}), "each run is asked about")
	require.False(t, l.missed.wouldBeStored(wire.HookDelivery{Event: "workflow_job", Action: "completed", Installation: 5001}))
}

func TestADeliveryIsAskedForThreeTimesWithGrowingPauses(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.settle()
	l.github.SetWebhook("http://127.0.0.1:1/", testSecret) // nobody answers there
	l.label(number, "ocp/"+first)
	l.arrive()
	asked := func(after string) int {
		_, err := l.store.Pool().Exec(t.Context(), `UPDATE redeliveries SET asked_at = asked_at - $1::text::interval`, after)
		require.NoError(t, err)
		before := len(l.github.Deliveries())
		require.NoError(t, l.missed.Read(t.Context()))
		l.arrive()
		return len(l.github.Deliveries()) - before
	}
	for _, step := range []struct {
		after string
		want  int
	}{{"0s", 1}, {"1 minute", 0}, {"5 minutes", 1}, {"5 minutes", 0}, {"20 minutes", 1}, {"20 minutes", 0}, {"1 day", 0}} {
		require.Equal(t, step.want, asked(step.after), "after %s", step.after)
	}
	census, err := l.store.Census(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"came": 0, "awaited": 0, "given_up": 1}, census.Again)
}

func TestAReadingThatDidNotComeToItsEndIsReadAgain(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.github.DropNext(1)
	l.label(number, "ocp/"+first)
	l.arrive()
	l.github.FailNext(1, github.APIFault{Status: http.StatusBadGateway, Path: "/app/hook/deliveries"})
	require.Error(t, l.missed.Read(t.Context()))
	require.Empty(t, l.mark())
	for range len(pauses) + 1 { // GitHub took none of these requests, so none of them counts
		l.github.FailNext(1, github.APIFault{Status: http.StatusBadGateway, Method: http.MethodPost, Path: "/app/hook/deliveries/"})
		require.ErrorContains(t, l.missed.Read(t.Context()), "sent again")
		require.Empty(t, l.mark())
		_, err := l.store.Pool().Exec(t.Context(), `UPDATE redeliveries SET asked_at = asked_at - interval '1 hour'`)
		require.NoError(t, err)
	}
	require.NoError(t, l.missed.Read(t.Context()))
	require.NotEmpty(t, l.mark())
	l.settle()
	l.one(number, first)
}

func TestAReadingBeginsWhereTheLastOneEnded(t *testing.T) {
	l := newLife(t)
	now, err := l.store.Now(t.Context())
	require.NoError(t, err)
	for name, c := range map[string]struct{ mark, want time.Time }{
		"the first":        {time.Time{}, now.Add(-24 * time.Hour)},
		"soon after":       {now.Add(-5 * time.Minute), now.Add(-35 * time.Minute)},
		"after three days": {now.Add(-100 * time.Hour), now.Add(-72 * time.Hour)},
	} {
		require.NoError(t, l.store.Inbox.DropMark(t.Context(), readMark))
		if !c.mark.IsZero() {
			require.NoError(t, l.store.Inbox.SetMark(t.Context(), readMark, c.mark))
		}
		since, err := l.missed.beginOfReading(t.Context(), now)
		require.NoError(t, err)
		require.WithinDuration(t, c.want, since, time.Second, name)
	}
}

func TestNoPauseOutlastsWhatIsReadAgain(t *testing.T) {
	for _, pause := range pauses {
		require.LessOrEqual(t, pause, overlap, "a delivery that failed once more would be out of sight")
	}
}

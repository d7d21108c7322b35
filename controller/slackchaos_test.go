package controller_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Whatever fails in whatever order, in the end there is one message with the last state, and each batch stands in the thread once.
func TestWhateverFailsInSlackTheLastStateStandsThereOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		h, w, row := inChannel(t)
		random := rand.New(rand.NewPCG(seed, 15))
		_, open := h.install(row)
		seq, phases := 0, []lifecycle.Phase{lifecycle.Installing, lifecycle.Configuring}
		kinds := []string{clusters.KindSlackMessage, clusters.KindSlackThread}
		methods := []string{"chat.postMessage", "chat.postMessage", "chat.postMessage", "chat.update", "conversations.history", "conversations.replies"}
		for range 120 {
			switch random.IntN(10) {
			case 0, 1: // something happens to the cluster
				seq++
				_, err := h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Phase: phases[random.IntN(2)], Percent: min(seq, 99)})
				require.NoError(t, err)
				h.reconcile(row.ID)
			case 2, 3: // the next call of a method fails
				fault := []slackFault{{lose: true}, {lose: true}, {lose: true}, {retryAfter: 3}, {code: "internal_error"}, {code: "rate_limited"}}[random.IntN(6)]
				w.fail(methods[random.IntN(len(methods))], fault)
			case 4: // a person closes or opens the channel, or replaces the token
				w.set(func() {
					w.channels[slackChannel] = []string{"", "", "", "is_archived", "not_in_channel"}[random.IntN(5)]
					w.token = []string{slackToken, slackToken, slackToken, slackToken, "another"}[random.IntN(5)]
				})
			case 5:
				h.pass(time.Duration(random.IntN(900)) * time.Second)
			default: // a worker tries
				err := h.Work(h.ctx, h.publishArgs(row.ID, kinds[random.IntN(2)]), h.now())
				var snooze *river.JobSnoozeError
				if errors.As(err, &snooze) && random.IntN(2) == 0 {
					h.pass(snooze.Duration)
				}
			}
		}
		w.set(func() { w.channels[slackChannel], w.token, w.faults = "", slackToken, map[string][]slackFault{} })
		h.pass(2 * time.Hour)
		for _, kind := range kinds {
			h.showInSlack(row.ID, kind)
		}
		messages, threads := w.standing(false), w.standing(true)
		require.Len(t, messages, 1, "seed %d", seed)
		markers := map[string]bool{}
		for _, m := range threads {
			require.Equal(t, messages[0].ts, m.thread, "seed %d", seed)
			require.False(t, markers[m.marker], "seed %d: %s stands twice", seed, m.marker)
			markers[m.marker] = true
		}
		events, err := h.store.Timeline(h.ctx, row.ID)
		require.NoError(t, err)
		for _, kind := range kinds {
			require.Equal(t, h.cluster(row.ID).Version, h.place(row.ID, kind).ShownVersion, "seed %d", seed)
		}
		require.Equal(t, events[len(events)-1].At.UnixMicro(), h.place(row.ID, clusters.KindSlackThread).ToldTo, "seed %d", seed)
		require.Zero(t, w.storms, "seed %d", seed)
	}
}

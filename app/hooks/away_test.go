package hooks

import (
	"errors"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func (i *inboxFixture) only() clusters.Row {
	i.Helper()
	rows, _, err := i.store.List(i.Context(), store.Filter{})
	require.NoError(i, err)
	require.Len(i, rows, 1)
	return rows[0]
}

// heldUp is a pull request with a cluster, and with a comment that waits for GitHub, which is away.
func heldUp(t *testing.T) *inboxFixture {
	i := newInbox(t)
	require.NoError(t, i.receive("pull_request", "d0", payload(t, "pull_request", "labeled", pull(0, label))))
	i.github.say(errors.New("GitHub is down"))
	extend := github.Comment{ID: 77, Author: "will", Body: "/ocp extend 1h", CreatedAt: time.Now()}
	i.happen("d1", github.Event{Name: "issue_comment", Action: "created", Sender: "will", PR: pull(0, label), Comment: extend})
	return i
}

func TestADestroyEndsItsClusterBehindACommentThatWaitsForGitHub(t *testing.T) {
	i := heldUp(t)
	destroy := github.Comment{ID: 78, Author: "will", Body: "/ocp destroy", CreatedAt: time.Now().Add(time.Minute)}
	last := i.happen("d2", github.Event{Name: "issue_comment", Action: "created", Sender: "will", PR: pull(0, label), Comment: destroy})
	var snooze *rivertype.JobSnoozeError
	require.ErrorAs(t, i.worker.Work(t.Context(), last), &snooze, "both comments get their answers later")
	require.Equal(t, []string{"d0"}, i.done())
	require.Equal(t, lifecycle.Absent, i.only().Desired)

	i.github.say(nil)
	require.NoError(t, i.untilDone(t.Context(), last))
	require.Equal(t, []string{"d0", "d1", "d2"}, i.done())
	require.Contains(t, i.notes()[2], "already going")
}

func TestALabelThatIsTakenOffWaitsForNothingThatWaitsForGitHub(t *testing.T) {
	i := heldUp(t)
	last := i.happen("d2", github.Event{Name: "pull_request", Action: "unlabeled", Sender: "will", PR: pull(time.Minute), Label: label})
	require.NoError(t, i.worker.Work(t.Context(), last))
	require.Equal(t, []string{"d0", "d2"}, i.done())
	require.False(t, i.only().Ends.LabelRemoved.IsZero())
}

// What can only end clusters asks GitHub with the last of the limit; other decisions wait before that.
func TestWhatEndsClustersAsksGitHubWithTheLastOfTheLimit(t *testing.T) {
	l := newLife(t)
	number, other := l.open(), l.open()
	l.label(number, label)
	l.settle()
	l.github.SetLimits(github.DocumentedLimits())
	l.github.Spend(200, 30*time.Minute)

	require.NoError(t, l.github.Label(other, label, "maya"))
	l.arrive()
	var snoozed *rivertype.JobSnoozeError
	require.ErrorAs(t, l.work(l.undone()[0]), &snoozed, "of 5,000 calls 200 are left")
	require.Greater(t, snoozed.Duration, 25*time.Minute)
	_, err := l.github.Comment(number, "/ocp destroy", "maya")
	require.NoError(t, err)
	l.arrive()
	require.NoError(t, l.work(l.undone()[1]))
	require.Equal(t, lifecycle.Absent, l.clusters(number)[0].Desired)
	require.NotContains(t, l.clusters(number)[0].DesiredWhy.String(), "gave no answer")
	require.Empty(t, l.clusters(other))
}

// What piled up while GitHub was away is worked by the newest state: what was asked for and taken back meanwhile never begins.
func TestABacklogIsWorkedByTheNewestState(t *testing.T) {
	l := newLife(t)
	there, taken := l.open(), l.open()
	l.label(there, label)
	l.settle()
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1})
	require.NoError(t, err)
	l.worker = l.workerOn(t, client)
	l.github.FailNext(100_000, github.APIFault{Status: 502, Message: "Server Error"})
	l.label(taken, label)
	l.tick(time.Second)
	l.unlabel(taken, label)
	l.tick(time.Second)
	l.label(there, "ocp/"+second)
	l.tick(time.Second)
	require.NoError(t, l.github.Close(there, "will"))
	l.arrive()
	var snoozed *rivertype.JobSnoozeError
	for _, row := range append(l.undone(), l.undone()...) {
		if errors.As(l.work(row), &snoozed) {
			require.LessOrEqual(t, snoozed.Duration, 20*time.Second, "it is tried within a minute of GitHub's return")
		}
	}
	require.NotNil(t, snoozed)
	require.False(t, l.one(there, first).Ends.PRClosed.IsZero(), "the close did not wait")

	l.github.Recover()
	require.Eventually(t, func() bool {
		for _, row := range l.undone() {
			_ = l.work(row)
		}
		return len(l.undone()) == 0
	}, 60*time.Second, 50*time.Millisecond)
	require.Empty(t, l.clusters(taken))
	require.Len(t, l.clusters(there), 1, "no cluster began for a pull request that is closed")
}

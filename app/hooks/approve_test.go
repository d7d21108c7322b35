package hooks

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// pendingHead is the commit that the pull request's cluster waits for approval of; empty: it waits for none.
func (l *life) pendingHead() string {
	l.Helper()
	waiting, _, err := l.store.Approvals(l.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(l, err)
	if len(waiting) == 0 {
		return ""
	}
	require.Len(l, waiting, 1)
	return waiting[0].Head
}

// The author of a fork pushes just after a maintainer wrote "/ocp approve". Whichever webhook arrives first, the push is not
// approved.
func TestAPushBesideAnApprovalIsNotApproved(t *testing.T) {
	for _, between := range []time.Duration{0, time.Second, 4 * time.Second} {
		for _, pushFirst := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s apart, push first %t", between, pushFirst), func(t *testing.T) {
				l := newLife(t)
				number, err := l.github.OpenFork("From a fork", "zoe")
				require.NoError(t, err)
				l.tick(time.Second)
				l.label(number, "ocp/"+first)
				l.settle()
				looked := l.at(number).HeadSHA
				require.Equal(t, looked, l.pendingHead())

				l.tick(time.Minute)
				if pushFirst {
					l.github.HoldNext(1)
				}
				l.say(number, "/ocp approve")
				l.tick(between)
				require.NoError(t, l.github.Push(number, "zoe"))
				l.arrive()
				for _, row := range l.undone() {
					require.NoError(t, l.work(row))
				}
				l.settle()
				pushed := l.at(number).HeadSHA
				require.NotEqual(t, looked, pushed)
				require.Equal(t, pushed, l.pendingHead())
				require.True(t, l.one(number, first).NeedsApproval)
				said := l.query(`SELECT body FROM replies ORDER BY id DESC LIMIT 1`)[0]
				require.Contains(t, said, "then type `/ocp approve "+pushed+"`")

				l.say(number, "/ocp approve "+pushed)
				l.settle()
				require.Empty(t, l.pendingHead())
				require.False(t, l.one(number, first).NeedsApproval)
			})
		}
	}
}

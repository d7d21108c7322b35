package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
)

type homeAnswer struct{ err error }

func (a homeAnswer) ShowHome(context.Context, string, string) error { return a.err }

func TestAHomeThatSlackRefusesIsNotTriedAgain(t *testing.T) {
	work := func(err error) error {
		w := &HomeWorker{inSlack: homeAnswer{err}, log: slog.New(slog.DiscardHandler)}
		return w.Work(t.Context(), &river.Job[queue.HomeArgs]{Args: queue.HomeArgs{Workspace: "T1", Person: "U1"}})
	}
	require.NoError(t, work(nil))
	require.NoError(t, work(fmt.Errorf("show: %w", slack.ErrRefused)), "until a person changes something")
	require.NoError(t, work(fmt.Errorf("show: %w", slack.ErrNever)))
	lost := errors.New("connection reset")
	require.ErrorIs(t, work(lost), lost)
	var snooze *river.JobSnoozeError
	require.ErrorAs(t, work(fmt.Errorf("show: %w", slack.RateLimited{RetryAfter: 7 * time.Second})), &snooze)
	require.Equal(t, 7*time.Second, snooze.Duration)
}

func TestHomesAreLookedForWithoutAnyOpened(t *testing.T) {
	h := newInbox(t)
	require.NoError(t, NewHomes(h.store).Work(t.Context(), nil))
	require.NotNil(t, NewHomes(h.store).Periodic())
}

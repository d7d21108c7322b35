package web

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneQueryLooksForAllEndedSessions(t *testing.T) {
	var asked [][]string
	o := openSessions{every: time.Hour, find: func(_ context.Context, ids []string) ([]string, error) {
		slices.Sort(ids)
		asked = append(asked, ids)
		return []string{"b"}, nil
	}}
	leave := []func(){o.addPage("a"), o.addPage("b"), o.addPage("b")}
	for id, want := range map[string]bool{"a": false, "b": true} {
		ended, err := o.hasEnded(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, ended)
	}
	require.Equal(t, [][]string{{"a", "b"}}, asked)
	for _, l := range leave {
		l()
	}
	require.Empty(t, o.open)
}

func TestAPageThatIsClosedDoesNotEndTheQueryForAll(t *testing.T) {
	o := openSessions{every: time.Hour, find: func(ctx context.Context, _ []string) ([]string, error) {
		_, limited := ctx.Deadline()
		require.True(t, limited)
		return []string{"b"}, ctx.Err()
	}}
	o.addPage("b")
	closed, closePage := context.WithCancel(t.Context())
	closePage()
	ended, err := o.hasEnded(closed, "b")
	require.NoError(t, err)
	require.True(t, ended)
}

func TestNoOpenPageWaitsForAnothersQuery(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan error)
	o := openSessions{every: time.Hour, find: func(context.Context, []string) ([]string, error) {
		asked <- struct{}{}
		return nil, <-answer
	}}
	o.addPage("a")
	failed := make(chan error)
	go func() {
		_, err := o.hasEnded(t.Context(), "a")
		failed <- err
	}()
	<-asked
	for _, during := range []bool{true, false} {
		o.addPage("b")()
		ended, err := o.hasEnded(t.Context(), "b")
		require.NoError(t, err)
		require.False(t, ended)
		if during {
			answer <- errors.New("the database is away")
			require.ErrorContains(t, <-failed, "away")
		}
	}
}

package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/stretchr/testify/require"
)

func TestOneAtATimeRunsUnderAKey(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	odd := errors.New("odd")
	ran, err := s.Alone(t.Context(), "acme/shop#41", func(ctx context.Context) error {
		inner, err := s.Alone(ctx, "acme/shop#41", func(context.Context) error { panic("beside another") })
		require.NoError(t, err)
		require.False(t, inner)
		other, err := s.Alone(ctx, "acme/shop#42", func(context.Context) error { return nil })
		require.NoError(t, err)
		require.True(t, other, "another key is another matter")
		beside, err := s.Alone(t.Context(), "acme/shop#41", func(context.Context) error { panic("beside another") })
		require.NoError(t, err)
		require.False(t, beside)
		require.EqualValues(t, 1, s.Pool().Stat().AcquiredConns(), "one connection, however deep")
		return odd
	})
	require.True(t, ran)
	require.ErrorIs(t, err, odd)
	ran, err = s.Alone(t.Context(), "acme/shop#41", func(context.Context) error { return nil })
	require.NoError(t, err)
	require.True(t, ran, "the key is free again after an error")
}

func TestAWorkerThatIsStoppedGivesItsKeyBack(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	ran, err := s.Alone(ctx, "acme/shop#41", func(ctx context.Context) error {
		cancel()
		return ctx.Err()
	})
	require.True(t, ran)
	require.ErrorIs(t, err, context.Canceled)
	ran, err = s.Alone(t.Context(), "acme/shop#41", func(context.Context) error { return nil })
	require.NoError(t, err)
	require.True(t, ran)
}

func TestUndoneAreTheUnworkedOnesOfATopicInOrder(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var ids []int64
	for _, d := range []struct{ id, topic string }{{"d-1", "acme/shop#41"}, {"d-2", "acme/shop#42"}, {"d-3", "acme/shop#41"}, {"d-4", "acme/shop#41"}} {
		one := storetest.Delivery(d.id)
		one.Topic = d.topic
		_, err := s.Inbox.SaveDelivery(t.Context(), one)
		require.NoError(t, err)
		ids = append(ids, int64(storetest.Count(t, s, `SELECT id FROM deliveries WHERE delivery_id = $1`, d.id)))
	}
	undone, err := s.Inbox.Undone(t.Context(), "acme/shop#41", 0)
	require.NoError(t, err)
	require.Equal(t, []int64{ids[0], ids[2], ids[3]}, storetest.RowsOf(undone))
	require.NoError(t, s.Inbox.FinishDelivery(t.Context(), ids[0], "done"))
	undone, err = s.Inbox.Undone(t.Context(), "acme/shop#41", 0)
	require.NoError(t, err)
	require.Equal(t, []int64{ids[2], ids[3]}, storetest.RowsOf(undone))
}

package limit

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func TestABucketGivesItsTokensAndWaitsForMore(t *testing.T) {
	c := newClock()
	b := NewBuckets(2, 3, 10, c.now)
	for range 3 {
		require.Zero(t, b.Take("a"))
	}
	require.Equal(t, 500*time.Millisecond, b.Take("a"))
	require.Equal(t, 500*time.Millisecond, b.Wait("a"), "who was refused used nothing up")
	require.Zero(t, b.Take("b"), "another key has its own")
	c.pass(500 * time.Millisecond)
	require.Zero(t, b.Wait("a"))
	require.Zero(t, b.Take("a"))
	require.NotZero(t, b.Take("a"))
	c.pass(time.Hour)
	for range 3 {
		require.Zero(t, b.Take("a"), "it never holds more than its burst")
	}
	require.NotZero(t, b.Take("a"))
}

func TestAChargeGoesIntoDebtOnceAndNoFurther(t *testing.T) {
	c := newClock()
	b := NewBuckets(1, 10, 10, c.now)
	require.Zero(t, b.Wait("a"))
	for range 1000 {
		b.Charge("a", 10)
	}
	require.Equal(t, time.Second, b.Wait("a"))
	c.pass(time.Second)
	b.Charge("a", 10)
	b.Charge("a", 10)
	require.Equal(t, 10*time.Second, b.Wait("a"))
	c.pass(10 * time.Second)
	require.Zero(t, b.Wait("a"))
	require.Zero(t, b.Wait("b"))
}

func TestTheBucketsAreBounded(t *testing.T) {
	c := newClock()
	b := NewBuckets(1, 1, 100, c.now)
	for i := range 110 {
		b.Charge(strconv.Itoa(i), 1)
		require.Zero(t, b.Wait("asked about and never charged "+strconv.Itoa(i)))
	}
	require.Len(t, b.known, 100)
	require.Equal(t, 100, b.recent.Len())
	require.NotZero(t, b.Wait("109"))
	require.Zero(t, b.Wait("0"), "the one used longest ago was forgotten")
}

func TestSlotsAreBoundedForEachKeyAndAltogether(t *testing.T) {
	s := NewSlots(3, 2)
	var free []func()
	take := func(key string) bool {
		one, ok := s.Try(key)
		if ok {
			free = append(free, one)
		}
		return ok
	}
	require.True(t, take("a"))
	require.True(t, take("a"))
	require.False(t, take("a"), "its share is used up")
	require.True(t, take("b"))
	require.False(t, take("b"), "there are no more altogether")
	require.False(t, take("c"))
	for _, one := range free {
		one()
	}
	require.Empty(t, s.of, "a key that holds nothing is forgotten")
	require.True(t, take("c"))
}

func TestWhoWaitsForTheirOwnSlotKeepsNobodyElseWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(2, 1)
		first, err := s.Take(t.Context(), "a")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Take(ctx, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		second, err := s.Take(t.Context(), "b")
		require.NoError(t, err)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Take(ctx, "c")
		require.ErrorIs(t, err, context.DeadlineExceeded, "there are no more altogether")
		go func() { time.Sleep(time.Second); first() }()
		third, err := s.Take(t.Context(), "a")
		require.NoError(t, err)
		second()
		third()
		require.Empty(t, s.of)
		require.Empty(t, s.all)
	})
}

func TestManyTakeAndFreeSlots(t *testing.T) {
	s := NewSlots(4, 2)
	var all, most atomic.Int64
	var workers sync.WaitGroup
	for i := range 50 {
		workers.Go(func() {
			free, err := s.Take(t.Context(), strconv.Itoa(i%5))
			if err != nil {
				return
			}
			for now := all.Add(1); ; {
				before := most.Load()
				if now <= before || most.CompareAndSwap(before, now) {
					break
				}
			}
			all.Add(-1)
			free()
		})
	}
	workers.Wait()
	require.LessOrEqual(t, most.Load(), int64(4))
	require.Empty(t, s.of)
	require.Empty(t, s.all)
}

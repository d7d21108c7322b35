package price_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/price"
)

func TestARateIsTheListPriceByMachineRoundedHalfUp(t *testing.T) {
	for _, c := range []struct {
		name                          string
		list, machines, base, workers int
		want                          int
	}{
		{"as accepted", 149, 6, 3, 3, 149},
		{"scaled up", 149, 6, 3, 6, 224},  // 223.5
		{"scaled down", 149, 6, 3, 0, 75}, // 74.5
		{"one more", 70, 6, 3, 4, 82},     // 81.67
		{"machines not counted", 149, 0, 0, 9, 149},
		{"fewer than none", 149, 3, 5, 0, 0},
	} {
		require.Equal(t, c.want, price.Hourly(c.list, c.machines, c.base, c.workers), c.name)
	}
}

func TestAWorkerCostsWhatThePriceListSaysOfOne(t *testing.T) {
	for workers, want := range map[int]int{0: 86, 1: 107, 3: 148, 6: 210} {
		require.Equal(t, want, price.WithWorkers(148, 205_151, 3, workers), workers)
	}
	require.Equal(t, 75, price.WithWorkers(75, 205_151, 0, 0))
	require.Zero(t, price.WithWorkers(10, 205_151, 3, 0), "a price is never negative")
}

func TestAnAmountIsRoundedOnceHalfUp(t *testing.T) {
	require.EqualValues(t, 1800, price.For(75, 24*time.Hour))
	require.EqualValues(t, 3, price.For(75, 2*time.Minute), "2.5 cents")
	require.EqualValues(t, 1, price.For(75, time.Minute), "1.25 cents")
	require.EqualValues(t, 0, price.For(75, -time.Hour))
	require.Equal(t, []string{"$0.05", "$1,234,567.05", "-$0.50"}, []string{price.Dollars(5), price.Dollars(123456705), price.Dollars(-50)})
}

// Whatever a cluster's rates were, and whenever they changed: what it cost and what sleeping saved is what it would have cost awake, exactly,
// and to the cent when it is shown.
func TestSpentAndSavedAreWhatItWouldHaveCostAwake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m, awake price.Meter
		at := time.UnixMicro(rapid.Int64Range(1.6e15, 2e15).Draw(t, "start"))
		for range rapid.IntRange(1, 12).Draw(t, "samples") {
			m.Ran, m.Less, awake.Ran = m.Ran+price.Between(m.Rate, m.Since, at), m.Less+price.Between(m.LessNow, m.Since, at), awake.Ran+price.Between(awake.Rate, awake.Since, at)
			full := rapid.IntRange(0, 100_000).Draw(t, "awake")
			m.Rate = rapid.IntRange(0, full).Draw(t, "rate")
			m.LessNow, awake.Rate, m.Since, awake.Since = full-m.Rate, full, at, at
			at = at.Add(time.Duration(rapid.Int64Range(0, 4e14).Draw(t, "for")))
		}
		require.Equal(t, awake.Ran+price.Between(awake.Rate, awake.Since, at), m.Ran+m.Less+price.Between(m.Rate, m.Since, at)+price.Between(m.LessNow, m.Since, at))
		require.InDelta(t, awake.Spent(at), m.Spent(at)+m.Saved(at), 1)
	})
}

// However often a cluster's life is looked at or cut into pieces, the amounts are those of exact arithmetic.
func TestAmountsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, next := rapid.IntRange(0, 100_000).Draw(t, "rate"), rapid.IntRange(0, 100_000).Draw(t, "rate to come")
		start := time.UnixMicro(rapid.Int64Range(1.6e15, 2e15).Draw(t, "start"))
		at := start.Add(time.Duration(rapid.Int64Range(0, 4e15).Draw(t, "ran")))
		end := at.Add(time.Duration(rapid.Int64Range(0, 4e15).Draw(t, "left")))
		cut := start.Add(time.Duration(rapid.Int64Range(0, int64(at.Sub(start))).Draw(t, "cut")))

		whole := price.Meter{Since: start, Rate: rate, ToCome: next}
		pieces := price.Meter{Ran: price.Between(rate, start, cut), Since: cut, Rate: rate, ToCome: next}
		exact := new(big.Rat).SetFrac64(int64(rate)*(at.UnixMilli()-start.UnixMilli()), price.PerHour)
		require.Equal(t, halfUp(exact), whole.Spent(at))
		require.Equal(t, whole.Spent(at), pieces.Spent(at))
		require.Equal(t, whole.Total(at, end), pieces.Total(at, end))
		require.LessOrEqual(t, whole.Total(at, end)-whole.Spent(at)-whole.Left(at, end), int64(1))
		require.GreaterOrEqual(t, whole.Total(at, end)-whole.Spent(at)-whole.Left(at, end), int64(-1))
		if rate == next {
			require.Equal(t, whole.Total(start, end), whole.Total(at, end), "what it costs to its end does not depend on when one asks")
		}
	})
}

func halfUp(r *big.Rat) int64 {
	r = new(big.Rat).Add(r, big.NewRat(1, 2))
	return new(big.Int).Div(r.Num(), r.Denom()).Int64()
}

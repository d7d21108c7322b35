package costs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDaysAreAddedUpByTeamBesideTheMonthBefore(t *testing.T) {
	o := newOffice(t, map[string]string{"shop": "budget: {monthlyDollars: 1000}"})
	o.now = time.Date(2026, 10, 20, 22, 0, 0, 0, time.UTC)
	o.cluster("old", "shop", 4)
	o.now = time.Date(2026, 11, 18, 23, 0, 0, 0, time.UTC)
	o.cluster("new", "shop", 3)
	o.cluster("other", "cart", 1)
	o.now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // nobody destroyed them: each costs a dollar an hour until now
	d, err := o.Days(t.Context(), auditor, "team", time.Time{})
	require.NoError(t, err)
	require.Len(t, d.Days, 30)
	require.Equal(t, []any{"shop", int64(46800 + 3700), "cart", int64(3700)}, []any{d.Groups[0].Key, d.Groups[0].Cents, d.Groups[1].Key, d.Groups[1].Cents})
	require.Equal(t, []int64{2500, 4800, 2400, 0}, d.Groups[0].CentsByDay[17:21])
	require.Equal(t, []int64{54200, 26600, 26600}, []int64{d.Spent, d.BeforeAll, d.Days[29].BeforeTo})
	require.Equal(t, []int64{200, 200}, []int64{d.Days[19].BeforeTo, d.Before}, "until the same day")
	require.Equal(t, int64(100_000), d.Budget)
	require.True(t, d.Days[20].ToCome)

	mine, err := o.Days(t.Context(), shopper, "profile", time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	require.Equal(t, []any{1, int64(26600), int64(0), int64(0)}, []any{len(mine.Groups), mine.Spent, mine.BeforeAll, mine.Budget})
	_, err = o.Days(t.Context(), auditor, "team", time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	require.Error(t, err, "it has not begun")
}

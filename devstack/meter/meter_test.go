package meter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/internal/price/list"
)

func TestWhatIsUsedTwiceIsOneLine(t *testing.T) {
	t.Parallel()
	var m meter.Meter
	m.Add(meter.Used{Cluster: "clu_1", Kind: "volume", Detail: "gp3 120", For: time.Hour})
	m.Add(meter.Used{Kind: "address", For: time.Minute})
	m.Add(meter.Used{Cluster: "clu_1", Kind: "volume", Detail: "gp3 120", For: 2 * time.Hour})
	still := []meter.Used{{Kind: "address", For: time.Minute}, {Kind: "address", Region: "us-east-1", For: time.Second}}
	require.Equal(t, []meter.Used{
		{Kind: "address", For: 2 * time.Minute},
		{Kind: "address", Region: "us-east-1", For: time.Second},
		{Cluster: "clu_1", Kind: "volume", Detail: "gp3 120", For: 3 * time.Hour},
	}, m.With(still))
	require.Len(t, m.Sums, 2, "what is still used is not counted for good")
	require.Equal(t, time.Minute, m.Sums[0].For)
}

func TestTimeThatElapsesForTheMeterIsUsed(t *testing.T) {
	t.Parallel()
	var m meter.Meter
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	m.Elapse(time.Hour)
	start := m.Clock(now)
	m.Elapse(2 * time.Hour)
	lines := append(meter.One("instance", "m6i.xlarge"), meter.Used{Kind: "address", For: 3})
	require.Equal(t, []meter.Used{
		{Cluster: "clu_1", Kind: "instance", Detail: "m6i.xlarge", Region: "us-east-1", For: 3 * time.Hour},
		{Cluster: "clu_1", Kind: "address", Region: "us-east-1", For: 9 * time.Hour},
	}, m.Since(start, now.Add(time.Hour), lines, "clu_1", "us-east-1"))
	require.Zero(t, m.Since(start, now.Add(-9*time.Hour), meter.One("address", ""), "", "")[0].For, "nothing is used for less than no time")
}

func TestWhatWasUsedCostsWhatThePriceListSays(t *testing.T) {
	t.Parallel()
	prices := list.List{Cloud: "aws", Regions: map[string]list.Region{"us-east-1": {Address: 5_000}}}
	cents, known := meter.Used{Kind: "address", Region: "us-east-1", For: 90 * time.Minute}.Cents(prices)
	require.True(t, known)
	require.InDelta(t, 0.75, cents, 1e-9)
	_, known = meter.Used{Kind: "nat-gateway", Region: "us-east-1", For: time.Hour}.Cents(prices)
	require.False(t, known)
}

package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAHoldPostponesEveryEndButADrainAndTheMaximum(t *testing.T) {
	at := func(hours int) time.Time { return time.Date(2025, 1, 15, hours, 0, 0, 0, time.UTC) }
	ends := listEnds(lifecycle.Ends{
		TTL: at(1), Drain: at(2), Hold: at(3), Max: at(4), DrainWhy: lifecycle.Reason{Code: lifecycle.ReasonDrain, By: "Will", Words: "an outage"},
	})
	require.Equal(t, []End{
		{Kind: "drain", At: at(2), Message: "Will is draining the clusters: an outage"},
		{Kind: "hold", At: at(3), Message: "a hold: only the profile's maximum or a drain can end it earlier"},
		{Kind: "ttl", At: at(1), Message: "its time to live is over; the hold postpones it to 2025-01-15 03:00:00 UTC"},
		{Kind: "maximum", At: at(4), Message: "the profile's maximum: nothing extends it past this"},
	}, ends)
}

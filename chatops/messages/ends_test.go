package messages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAnEndToComeIsNotToldAsPast(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ends := lifecycle.Ends{TTL: now.Add(9 * time.Hour), Max: now.Add(72 * time.Hour), Idle: now.Add(2 * time.Hour)}
	require.Equal(t, "nobody uses it", WhyItEnds(ends))
	ends.Hold = now.Add(3 * time.Hour)
	require.Equal(t, "nobody uses it, postponed by a hold", WhyItEnds(ends))
	require.Equal(t, "the end of its time to live", WhyItEnds(lifecycle.Ends{TTL: ends.TTL, Max: ends.Max}))
}

func TestWhoIsToBeAskedAboutAnOrphanIsKnownOrHasToBeFound(t *testing.T) {
	require.Equal(t, "Ask the owner. ocpctl never removes it.", OrphanNext(lifecycle.ClassOwned, lifecycle.OrphanReported, true))
	require.Equal(t, "Find out whose it is, from its mark and its tags. ocpctl never removes it.", OrphanNext(lifecycle.ClassOwned, lifecycle.OrphanReported, false))
}

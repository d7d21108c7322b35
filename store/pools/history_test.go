package pools_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAPoolsHistoryHasWhatTookAClusterAndWhatWouldHave(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	waits := pooled(t, s, clock, "ready-1")
	since := clock.Now()
	of := pools.Kind{Pool: "ready", Profile: waits.Profile, Region: waits.Region, Version: waits.Release}
	h, err := s.Pools.History(t.Context(), of, since.Add(-24*time.Hour))
	require.NoError(t, err)
	require.Empty(t, h.Needs, "the pool's own request is nobody's need")
	require.Equal(t, 40*time.Minute, h.Install.Round(time.Minute))
	require.Nil(t, h.Wake)

	ask, g := request(41)
	require.Equal(t, waits.ID, judge(t, s, ask, g).Row.ID)
	for number, said := range map[int]string{42: `{}`, 43: `{"pool":"ready"}`, 44: `{"name":"mine"}`, 45: `{"pool":"none"}`, 46: `{"pool":"other"}`} {
		ask, g = request(number)
		g.Pools, ask.Request = nil, []byte(said)
		judge(t, s, ask, g)
	}
	ask, g = request(47)
	g.Pools, g.Row.Region = nil, "us-east-2"
	judge(t, s, ask, g)
	h, err = s.Pools.History(t.Context(), of, since)
	require.NoError(t, err)
	require.Equal(t, []pools.Need{
		{At: clock.Now().UTC(), Team: "acme/platform", Claimed: true}, {At: clock.Now().UTC(), Team: "acme/platform"}, {At: clock.Now().UTC(), Team: "acme/platform"},
	}, utc(h.Needs))
	h, err = s.Pools.History(t.Context(), of, clock.Now().Add(time.Second))
	require.NoError(t, err)
	require.Empty(t, h.Needs)
	require.Equal(t, waits.AcceptedAt.UTC(), h.Since.UTC(), "however far back one looks")
	of.Pool = "none"
	h, err = s.Pools.History(t.Context(), of, since)
	require.NoError(t, err)
	require.Nil(t, h.Since)
}

func utc(needs []pools.Need) []pools.Need {
	for i := range needs {
		needs[i].At = needs[i].At.UTC()
	}
	return needs
}

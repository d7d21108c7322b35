package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestSinceWhenNobodyUsesAClusterReachesPrograms(t *testing.T) {
	ready := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	var row clusters.Row
	row.Status, row.Desired, row.ReadyAt = lifecycle.Ready, lifecycle.Present, ready
	said := func() map[string]any {
		raw, err := json.Marshal(toCluster(row, profiles.UnlinkedName))
		require.NoError(t, err)
		var c struct{ Idle map[string]any }
		require.NoError(t, json.Unmarshal(raw, &c))
		return c.Idle
	}
	require.Nil(t, said(), "nothing follows from that")
	row.Idle = lifecycle.Idle{TellAfter: time.Hour, EndAfter: 6 * time.Hour}
	row.Ends.Idle = ready.Add(7 * time.Hour)
	row.ActiveAt, row.ActiveWhat = ready.Add(time.Hour), lifecycle.ActivityAccess
	require.Equal(t, map[string]any{
		"since": "2026-11-20T09:00:00Z", "lastUse": "somebody asked for access to it", "tellAt": "2026-11-20T10:00:00Z", "endAt": "2026-11-20T15:00:00Z",
	}, said())
	row.Work = map[lifecycle.Kind]lifecycle.Work{lifecycle.Observe: {Failures: 1}}
	require.Equal(t, true, said()["unobserved"])
}

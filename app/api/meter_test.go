package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// What the API says of a cluster's price is the whole meter, to the microsecond that the database keeps.
func TestTheMeterReachesProgramsWhole(t *testing.T) {
	var row clusters.Row
	row.HourlyCents = 224
	row.Meter = price.Meter{Ran: 1_234_567_890_123, Since: time.Date(2026, 11, 2, 9, 0, 0, 123_456_000, time.UTC), Rate: 224, ToCome: 75}
	raw, err := json.Marshal(toCluster(row, profiles.UnlinkedName))
	require.NoError(t, err)
	var said struct {
		HourlyCents int
		Meter       struct {
			Ran                    int64
			Since                  time.Time
			RateCents, ToComeCents int
		}
	}
	require.NoError(t, json.Unmarshal(raw, &said))
	m := price.Meter{Ran: price.Amount(said.Meter.Ran), Since: said.Meter.Since, Rate: said.Meter.RateCents, ToCome: said.Meter.ToComeCents}
	require.Equal(t, row.Meter, m)
	require.Equal(t, 224, said.HourlyCents)
}

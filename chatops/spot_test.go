package chatops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestTheCommentSaysWhatSpotMachinesSave(t *testing.T) {
	require.Equal(t, "about $1.13 an hour by list price, $0.35 less than without spot machines", hourly(lifecycle.Card{HourlyCents: 113, SpotSaves: 35}))
	require.Equal(t, "about $1.48 an hour by list price", hourly(lifecycle.Card{HourlyCents: 148}))
}

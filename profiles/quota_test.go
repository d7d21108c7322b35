package profiles

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAQuotaHoldsWhomItMatches(t *testing.T) {
	require.True(t, Quota{Scope: ScopeTeam}.Holds("shop"))
	require.True(t, Quota{Scope: ScopeEverywhere}.Holds(""))
	shop := Quota{Scope: ScopeRepository, Match: []string{"acme/*"}}
	require.True(t, shop.Holds("acme/shop"))
	require.False(t, shop.Holds("other/shop"))
	require.False(t, shop.Holds(""))
}

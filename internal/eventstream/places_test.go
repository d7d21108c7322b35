package eventstream

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnePrincipalHasSoManyStreamsAndOthersTheirOwn(t *testing.T) {
	var p Places
	var leave []func()
	for range MostOfOne {
		one, found := p.Take("maya")
		require.True(t, found)
		leave = append(leave, one)
	}
	_, found := p.Take("maya")
	require.False(t, found)
	other, found := p.Take("will")
	require.True(t, found)
	other()
	leave[0]()
	again, found := p.Take("maya")
	require.True(t, found)
	again()
	for _, one := range leave[1:] {
		one()
	}
	require.Empty(t, p.taken, "who left is forgotten")
}

func TestAProcessHasSoManyStreams(t *testing.T) {
	var p Places
	for i := range MostOfAll {
		_, found := p.Take(fmt.Sprint(i))
		require.True(t, found)
	}
	_, found := p.Take("maya")
	require.False(t, found)
}

package pick

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatMatchesIsPicked(t *testing.T) {
	one, two, three := new(1), new(2), new(3)
	all := []*int{one, two, three}
	require.Same(t, two, First(all, func(n *int) bool { return *n > 1 }))
	require.Nil(t, First(all, func(n *int) bool { return *n > 3 }))
	require.Equal(t, []*int{two, three}, Every(all, func(n *int) bool { return *n > 1 }))
	require.Nil(t, Every(all, func(n *int) bool { return *n > 3 }))
}

package guard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// room is where bodies of a test arrive.
type room struct {
	bodies
	displaced []*arriving
}

func (r *room) begin(from string) (one *arriving) {
	one = r.bodies.addBody(from, func() { r.displaced = append(r.displaced, one) })
	return one
}

func TestTheOldestBodyOfTheSameSourceMakesRoom(t *testing.T) {
	var r room
	other := r.begin("other")
	var ours []*arriving
	for range SmallOfSource {
		ours = append(ours, r.begin("a"))
	}
	require.Empty(t, r.displaced)
	last := r.begin("a")
	require.Equal(t, ours[:1], r.displaced, "not the oldest of all")
	require.True(t, r.removeBody(ours[0]))
	require.False(t, r.removeBody(ours[1]))
	r.begin("a")
	require.Len(t, r.displaced, 1, "a place that was given back is free")
	require.False(t, r.removeBody(last))
	require.False(t, r.removeBody(other))
}

func TestTheOldestBodyOfAllMakesRoomWhereNoSourceHasTooMany(t *testing.T) {
	var r room
	var all []*arriving
	for i := range SmallAtOnce + 2 {
		all = append(all, r.begin(fmt.Sprint(i)))
	}
	require.Equal(t, all[:2], r.displaced)
	for _, one := range all {
		require.Equal(t, slices.Contains(r.displaced, one), r.removeBody(one))
	}
	require.Empty(t, r.all)
}

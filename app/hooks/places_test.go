package hooks

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// seat takes a place and remembers who was displaced.
func seat(t *testing.T, p *places, key, name string, gone *[]string, each int) *taken {
	t.Helper()
	one, ok := p.take(key, each, func() { *gone = append(*gone, name) })
	require.True(t, ok)
	return one
}

func TestTheOldestOfTheSameKeyIsReplaced(t *testing.T) {
	var gone []string
	p := newPlaces(4)
	first := seat(t, p, "a", "a1", &gone, 2)
	seat(t, p, "b", "b1", &gone, 2)
	second := seat(t, p, "a", "a2", &gone, 2)
	require.Empty(t, gone)
	third := seat(t, p, "a", "a3", &gone, 2)
	require.Equal(t, []string{"a1"}, gone, "a has two places at most")
	require.True(t, p.free(first))
	require.False(t, p.free(second))
	seat(t, p, "c", "c1", &gone, 2)
	seat(t, p, "c", "c2", &gone, 2)
	require.Equal(t, []string{"a1"}, gone)
	seat(t, p, "d", "d1", &gone, 2)
	require.Equal(t, []string{"a1", "b1"}, gone, "altogether there are four: the oldest of all goes")
	require.False(t, p.free(third))
	require.Equal(t, 3, p.count)
}

func TestAPlaceThatIsHeldIsNotDisplaced(t *testing.T) {
	var gone []string
	p := newPlaces(3)
	first, second := seat(t, p, "a", "a1", &gone, 2), seat(t, p, "a", "a2", &gone, 2)
	p.hold(first)
	seat(t, p, "a", "a3", &gone, 2)
	require.Equal(t, []string{"a2"}, gone)
	p.hold(second) // it is gone: nothing happens
	p.release(second)
	require.True(t, p.free(second))
	p.release(first)
	p.release(first)
	seat(t, p, "a", "a4", &gone, 2)
	require.Equal(t, []string{"a2", "a3"}, gone, "it is the newest again")
	p.hold(first)
	b := seat(t, p, "b", "b1", &gone, 2)
	p.hold(b)
	c, ok := p.take("b", 1, func() {})
	require.False(t, ok, "nobody of the same key can go")
	require.Nil(t, c)
}

func TestPlacesAreForgottenWhenTheyAreFree(t *testing.T) {
	p := newPlaces(16)
	var senders sync.WaitGroup
	for i := range 200 {
		senders.Go(func() {
			one, ok := p.take(strconv.Itoa(i%20), 3, func() {})
			if !ok {
				return
			}
			p.hold(one)
			p.release(one)
			p.free(one)
		})
	}
	senders.Wait()
	require.Zero(t, p.count)
	require.Empty(t, p.of)
	require.Zero(t, p.order.Len())
}

package guard

import (
	"slices"
	"sync"
)

// bodies are the small bodies that are being received. One too many ends the one that has taken longest, of the same source first:
// honest senders need milliseconds, so the oldest is most likely slow on purpose. Safe for concurrent use.
type bodies struct {
	mu  sync.Mutex
	all []*arriving // the oldest first
}

// arriving is a body that is being received.
type arriving struct {
	from string
	stop func() // ends the receiving; it must not block
}

// addBody adds a body from a source. stop is called if it has to make room.
func (b *bodies) addBody(from string, stop func()) *arriving {
	b.mu.Lock()
	defer b.mu.Unlock()
	ofSource, oldestOfSource := 0, 0
	for i, one := range slices.Backward(b.all) {
		if one.from == from {
			ofSource, oldestOfSource = ofSource+1, i
		}
	}
	switch {
	case ofSource >= SmallOfSource:
		b.displaceBody(oldestOfSource)
	case len(b.all) >= SmallAtOnce:
		b.displaceBody(0)
	}
	one := &arriving{from, stop}
	b.all = append(b.all, one)
	return one
}

func (b *bodies) displaceBody(i int) {
	b.all[i].stop()
	b.all = slices.Delete(b.all, i, i+1)
}

// removeBody removes a body and reports whether it had to make room. After it returned, stop is no longer called.
func (b *bodies) removeBody(one *arriving) (displaced bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.all, one)
	if i >= 0 {
		b.all = slices.Delete(b.all, i, i+1)
	}
	return i < 0
}

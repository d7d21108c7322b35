package hooks

import (
	"container/list"
	"sync"
)

// places limits how many of something exist at once: altogether, and for each key. A newcomer is accepted as long as somebody can be
// displaced: it takes the place of the oldest, of the same key first. Honest senders need milliseconds, so the oldest is most likely
// to hold its place on purpose. Safe for concurrent use.
type places struct {
	all int

	guard sync.Mutex
	count int
	of    map[string]*holder
	order *list.List // of displaceable *taken, the oldest in front
}

// holder is the places of one key.
type holder struct {
	count int
	order *list.List // of displaceable *taken, the oldest in front
}

// taken is an occupied place.
type taken struct {
	key       string
	displace  func() // ends what is done there; it must not block
	in, mine  *list.Element
	displaced bool
}

func newPlaces(all int) *places {
	return &places{all: all, of: map[string]*holder{}, order: list.New()}
}

// take takes a place; the key may have at most each. If another has to go, its displace is called. ok is false if none can go; then
// nothing was taken.
func (p *places) take(key string, each int, displace func()) (one *taken, ok bool) {
	p.guard.Lock()
	defer p.guard.Unlock()
	mine := p.of[key]
	switch {
	case mine != nil && mine.count >= each:
		ok = p.evict(mine.order)
	case p.count >= p.all:
		ok = p.evict(p.order)
	default:
		ok = true
	}
	if !ok {
		return nil, false
	}
	if mine = p.of[key]; mine == nil {
		mine = &holder{order: list.New()}
		p.of[key] = mine
	}
	mine.count++
	p.count++
	one = &taken{key: key, displace: displace}
	p.line(one)
	return one, true
}

// evict takes the oldest place in a queue.
func (p *places) evict(order *list.List) bool {
	if order.Len() == 0 {
		return false
	}
	oldest := order.Front().Value.(*taken)
	oldest.displaced = true
	oldest.displace()
	p.remove(oldest)
	return true
}

// hold makes a place undisplaceable.
func (p *places) hold(one *taken) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if !one.displaced {
		p.unline(one)
	}
}

// release makes a held place displaceable again, as the newest.
func (p *places) release(one *taken) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if !one.displaced && one.in == nil {
		p.line(one)
	}
}

// free gives a place back and reports whether it was displaced before. After it returned, displace is no longer called.
func (p *places) free(one *taken) (displaced bool) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if !one.displaced {
		p.remove(one)
	}
	return one.displaced
}

func (p *places) remove(one *taken) {
	p.unline(one)
	p.count--
	mine := p.of[one.key]
	if mine.count--; mine.count == 0 {
		delete(p.of, one.key)
	}
}

func (p *places) line(one *taken) {
	one.in, one.mine = p.order.PushBack(one), p.of[one.key].order.PushBack(one)
}

func (p *places) unline(one *taken) {
	if one.in != nil {
		p.order.Remove(one.in)
		p.of[one.key].order.Remove(one.mine)
		one.in, one.mine = nil, nil
	}
}

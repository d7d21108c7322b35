package limit

import (
	"context"
	"sync"
)

// Slots limits how much is done at once: altogether, and for each key. Safe for concurrent use.
type Slots struct {
	all  chan struct{}
	each int

	guard sync.Mutex
	of    map[string]*share
}

// share is one key's part. It exists while somebody holds or waits for a slot of it.
type share struct {
	slots chan struct{}
	users int
}

// NewSlots returns `all` slots, of which a key may hold at most `each`.
func NewSlots(all, each int) *Slots {
	return &Slots{all: make(chan struct{}, all), each: each, of: map[string]*share{}}
}

// Take waits for a slot, first within the key's share, so that waiting for one's own share blocks nobody else. Call free once. The
// error is the context's, and then no slot was taken.
func (s *Slots) Take(ctx context.Context, key string) (free func(), err error) {
	mine := s.joinShare(key)
	for held, slots := range []chan struct{}{mine.slots, s.all} {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			if held > 0 {
				<-mine.slots
			}
			s.leaveShare(key, mine)
			return nil, ctx.Err()
		}
	}
	return func() { s.freeSlot(key, mine) }, nil
}

// Try takes a slot if one is free.
func (s *Slots) Try(key string) (free func(), ok bool) {
	mine := s.joinShare(key)
	select {
	case mine.slots <- struct{}{}:
	default:
		s.leaveShare(key, mine)
		return nil, false
	}
	select {
	case s.all <- struct{}{}:
		return func() { s.freeSlot(key, mine) }, true
	default:
		<-mine.slots
		s.leaveShare(key, mine)
		return nil, false
	}
}

func (s *Slots) freeSlot(key string, mine *share) {
	<-s.all
	<-mine.slots
	s.leaveShare(key, mine)
}

func (s *Slots) joinShare(key string) *share {
	s.guard.Lock()
	defer s.guard.Unlock()
	mine, known := s.of[key]
	if !known {
		mine = &share{slots: make(chan struct{}, s.each)}
		s.of[key] = mine
	}
	mine.users++
	return mine
}

func (s *Slots) leaveShare(key string, mine *share) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if mine.users--; mine.users == 0 {
		delete(s.of, key)
	}
}

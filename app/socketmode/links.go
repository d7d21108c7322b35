package socketmode

import (
	"sync"
	"time"
)

// links knows whether any connection is open.
type links struct {
	mu   sync.Mutex
	open int
	down time.Time // since when none is open
}

// link is one connection, which is open or not.
type link struct {
	all  *links
	open bool
}

// addLink returns a connection that is not open.
func (l *links) addLink() *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == 0 && l.down.IsZero() {
		l.down = time.Now()
	}
	return &link{all: l}
}

// setOpen says whether the connection is open.
func (l *link) setOpen(open bool) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	if l.open == open {
		return
	}
	l.open = open
	switch {
	case open:
		l.all.open++
		l.all.down = time.Time{}
	default:
		if l.all.open--; l.all.open == 0 {
			l.all.down = time.Now()
		}
	}
}

// downSince returns since when no connection is open; zero: one is.
func (l *links) downSince() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

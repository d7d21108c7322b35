package web

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// findTimeout is how long the query for ended sessions may take. It goes on if the page that asks is closed.
const findTimeout = 10 * time.Second

// openSessions are the sessions of the pages that are open in this process. One query looks for all of them whether they were ended.
type openSessions struct {
	find  func(ctx context.Context, ids []string) ([]string, error) // nil: none was ended
	every time.Duration                                             // between two queries

	guard  sync.Mutex
	open   map[string]int // pages by session
	ended  []string
	looked time.Time
}

// addPage adds a page of a session, until leave is called.
func (o *openSessions) addPage(id string) (leave func()) {
	o.guard.Lock()
	defer o.guard.Unlock()
	if o.open == nil {
		o.open = map[string]int{}
	}
	o.open[id]++
	return func() {
		o.guard.Lock()
		defer o.guard.Unlock()
		if o.open[id]--; o.open[id] == 0 {
			delete(o.open, id)
		}
	}
}

// hasEnded reports whether an open page's session was ended. It may know that a little late: one caller asks the database, and the others do not
// wait for it, nor ask again after an error before their turn.
func (o *openSessions) hasEnded(ctx context.Context, id string) (bool, error) {
	if open := o.takeTurn(); open != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), findTimeout) // others wait for the answer too
		defer cancel()
		ended, err := o.find(ctx, open)
		if err != nil {
			return false, err
		}
		o.guard.Lock()
		o.ended = ended
		o.guard.Unlock()
	}
	o.guard.Lock()
	defer o.guard.Unlock()
	return slices.Contains(o.ended, id), nil
}

// takeTurn returns the open sessions if it is time to look for them; else nil.
func (o *openSessions) takeTurn() []string {
	o.guard.Lock()
	defer o.guard.Unlock()
	if o.find == nil || time.Since(o.looked) < o.every {
		return nil
	}
	o.looked = time.Now()
	return slices.Collect(maps.Keys(o.open))
}

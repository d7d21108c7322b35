package status

import (
	"sync"
	"time"
)

// lease is how long the server allows the runner to act. It is measured on the monotonic clock from the moment a request was sent, so
// it never ends later than the server's own measurement, which begins when the response is written.
type lease struct {
	mu    sync.Mutex
	until time.Time
}

func (l *lease) renewUntil(sent time.Time, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := sent.Add(d); until.After(l.until) {
		l.until = until
	}
}

// remainingTime returns the remaining time; negative once the lease is over.
func (l *lease) remainingTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until)
}

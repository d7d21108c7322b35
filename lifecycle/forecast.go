package lifecycle

import "time"

// Forecast is how a cluster would proceed if it were requested now.
type Forecast struct {
	Position int           // position in the queue for a quota, 1 is next; 0: it would not wait
	StartsAt time.Time     // when it may begin; zero: unknown, because a person has to approve it or because it is not known when there will be capacity or an open breaker closes
	ReadyP50 time.Duration // time from its start until it is ready: half of the earlier clusters of its profile took no longer; zero: there were none
	ReadyP90 time.Duration // nine of ten took no longer
}

// Braked is the forecast for a cluster that waits for a brake; nil: for none.
func (f Forecast) Braked(b *Brake) Forecast {
	switch {
	case b == nil:
	case b.Kind == Breaker:
		f.StartsAt = time.Time{}
	case !f.StartsAt.IsZero() && f.StartsAt.Before(b.Until):
		f.StartsAt = b.Until
	}
	return f
}

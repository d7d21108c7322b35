package lifecycle

import "time"

// Forecast is what is known of how a cluster would go on if it were asked for now.
type Forecast struct {
	Place    int           // in line, 1 is next; 0: it would not wait for a quota
	StartsAt time.Time     // when it may begin; zero: not known, because a person has to approve it or nobody knows when there is room
	ReadyP50 time.Duration // from its start until it is ready: half of the earlier ones of its profile took no longer; zero: there were none
	ReadyP90 time.Duration // nine of ten took no longer
}

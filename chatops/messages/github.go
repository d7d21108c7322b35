package messages

import (
	"time"
)

// Backlog is what waits for GitHub on a pull request.
type Backlog struct {
	Repo       string
	Number     int
	Places     []string  // what shows an older state: comment, check, deployment, label
	Deliveries int       // waiting events
	Since      time.Time // the oldest of them
	AwaySince  time.Time // GitHub has not answered since; zero: its rate limit is used up
	HeldUntil  time.Time // the rate limit is used up until then
}

package lifecycle

import (
	"math"
	"time"
)

// RecentUsage is what a team used lately, at list prices: what it used one half-life ago counts half. Like what is spent, it is kept as one number
// for each team, however many clusters it had.
type RecentUsage struct {
	Amount int64 // in the unit of Spent
	Spent  int64 // what the team had spent in the calendar month (UTC) of At
	At     time.Time
}

// Advance returns the recent usage at a later time, when the team has spent so much in that time's month. What it spent since At counts in full, and
// what it spent between At and the end of an earlier month does not count: called once an hour, that is less than an hour's.
func (u RecentUsage) Advance(spent int64, now time.Time, halfLife time.Duration) RecentUsage {
	left := float64(u.Amount) * math.Exp2(-float64(max(0, now.Sub(u.At)))/float64(halfLife))
	before := u.Spent
	if y, m, _ := u.At.UTC().Date(); y != now.UTC().Year() || m != now.UTC().Month() {
		before = 0
	}
	return RecentUsage{Amount: max(0, int64(math.Round(left))+spent-before), Spent: spent, At: now} // less was spent if a cluster went to another team
}

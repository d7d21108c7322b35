package pool

import (
	"slices"
	"time"
)

// History is when requests took a cluster of a pool, or would have taken one.
type History struct {
	Since, Until time.Time
	Zone         *time.Location // whose hours the advice counts
	Requests     []time.Time    // the earliest first
	Install      time.Duration  // how long it takes until another cluster waits
	Wake         time.Duration  // how long it takes until one that sleeps is awake
}

// Advice is what would have been enough on nine of ten days.
type Advice struct {
	Size     int          // clusters that wait: the most requests during one install
	Workdays [24]HourPlan // Monday to Friday, by the hour of the day
	Weekends [24]HourPlan
	wake     time.Duration
	zone     *time.Location
}

// HourPlan is the advice for one hour of the day.
type HourPlan struct {
	Requests int // in that hour, in all the days
	Running  int // clusters that are awake: the most requests while one wakes
}

// Advise derives the advice from a history. Without requests it advises nothing: zero clusters.
func Advise(h History) Advice {
	out := Advice{wake: h.Wake, zone: h.Zone}
	perHour := map[*HourPlan][]int{}
	perDay := map[string]int{}
	for hour := h.Since.Truncate(time.Hour); hour.Before(h.Until); hour = hour.Add(time.Hour) {
		next, day := hour.Add(time.Hour), hour.In(h.Zone).Format(time.DateOnly)
		plan := out.plan(hour)
		plan.Requests += h.count(hour, next)
		perHour[plan] = append(perHour[plan], h.busiest(hour, next, h.Wake))
		perDay[day] = max(perDay[day], h.busiest(hour, next, h.Install))
	}
	for plan, counts := range perHour {
		plan.Running = mostOfTen(counts)
	}
	var days []int
	for _, most := range perDay {
		days = append(days, most)
	}
	out.Size = mostOfTen(days)
	for _, plans := range []*[24]HourPlan{&out.Workdays, &out.Weekends} {
		for _, plan := range plans {
			out.Size = max(out.Size, plan.Running)
		}
	}
	return out
}

// RunningAt is how many clusters should be awake at a time, so that those of the coming hour wake before it.
func (a Advice) RunningAt(at time.Time) int {
	return max(a.plan(at).Running, a.plan(at.Add(a.wake)).Running)
}

func (a *Advice) plan(at time.Time) *HourPlan {
	local := at.In(a.zone)
	if day := local.Weekday(); day == time.Saturday || day == time.Sunday {
		return &a.Weekends[local.Hour()]
	}
	return &a.Workdays[local.Hour()]
}

// count is how many requests there were from a time until before another one.
func (h History) count(from, until time.Time) int {
	begin, _ := slices.BinarySearchFunc(h.Requests, from, time.Time.Compare)
	end, _ := slices.BinarySearchFunc(h.Requests, until, time.Time.Compare)
	return end - begin
}

// busiest is the most requests within a window that begins with one of those from a time until before another one.
func (h History) busiest(from, until time.Time, window time.Duration) (most int) {
	begin, _ := slices.BinarySearchFunc(h.Requests, from, time.Time.Compare)
	for _, at := range h.Requests[begin : begin+h.count(from, until)] {
		most = max(most, h.count(at, at.Add(max(window, 1))))
	}
	return most
}

// mostOfTen returns what nine of ten counts do not exceed; 0: there are none.
func mostOfTen(counts []int) int {
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return counts[(9*len(counts)+9)/10-1]
}

package pool

import (
	"math"
	"time"
)

// What has to be left of the month's money.
const (
	spareMinutes = 15  // that each kept cluster may cost, because a look can be late
	newMinutes   = 120 // that each kept and each new cluster may cost: less would not be worth an install
)

// affordable is how many unclaimed clusters the month's money allows to keep.
func (d *deciding) affordable() int { return d.countPaid(spareMinutes) }

// affordableCreates is how many more clusters the month's money allows for a pool that keeps so many.
func (d *deciding) affordableCreates(kept int) int { return d.countPaid(newMinutes) - kept }

// countPaid is how many clusters what is left of the month's money pays for so many minutes. At an unknown price it is any number, as long as
// something is left.
func (d *deciding) countPaid(minutes float64) int {
	switch {
	case d.p.WaitingCents == nil:
		return math.MaxInt32
	case d.remainingCents() <= 0:
		return 0
	case d.f.HourlyCents <= 0:
		return math.MaxInt32
	}
	return int(min(d.remainingCents()*60/float64(d.f.HourlyCents)/minutes, math.MaxInt32))
}

// remainingCents returns what waiting may still cost this month, in US cents. There has to be a limit.
func (d *deciding) remainingCents() float64 {
	return float64(*d.p.WaitingCents) - float64(d.f.SpentCents)
}

// nextLook is the first time at which the answer may change although nothing happens.
func (d *deciding) nextLook() (first time.Time) {
	look := func(at time.Time) {
		if at.After(d.f.Now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for _, c := range d.f.Clusters {
		if c.isUnclaimed() && d.p.MaxAge > 0 {
			look(d.soonOld(c))
			look(c.AcceptedAt.Add(d.p.MaxAge))
		}
	}
	if d.f.Failures >= d.p.MostFailures {
		look(d.retryAt())
	}
	if d.p.WaitingCents != nil {
		now := d.f.Now.UTC()
		look(time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC))
		if hourly := float64(d.f.HourlyCents) * float64(len(d.kept)+d.acts.Create); hourly > 0 {
			minutes := min(d.remainingCents()*60/hourly-spareMinutes, 31*24*60) // the month is over before that
			look(d.f.Now.Add(time.Duration(max(minutes, 1)) * time.Minute))
		}
	}
	return first
}

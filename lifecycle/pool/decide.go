package pool

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// usualFailures is how many creates may fail in a row if a pool does not say.
const usualFailures = 3

// The first and the longest wait after too many failures in a row; each failure after the first wait doubles it.
const (
	leastWait = 5 * time.Minute
	mostWait  = time.Hour
)

// Decide returns what the pool needs now. The answer does not depend on the order of the clusters.
func Decide(p Pool, f Facts) Acts {
	d := newDeciding(p, f)
	d.endClusters()
	d.replaceOne()
	d.createClusters()
	d.changePower()
	d.acts.LookAt = d.nextLook()
	return d.acts
}

// deciding is one decision.
type deciding struct {
	p    Pool
	f    Facts
	kept []Cluster // unclaimed clusters that stay, the oldest first
	room int       // how many may be unclaimed
	acts Acts
}

func newDeciding(p Pool, f Facts) *deciding {
	p.Size, p.Running, p.Max, p.MaxConcurrent = max(p.Size, 0), max(p.Running, 0), max(p.Max, 0), max(p.MaxConcurrent, 1)
	if p.MostFailures <= 0 {
		p.MostFailures = usualFailures
	}
	d := &deciding{p: p, f: f}
	claimed := 0
	for _, c := range f.Clusters {
		switch {
		case c.isUnclaimed():
			d.kept = append(d.kept, c)
		case c.State != Ending:
			claimed++
		}
	}
	slices.SortFunc(d.kept, compareAge)
	d.room = min(p.Size, max(p.Max-claimed, 0))
	return d
}

// compareAge orders the oldest first.
func compareAge(a, b Cluster) int {
	return cmp.Or(a.AcceptedAt.Compare(b.AcceptedAt), cmp.Compare(a.ID, b.ID))
}

// endClusters ends what has to go whether it can be replaced or not.
func (d *deciding) endClusters() {
	for _, c := range slices.Backward(slices.Clone(d.kept)) {
		if why := d.mustEnd(c); why != "" {
			d.end(c, why)
		}
	}
	d.shrink(d.room, Shrunk)
	d.shrink(d.affordable(), OverBudget)
}

// mustEnd returns why a cluster has to end, whatever the others are; empty: it may stay.
func (d *deciding) mustEnd(c Cluster) EndWhy {
	switch {
	case d.p.Draining:
		return Drained
	case c.isReady() && !c.Healthy:
		return Unhealthy
	case d.p.MaxAge > 0 && !d.f.Now.Before(c.AcceptedAt.Add(d.p.MaxAge)):
		return Aged
	case d.p.Closed && !(d.p.Sleeps && c.isBegun()):
		return Closed
	case c.isBegun():
		return ""
	case d.p.Paused:
		return Paused
	case d.f.Crowded:
		return YieldedToPeople
	case c.Digest != d.p.Digest:
		return Stale // for nothing: the next one is made from what counts now
	}
	return ""
}

func (d *deciding) end(c Cluster, why EndWhy) {
	d.acts.End = append(d.acts.End, End{c.ID, why})
	d.kept = slices.DeleteFunc(d.kept, func(k Cluster) bool { return k.ID == c.ID })
}

// shrink ends clusters until no more than most stay: what has not begun, the newest first, then the stale and then the rest, the oldest first.
func (d *deciding) shrink(most int, why EndWhy) {
	rank := func(c Cluster) int {
		switch {
		case !c.isBegun():
			return 0
		case c.Digest != d.p.Digest:
			return 1
		}
		return 2
	}
	order := slices.SortedStableFunc(slices.Values(d.kept), func(a, b Cluster) int {
		if first := cmp.Compare(rank(a), rank(b)); first != 0 || a.isBegun() {
			return first
		}
		return compareAge(b, a)
	})
	for _, c := range order[:max(len(order)-most, 0)] {
		d.end(c, why)
	}
}

// replaceOne ends one cluster so that a better one takes its place: a stale one, or else one that will soon be too old. It does so only if every
// cluster is ready and another one can be made, so that at most one is missing for that reason.
func (d *deciding) replaceOne() {
	ready := slices.DeleteFunc(slices.Clone(d.kept), func(c Cluster) bool { return !c.isReady() })
	if len(ready) < d.room || slices.ContainsFunc(d.stops(len(ready)-1), func(l limit) bool { return l.most < 1 }) {
		return
	}
	for _, c := range ready {
		if c.Digest != d.p.Digest {
			d.end(c, Stale)
			return
		}
	}
	if len(ready) > 0 && d.p.MaxAge > 0 && !d.f.Now.Before(d.soonOld(ready[0])) {
		d.end(ready[0], Aged)
	}
}

// soonOld is when a cluster may be replaced because of its age. Clusters that were made together are replaced one after the other from then on,
// instead of ending together at MaxAge.
func (d *deciding) soonOld(c Cluster) time.Time { return c.AcceptedAt.Add(d.p.MaxAge - d.p.MaxAge/10) }

// limit is how many clusters may be made, and the reason.
type limit struct {
	most int
	why  Reason
}

// stops are the limits that do not pass when a cluster becomes ready or is gone, for a pool that keeps so many unclaimed clusters.
func (d *deciding) stops(kept int) []limit {
	unless := func(stop bool) int {
		if stop {
			return 0
		}
		return math.MaxInt
	}
	return []limit{
		{unless(d.p.Draining), Drained},
		{unless(d.p.Paused), Paused},
		{unless(d.p.Closed), Closed},
		{unless(d.f.Crowded), YieldedToPeople},
		{d.triesLeft(), Failing},
		{d.affordableCreates(kept), OverBudget},
	}
}

// createClusters makes as many clusters as are wanted and allowed.
func (d *deciding) createClusters() {
	wanted := d.p.Size - len(d.kept)
	if wanted <= 0 {
		return
	}
	limits := append(d.stops(len(d.kept)), limit{d.p.Max - len(d.f.Clusters), Full}, limit{d.p.MaxConcurrent - d.countMaking(), Busy})
	d.acts.Create = wanted
	for _, l := range limits {
		if l.most < wanted {
			d.acts.Create, d.acts.Why = min(d.acts.Create, max(l.most, 0)), append(d.acts.Why, l.why)
		}
	}
}

func (d *deciding) countMaking() (n int) {
	for _, c := range d.kept {
		if c.State == Making {
			n++
		}
	}
	return n
}

// triesLeft is how many clusters may be made after the failures in a row. After too many there is a wait, and then one try at a time.
func (d *deciding) triesLeft() int {
	switch {
	case d.f.Failures < d.p.MostFailures:
		return math.MaxInt
	case d.f.Now.Before(d.retryAt()) || d.countMaking() > 0:
		return 0
	}
	return 1
}

// retryAt is when the wait after too many failures in a row is over.
func (d *deciding) retryAt() time.Time {
	wait := leastWait
	for n := d.p.MostFailures; n < d.f.Failures && wait < mostWait; n++ {
		wait *= 2
	}
	return d.f.FailedAt.Add(min(wait, mostWait))
}

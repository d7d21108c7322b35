package pool

import (
	"reflect"
	"slices"
	"time"
)

// check holds an answer against the rules. It shares no code with Decide but the states of clusters.
type check struct {
	*world
	f       Facts
	a       Acts
	ended   map[string]EndWhy
	kept    []Cluster // unclaimed
	claimed int
	room    int // how many may be unclaimed
}

func newCheck(w *world, f Facts, a Acts) *check {
	c := &check{world: w, f: f, a: a, ended: map[string]EndWhy{}}
	for _, e := range a.End {
		if _, twice := c.ended[e.ID]; twice {
			w.breach("truth", "%s ends twice", e.ID)
		}
		c.ended[e.ID] = e.Why
	}
	for _, one := range f.Clusters {
		_, ends := c.ended[one.ID]
		switch {
		case ends && !one.isUnclaimed():
			w.breach("claimed", "%s is %s and ends", one.ID, one.State)
		case one.State == Claimed:
			c.claimed++
		case one.isUnclaimed() && !ends:
			c.kept = append(c.kept, one)
		}
	}
	c.room = min(w.pool.Size, max(w.pool.Max-c.claimed, 0))
	return c
}

func (c *check) all() {
	c.checkBounds()
	c.checkBrakes()
	c.checkKept()
	c.checkTruth()
	c.checkReplacing()
	c.checkShrinking()
	c.checkFailures()
	c.checkPower()
	c.checkLook()
}

// count counts the kept clusters that fit.
func (c *check) count(fits func(Cluster) bool) (n int) {
	for _, k := range c.kept {
		if fits(k) {
			n++
		}
	}
	return n
}

func isMaking(k Cluster) bool { return k.State == Making }

func (c *check) isStale(k Cluster) bool { return k.Digest != c.pool.Digest }

func (c *check) ageOf(k Cluster) time.Duration { return c.f.Now.Sub(k.AcceptedAt) }

// isPoor reports that nothing is left of the month's money.
func (c *check) isPoor() bool {
	return c.pool.WaitingCents != nil && c.f.SpentCents >= *c.pool.WaitingCents
}

func (c *check) checkBounds() {
	switch {
	case c.a.Create < 0 || len(c.kept)+c.a.Create > c.pool.Size:
		c.breach("size", "%d stay and %d are made", len(c.kept), c.a.Create)
	case len(c.kept) > c.room:
		c.breach("size", "%d stay beside %d claimed ones", len(c.kept), c.claimed)
	case c.a.Create > 0 && len(c.f.Clusters)+c.a.Create > c.pool.Max:
		c.breach("max", "%d are there and %d are made", len(c.f.Clusters), c.a.Create)
	case c.a.Create > 0 && c.count(isMaking)+c.a.Create > c.pool.MaxConcurrent:
		c.breach("concurrent", "%d are being made and %d begin", c.count(isMaking), c.a.Create)
	case (len(c.a.Why) > 0) != (len(c.kept)+c.a.Create < c.pool.Size):
		c.breach("complete", "%d of %d, because of %v", len(c.kept)+c.a.Create, c.pool.Size, c.a.Why)
	}
}

// checkBrakes checks what keeps everything from being made.
func (c *check) checkBrakes() {
	idle := c.count(func(k Cluster) bool { return !k.isBegun() })
	for _, b := range []struct {
		rule   string
		on     bool
		reason Reason
	}{
		{"paused", c.pool.Paused, Paused}, {"draining", c.pool.Draining, Drained}, {"closed", c.pool.Closed, Closed},
		{"crowded", c.f.Crowded, YieldedToPeople}, {"money", c.isPoor(), OverBudget},
	} {
		if b.on && (c.a.Create > 0 || idle > 0) {
			c.breach(b.rule, "%d are made, and %d stay that have not begun", c.a.Create, idle)
		}
		if b.on && len(c.kept) < c.pool.Size && !slices.Contains(c.a.Why, b.reason) {
			c.breach("complete", "%s is not among %v", b.reason, c.a.Why)
		}
	}
	switch {
	case c.pool.Draining && len(c.kept) > 0:
		c.breach("draining", "%d stay", len(c.kept))
	case c.pool.Closed && !c.pool.Sleeps && len(c.kept) > 0:
		c.breach("closed", "%d stay", len(c.kept))
	case c.isPoor() && len(c.kept) > 0:
		c.breach("money", "%d stay", len(c.kept))
	}
}

func (c *check) checkKept() {
	for _, k := range c.kept {
		switch {
		case c.ageOf(k) >= c.pool.MaxAge:
			c.breach("age", "%s stays at the age of %s", k.ID, c.ageOf(k))
		case k.isReady() && !k.Healthy:
			c.breach("unhealthy", "%s stays", k.ID)
		}
	}
}

// checkTruth checks that what ends ends for a reason that it has.
func (c *check) checkTruth() {
	lastYielded := time.Time{}
	for _, e := range c.a.End {
		k := c.f.Clusters[slices.IndexFunc(c.f.Clusters, func(k Cluster) bool { return k.ID == e.ID })]
		holds := false
		switch e.Why {
		case Drained:
			holds = c.pool.Draining
		case Closed:
			holds = c.pool.Closed
		case Paused:
			holds = c.pool.Paused && !k.isBegun()
		case YieldedToPeople:
			holds = c.f.Crowded && !k.isBegun() && (lastYielded.IsZero() || !k.AcceptedAt.After(lastYielded))
			lastYielded = k.AcceptedAt
		case Unhealthy:
			holds = k.isReady() && !k.Healthy
		case Stale:
			holds = c.isStale(k)
		case Aged:
			holds = c.ageOf(k)*10 >= c.pool.MaxAge*9
		case Shrunk:
			holds = len(c.f.Clusters) > c.room
		case OverBudget:
			holds = c.pool.WaitingCents != nil
		}
		if !holds {
			c.breach("truth", "%s ends because it is %s", e.ID, e.Why)
		}
	}
}

// checkReplacing checks that clusters that could stay are replaced one by one, while all others are ready and another one can be made.
func (c *check) checkReplacing() {
	replaced := 0
	for _, k := range c.f.Clusters {
		why := c.ended[k.ID]
		if !k.isReady() || why != Stale && (why != Aged || c.ageOf(k) >= c.pool.MaxAge) {
			continue
		}
		replaced++
		ready := c.count(Cluster.isReady)
		switch stopped := c.pool.Paused || c.pool.Closed || c.f.Crowded || c.isPoor(); {
		case replaced > 1:
			c.breach("one by one", "several are replaced")
		case ready < c.room-1:
			c.breach("one by one", "%s is replaced while %d of %d others are ready", k.ID, ready, c.room-1)
		case stopped || c.f.Failures >= c.mostFailures() && c.f.Now.Before(c.tryAt()):
			c.breach("one by one", "%s is replaced by nothing", k.ID)
		case why == Aged && c.count(func(k Cluster) bool { return k.isReady() && c.isStale(k) }) > 0:
			c.breach("one by one", "%s is replaced before what is stale", k.ID)
		}
	}
	for _, k := range c.kept {
		if !k.isBegun() && c.isStale(k) {
			c.breach("one by one", "%s is stale and has not begun", k.ID)
		}
	}
}

// checkShrinking checks that no more end than have to, and none that is worth more than one that stays.
func (c *check) checkShrinking() {
	shrunk := 0
	for _, e := range c.f.Clusters {
		why := c.ended[e.ID]
		if why != Shrunk && why != OverBudget {
			continue
		}
		if why == Shrunk {
			shrunk++
		}
		for _, k := range c.kept {
			if c.isWorthMore(e, k) {
				c.breach("shrink", "%s ends, and %s stays", e.ID, k.ID)
			}
		}
	}
	after := len(c.kept)
	for _, why := range c.ended {
		if why == OverBudget {
			after++
		}
	}
	if shrunk > 0 && after < c.room-1 {
		c.breach("shrink", "%d end, and %d of %d stay", shrunk, after, c.room)
	}
}

// isWorthMore reports whether a shrinking pool has to keep a rather than b.
func (c *check) isWorthMore(a, b Cluster) bool {
	switch {
	case a.isBegun() != b.isBegun():
		return a.isBegun()
	case !a.isBegun():
		return a.AcceptedAt.Before(b.AcceptedAt)
	case c.isStale(a) != c.isStale(b):
		return !c.isStale(a)
	}
	return a.AcceptedAt.After(b.AcceptedAt)
}

func (c *check) mostFailures() int {
	if c.pool.MostFailures == 0 {
		return 3
	}
	return c.pool.MostFailures
}

func (c *check) tryAt() time.Time {
	waits := []time.Duration{5, 10, 20, 40, 60}
	return c.f.FailedAt.Add(waits[min(c.f.Failures-c.mostFailures(), len(waits)-1)] * time.Minute)
}

func (c *check) checkFailures() {
	if c.f.Failures < c.mostFailures() {
		return
	}
	switch early := c.f.Now.Before(c.tryAt()); {
	case early && c.a.Create > 0:
		c.breach("failing", "%d are made before the wait is over", c.a.Create)
	case c.a.Create > 1 || c.a.Create == 1 && c.count(isMaking) > 0:
		c.breach("failing", "a try is not alone")
	case early && len(c.kept) < c.pool.Size && !slices.Contains(c.a.Why, Failing):
		c.breach("failing", "nobody is told: %v", c.a.Why)
	}
}

func (c *check) checkPower() {
	var awake, asleep []Cluster // afterwards
	moved := map[string]bool{}
	for _, id := range append(slices.Clone(c.a.Sleep), c.a.Wake...) {
		moved[id] = true
	}
	for _, k := range c.kept {
		switch sleeps, wakes := slices.Contains(c.a.Sleep, k.ID), slices.Contains(c.a.Wake, k.ID); {
		case sleeps && k.State != Waiting || wakes && k.State != Asleep:
			c.breach("power", "%s is %s", k.ID, k.State)
		case sleeps || k.State == Asleep && !wakes:
			asleep = append(asleep, k)
		case k.State == Waiting || wakes:
			awake = append(awake, k)
		}
		delete(moved, k.ID)
	}
	changing := c.count(func(k Cluster) bool { return k.State == Changing })
	should := c.shouldRun(len(awake) + len(asleep))
	if !c.pool.Sleeps {
		should = len(awake) + len(asleep)
	}
	switch {
	case len(moved) > 0:
		c.breach("power", "%v do not stay", moved)
	case len(awake) > should, changing == 0 && len(awake) < should, len(c.a.Wake) > 0 && c.pool.Sleeps && len(awake)+changing > c.pool.Running:
		c.breach("power", "%d are awake and %d asleep, %d change, %d should run", len(awake), len(asleep), changing, should)
	}
	for _, a := range awake {
		for _, s := range asleep {
			touched := slices.Contains(c.a.Sleep, s.ID) && a.State == Waiting || slices.Contains(c.a.Wake, a.ID) && s.State == Asleep
			if touched && c.isWorthMore(s, a) {
				c.breach("power", "%s is awake rather than %s", a.ID, s.ID)
			}
		}
	}
}

// checkLook checks that nothing changes by itself before the next look, and that the order of the clusters does not matter.
func (c *check) checkLook() {
	if !c.a.LookAt.IsZero() && !c.a.LookAt.After(c.f.Now) {
		c.breach("look", "the next look is at %s", c.a.LookAt)
	}
	until := c.f.Now.Add(200 * time.Hour)
	if !c.a.LookAt.IsZero() {
		until = c.a.LookAt
	}
	later := c.f
	later.Now = c.f.Now.Add(until.Sub(c.f.Now) / 100 * time.Duration(c.pick(100)))
	if c.pick(2) == 0 && !c.a.LookAt.IsZero() {
		later.Now = until.Add(-1)
	}
	then := c.decide(c.pool, later)
	then.LookAt = c.a.LookAt
	if !reflect.DeepEqual(c.a, then) {
		c.breach("look", "at %s it is %+v, and nobody looks", later.Now, then)
	}
	turned := c.f
	turned.Clusters = slices.Clone(c.f.Clusters)
	slices.Reverse(turned.Clusters)
	if again := c.decide(c.pool, turned); !reflect.DeepEqual(c.a, again) {
		c.breach("order", "in another order it is %+v", again)
	}
}

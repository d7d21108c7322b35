package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

type decider func(Pool, Facts) Acts

// hourly is what an hour of an awake cluster costs in the world.
const hourly = 77

// member is a cluster of the world.
type member struct {
	Cluster
	falling bool // Changing: it will be asleep
}

// world is a pool that lives: its clusters become ready, fail, sleep, are claimed and go, people change it, and money is spent.
type world struct {
	pick    func(int) int
	decide  decider
	now     time.Time
	pool    Pool
	members []*member
	serial  int
	spent   float64 // cents of this month
	allowed float64 // the most that may be spent: the limit, or what was spent when the limit changed

	failures int
	failedAt time.Time
	crowded  bool
	lookAt   time.Time
	history  []func() string
}

// broken is the rule that a life broke.
type broken struct{ rule, what string }

func newWorld(decide decider, pick func(int) int) *world {
	w := &world{pick: pick, decide: decide, now: noon, allowed: math.Inf(1)}
	w.pool = Pool{MaxAge: time.Duration(24+pick(60)) * time.Hour, Digest: "0", Sleeps: pick(3) > 0, MostFailures: pick(4)}
	w.resize()
	return w
}

// seeded picks by a seed: the same seed is the same life.
func seeded(seed uint64) func(int) int { return rand.New(rand.NewPCG(seed, 11)).IntN }

// live lives a hostile time, then a fair one until the pool is what it should be. It returns the first rule that is broken.
func (w *world) live() (found *broken) {
	defer func() {
		switch b := recover().(type) {
		case nil:
		case broken:
			found = &b
		default:
			panic(b)
		}
	}()
	w.look()
	for range 60 {
		if w.pick(3) == 0 {
			w.advance([]time.Duration{time.Minute, 20 * time.Minute, time.Hour, 12 * time.Hour}[w.pick(4)])
		} else {
			blows[w.pick(len(blows))](w)
		}
		w.look()
	}
	w.settle()
	return nil
}

// blows are what can happen; the frequent ones stand there more than once.
var blows = []func(*world){
	(*world).begin, (*world).begin, (*world).begin, (*world).finish, (*world).finish, (*world).finish, (*world).fail, (*world).claim,
	(*world).release, (*world).forget, (*world).forget, (*world).arrive, (*world).arrive, (*world).sicken, (*world).resize, (*world).limit,
	func(w *world) { w.pool.Paused = !w.pool.Paused && w.pick(2) == 0 },
	func(w *world) { w.pool.Draining = !w.pool.Draining && w.pick(3) == 0 },
	func(w *world) { w.pool.Closed = !w.pool.Closed && w.pick(2) == 0 },
	func(w *world) { w.crowded = !w.crowded && w.pick(2) == 0 },
	func(w *world) { w.pool.Digest = fmt.Sprint(w.pick(3)) }, // also one from before
}

// pickMember picks one of the members that fit; nil: none does.
func (w *world) pickMember(fits func(*member) bool) *member {
	var all []*member
	for _, m := range w.members {
		if fits(m) {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[w.pick(len(all))]
}

func (w *world) change(fits func(*member) bool, to func(*member)) bool {
	m := w.pickMember(fits)
	if m != nil {
		to(m)
	}
	return m != nil
}

func in(state State) func(*member) bool { return func(m *member) bool { return m.State == state } }

func (w *world) begin() {
	w.change(func(m *member) bool { return m.State == Making && !m.Begun }, func(m *member) { m.Begun = true })
}

func (w *world) finish() {
	w.change(func(m *member) bool { return m.State == Making && m.Begun }, func(m *member) {
		m.State, m.ReadyAt, m.Healthy, w.failures = Waiting, w.now, true, 0
	})
}

func (w *world) fail() {
	w.change(func(m *member) bool { return m.State == Making && m.Begun }, func(m *member) {
		m.State, w.failures, w.failedAt = Ending, w.failures+1+w.pick(3), w.now
	})
}

func (w *world) claim() {
	w.change(func(m *member) bool { return (m.State == Waiting || m.State == Asleep) && m.Healthy }, func(m *member) { m.State = Claimed })
}

func (w *world) release() { w.change(in(Claimed), func(m *member) { m.State = Ending }) }

func (w *world) forget() {
	w.change(in(Ending), func(m *member) {
		w.members = slices.DeleteFunc(w.members, func(other *member) bool { return other == m })
	})
}

func (w *world) arrive() {
	w.change(in(Changing), func(m *member) {
		m.State = Waiting
		if m.falling {
			m.State = Asleep
		}
	})
}

func (w *world) sicken() {
	w.change(func(m *member) bool { return m.isReady() }, func(m *member) { m.Healthy = false })
}

func (w *world) resize() {
	w.pool.Size = w.pick(6)
	w.pool.Running, w.pool.Max, w.pool.MaxConcurrent = w.pick(w.pool.Size+1), w.pool.Size+w.pick(4), 1+w.pick(3)
}

// limit sets what may still be spent this month, or nothing.
func (w *world) limit() {
	w.pool.WaitingCents, w.allowed = nil, math.Inf(1)
	if w.pick(2) == 0 {
		cents := int64(w.spent) + int64(w.pick(30*hourly)) - hourly
		w.pool.WaitingCents, w.allowed = &cents, max(float64(cents), w.spent)
	}
}

// advance lets time pass, but no longer than the look that was asked for can be late.
func (w *world) advance(by time.Duration) {
	if most := w.lookAt.Sub(w.now) + time.Duration(w.pick(15))*time.Minute; !w.lookAt.IsZero() && by > most {
		by = most
	}
	before := w.now
	w.now = w.now.Add(by)
	for _, m := range w.members {
		if m.isUnclaimed() {
			w.spent += hourly * by.Hours()
		}
	}
	if before.Month() != w.now.Month() {
		w.spent = 0
		if w.pool.WaitingCents != nil {
			w.allowed = max(float64(*w.pool.WaitingCents), 0)
		}
	}
	if w.spent > w.allowed+1e-6 {
		w.breach("money", "%.2f cents are spent of %.2f", w.spent, w.allowed)
	}
}

func (w *world) facts() Facts {
	f := Facts{Now: w.now, SpentCents: int64(math.Ceil(w.spent)), HourlyCents: hourly, Failures: w.failures, FailedAt: w.failedAt, Crowded: w.crowded}
	for _, m := range w.members {
		f.Clusters = append(f.Clusters, m.Cluster)
	}
	return f
}

// look asks what to do, checks the answer and does it.
func (w *world) look() {
	f := w.facts()
	acts := w.decide(w.pool, f)
	pool := w.pool
	w.history = append(w.history, func() string { return fmt.Sprintf("%s %+v %+v\n  -> %+v", f.Now.Format(time.DateTime), pool, f, acts) })
	newCheck(w, f, acts).all()
	for _, e := range acts.End {
		w.change(func(m *member) bool { return m.ID == e.ID }, func(m *member) { m.State = Ending })
	}
	for _, id := range append(slices.Clone(acts.Sleep), acts.Wake...) {
		w.change(func(m *member) bool { return m.ID == id }, func(m *member) { m.State, m.falling = Changing, m.State == Waiting })
	}
	for range acts.Create {
		w.serial++
		w.members = append(w.members, &member{Cluster: Cluster{ID: fmt.Sprint(w.serial), State: Making, AcceptedAt: w.now, Digest: w.pool.Digest}})
	}
	w.lookAt = acts.LookAt
}

// settle lets only good things happen, and looks only when something happened or when it was asked to.
func (w *world) settle() {
	w.pool.Paused, w.pool.Draining, w.pool.Closed, w.crowded, w.pool.WaitingCents, w.allowed = false, false, false, false, nil, math.Inf(1)
	w.pool.Max += len(w.members)
	w.look()
	until := w.now.Add(20 * time.Hour) // no cluster has to be replaced twice until then
	for range 400 {
		switch {
		case w.now.After(until):
			w.breach("goes on", "it takes too long")
		case w.isWhole():
			return
		case w.change(in(Ending), func(*member) {}):
			w.forget()
		case w.change(in(Changing), func(*member) {}):
			w.arrive()
		case w.change(in(Making), func(*member) {}):
			w.begin()
			w.advance(30 * time.Minute)
			w.finish()
		case w.lookAt.IsZero():
			w.breach("goes on", "nobody looks any more")
		default:
			w.advance(w.lookAt.Sub(w.now))
		}
		w.look()
	}
	w.breach("goes on", "the pool does not become what it should be")
}

// isWhole reports whether the pool is what it should be.
func (w *world) isWhole() bool {
	n, awake := 0, 0
	for _, m := range w.members {
		if !m.isUnclaimed() {
			continue
		}
		if m.State != Waiting && m.State != Asleep || m.Digest != w.pool.Digest {
			return false
		}
		if n++; m.State == Waiting {
			awake++
		}
	}
	return n == w.pool.Size && awake == w.shouldRun(n)
}

func (w *world) shouldRun(ready int) int {
	switch {
	case !w.pool.Sleeps:
		return ready
	case w.pool.Closed:
		return 0
	}
	return min(w.pool.Running, ready)
}

func (w *world) breach(rule, format string, args ...any) {
	panic(broken{rule, fmt.Sprintf(format, args...)})
}

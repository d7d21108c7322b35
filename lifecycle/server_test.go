package lifecycle

import (
	"fmt"
	"maps"
	"slices"
)

// attempt is an attempt's row: what Decide may know of it, and what only the store needs.
type attempt struct {
	Attempt
	pod int // who claimed it; 0: nobody
	seq int // newest report processed
}

// answer is the server's word to a runner.
type answer struct {
	lost   bool // no answer came
	fenced bool // the attempt is closed or another pod's
	stop   bool
	names  []string // identities, in the answer to a claim
	work   []*grant // accesses that differ, in the answer to a claim
}

// open is the open attempt, or nil.
func (w *world) open() *attempt {
	if n := len(w.attempts); n > 0 && w.attempts[n-1].ClosedAt.IsZero() {
		return w.attempts[n-1]
	}
	return nil
}

// facts reads what is known at this moment, as store.Load and dispatch.Observe do.
func (w *world) facts(observe bool) Facts {
	f := Facts{Now: w.now, Identities: slices.Clone(w.identities), Queue: w.queue, Turn: w.turn, Slot: w.slot}
	f.Slot.Waiting = maps.Clone(w.slot.Waiting)
	if w.brake != nil && w.brake.Holds(w.now) {
		f.Brake = w.brake
	}
	f.Access, f.Leaked, f.Untagged = w.accessWork(), w.leakFact(), slices.Clone(w.untagged)
	if observe { // what records a result knows no catalogue
		f.Hours = w.hours()
	}
	closed := w.attempts
	if a := w.open(); a != nil {
		seen := a.Attempt
		f.Open = &seen
		if observe {
			f.Runner = w.sight(a.Number)
			if !w.fair && w.now.Unix()%6 == 0 {
				f.Trouble = Trouble{Code: "RunnerEvicted", Message: "the runner's pod was evicted", Whose: "ocpctl", Next: "give it more"}
			}
		}
		closed = closed[:len(closed)-1]
	}
	if observe {
		f.Beside = w.beside()
	}
	if n := len(closed); n > 0 {
		last := closed[n-1].Attempt
		f.Last = &last
		for _, a := range closed[:n-1] {
			if a.Kind != Create && a.Kind != Destroy && a.Number > seenOf(w.row, &a.Attempt) {
				f.Missed = append(f.Missed, a.Attempt)
			}
		}
	}
	return f
}

// seenOf returns the number of the newest attempt of a kind that was accounted for.
func seenOf(c Cluster, a *Attempt) int {
	if a.Kind == Create || a.Kind == Destroy {
		return c.Seen
	}
	return c.Work[a.Kind].Seen
}

// settled reports that every attempt is over and accounted for.
func (w *world) settled() bool {
	return !slices.ContainsFunc(w.attempts, func(a *attempt) bool { return a.ClosedAt.IsZero() || a.Number > seenOf(w.row, &a.Attempt) })
}

// isQuiet is this test's own reading of what a cluster shows nothing of.
func isQuiet(k Kind) bool { return k == Access || k == Observe || k == Tag || k == Inform }

// beside lists the attempts but the open one whose runners are seen alive. Of one that is cut off nothing is known.
func (w *world) beside() (numbers []int) {
	if !w.fair && w.now.Unix()%2 == 0 { // the dispatcher did not answer: the start itself is then the last guard
		return nil
	}
	open := w.open()
	for _, r := range w.runners {
		if r.alive && !r.cut && (open == nil || r.attempt != open.Number) && !slices.Contains(numbers, r.attempt) {
			numbers = append(numbers, r.attempt)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// sight is what the dispatcher says of an attempt's process.
func (w *world) sight(number int) Sighting {
	var started, alive, cut bool
	for _, r := range w.runners {
		if r.attempt == number {
			started, alive, cut = true, alive || r.alive, cut || (r.alive && r.cut)
		}
	}
	switch {
	case cut, !w.fair && w.chance(8):
		return Unknown
	case alive:
		return Alive
	case started:
		return Ended
	}
	return NotStarted
}

// reconcile observes, decides and applies; a hostile outside may hold the decision back between the two.
func (w *world) reconcile(hold bool) {
	w.reconcileAsked = false
	h := heldDecision{w.think(w.facts(true)), w.row.Version}
	if hold {
		w.held = append(w.held, h)
		return
	}
	w.apply(h)
}

// think asks Decide and holds the answer against the rules.
func (w *world) think(f Facts) Decision {
	d := w.decide(w.row, f, limits)
	if !w.blind {
		w.judge(w.row, f, d)
	}
	return d
}

// apply is store.Apply: one transaction, guarded by the row's version and by whether the closing and opening still fit.
func (w *world) apply(h heldDecision) {
	open := w.open()
	misfit := h.d.Close != nil && (open == nil || open.Number != h.d.Close.Number || !open.LeaseUntil.Equal(h.d.Close.Lease))
	if h.d.Next.Phase != Released && w.row.Phase == Released && w.leaks != nil && w.leaks.nameOf != "" { // the name is unique among those that are not released
		w.reconcileAsked = true
		return
	}
	late := h.d.Open != "" && !w.freeFor(h.d.Open) || h.d.Open == Create && w.brake != nil && w.brake.Holds(w.now)
	if h.version != w.row.Version || misfit || late || (h.d.Open != "" && open != nil) {
		w.reconcileAsked = true
		return
	}
	w.commit(h.d)
}

func (w *world) commit(d Decision) {
	before := w.row
	w.row = d.Next
	if before.Phase == Released && w.row.Phase != Released {
		w.leaks = nil
	}
	w.row.Version = before.Version
	if material(before, d) {
		w.row.Version++
	}
	if a := w.open(); a != nil {
		a.StopAsked = a.StopAsked || d.StopNow
		if d.Close != nil {
			w.closeAttempt(a, Attempt{Outcome: d.Close.Outcome, Message: d.Close.Message})
		}
	}
	if d.Open != "" {
		a := &attempt{Attempt: Attempt{Number: len(w.attempts) + 1, Kind: d.Open, OpenedAt: w.now}}
		if a.Request = d.Request; d.Workers != nil {
			a.WorkersWanted = *d.Workers
		}
		if d.Open == Create {
			w.newCluster()
		}
		w.attempts = append(w.attempts, a)
	}
	for _, m := range d.Jobs {
		w.moveJob(m)
	}
	w.effects = append(w.effects, d.Effects...)
	w.queueForRunner(before, d)
	if d.Open != "" || d.Close != nil || before.Phase != w.row.Phase || before.Status != w.row.Status {
		w.note("decided %s/%s → %s/%s: %s (open %q, close %v)", before.Status, before.Phase, w.row.Status, w.row.Phase, w.row.Why.String(), d.Open, d.Close)
	}
	w.remember(before)
	w.inspect(before, d)
}

// remember keeps the transition of the decision just applied.
func (w *world) remember(before Cluster) {
	n := w.row
	if before.Status == n.Status && before.Phase == n.Phase {
		return
	}
	w.path = append(w.path, n.Phase)
	if w.moves != nil {
		w.moves[move{before.Status, before.Phase, n.Status, n.Phase, n.Why.String()}] = true
	}
}

// material reports a change that people or other deciders could see; the time of the next look is none.
func material(before Cluster, d Decision) bool {
	next := d.Next
	next.WakeAt = before.WakeAt
	return d.Close != nil || d.Open != "" || d.StopNow || !same(before, next)
}

// answerWait is store.Reserve where there is no capacity.
func (w *world) answerWait(place int) {
	if place == 0 {
		return
	}
	if w.queue.Position == 0 {
		w.queue.Since = w.now
	}
	w.queue.Position = max(w.queue.Position, place)
	w.queue.For, w.queue.AskedAt, w.queue.Asked = "the account is full", w.now, w.queue.Position
}

// granted is store.Reserve where there is capacity.
func (w *world) granted() {
	w.reconcileAsked = w.reconcileAsked || w.queue.Position > 0
	w.queue = QueuePosition{FreedAt: w.queue.FreedAt}
}

func (w *world) closeAttempt(a *attempt, how Attempt) {
	a.ClosedAt, a.Outcome, a.Reason, a.Message, a.Retryable = w.now, how.Outcome, how.Reason, how.Message, how.Retryable
	a.Whose, a.Next, a.WorkersSeen, a.AddonsSeen = how.Whose, how.Next, how.WorkersSeen, how.AddonsSeen
	a.AsleepSeen = how.AsleepSeen
	w.reconcileAsked = true
	if w.zeroProven(a.Attempt) {
		w.owed = false
	}
}

// moveJob is what a JobMove means in the public record.
func (w *world) moveJob(m JobMove) {
	at := -1
	for i, j := range w.jobs {
		if j.kind == m.Type && j.status != JobSucceeded && j.status != JobFailed {
			at = i
		}
	}
	if at < 0 {
		if m.To == JobSucceeded || m.To == JobFailed {
			return
		}
		w.jobs = append(w.jobs, publicJob{kind: m.Type})
		at = len(w.jobs) - 1
	}
	w.jobs[at].status = m.To
	for i, j := range w.jobs { // that of an attempt which nobody accounted for, because its kind is unknown, is over
		if len(w.added) > 0 && m.To == JobRunning && i != at && j.status == JobRunning {
			w.jobs[i].status = JobRetrying
		}
	}
	running := 0
	for _, j := range w.jobs {
		if j.status == JobRunning {
			running++
		}
	}
	if running > 1 {
		w.breach(fmt.Sprintf("two jobs RUNNING: %v", w.jobs), 0)
	}
}

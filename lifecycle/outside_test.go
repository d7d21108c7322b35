package lifecycle

import (
	"slices"
	"time"
)

// actions is everything that can happen next, the kindest first. Weights are repetitions.
var actions = []struct {
	weight int
	name   string
	do     func(*world)
}{
	{9, "a runner works", func(w *world) { w.some(func(r *runner) { w.work(r) }) }},
	{6, "reconcile", func(w *world) { w.reconcile(false) }},
	{3, "an effect arrives", func(w *world) { w.deliver(false) }},
	{3, "a little later", func(w *world) { w.tick(time.Duration(20+w.pick(100)) * time.Second) }},
	{2, "later", func(w *world) { w.tick(time.Duration(2+w.pick(25)) * time.Minute) }},
	{1, "hours later, after a scan of its account", func(w *world) {
		w.tick(time.Duration(1+w.pick(9)) * time.Hour)
		w.scan()
	}},
	{1, "reconcile, held back", func(w *world) { w.reconcile(true) }},
	{4, "a decision held back is applied", (*world).applyHeld},
	{1, "an effect is lost", func(w *world) { w.takeEffect() }},
	{1, "an effect arrives twice", func(w *world) { w.deliver(true) }},
	{1, "a late request arrives", (*world).lateRequest},
	{1, "the control plane restarts", func(w *world) { w.held = nil }},
	{1, "a runner is killed, its job gone", func(w *world) { w.some(kill) }},
	{1, "a runner is cut off", func(w *world) { w.some(func(r *runner) { r.cut = true }) }},
	{1, "a runner is reached again", func(w *world) { w.some(func(r *runner) { r.cut = false }) }},
	{1, "a pod starts twice", (*world).startTwice},
	{2, "the line moves up", (*world).moveUp},
	{1, "capacity comes free", (*world).freeCapacity},
	{2, "its turn comes nearer", (*world).nextTurn},
	{1, "an admin freezes or thaws", (*world).freeze},
	{1, "others take the runners", (*world).takeRunners},
	{1, "a pass over those that wait for a runner", (*world).assignRunners},
	{1, "somebody scales it", func(w *world) { w.rescale([]int{1, 5, 3, 9}[w.pick(4)]) }},
	{1, "somebody wants its add-ons anew", (*world).refresh},
	{1, "somebody asks for access", (*world).askAccess},
	{1, "somebody's access is revoked", (*world).revokeAccess},
	{2, "somebody puts it to sleep", func(w *world) { w.putToSleep([]time.Duration{0, time.Hour, 5 * time.Hour}[w.pick(3)]) }},
	{2, "somebody wakes it", (*world).wakeUp},
	{1, "somebody uses it", (*world).use},
	{1, "somebody works inside it", (*world).workInside},
	{1, "somebody keeps it awake tonight", (*world).keepAwake},
	{1, "people work at other times", (*world).reschedule},
	{2, "a person acts", func(w *world) { people[w.pick(len(people))].do(w) }},
}

// weighted is actions by weight.
var weighted = func() (all []int) {
	for i, a := range actions {
		all = append(all, slices.Repeat([]int{i}, a.weight)...)
	}
	return all
}()

// people is what users do.
var people = []struct {
	name string
	do   func(*world)
}{
	{"the pull request is closed", func(w *world) { w.setEnd(prClosed, w.now.Add(endGrace)) }},
	{"the pull request is reopened", func(w *world) { w.setEnd(prClosed, time.Time{}) }},
	{"the label is removed", func(w *world) { w.setEnd(labelRemoved, w.now.Add(endGrace)) }},
	{"the label is set again", func(w *world) { w.setEnd(labelRemoved, time.Time{}) }},
	{"the run ends", func(w *world) { w.setEnd(runFinished, w.now.Add(endGrace)) }},
	{"somebody extends it", (*world).extend},
	{"somebody destroys it", (*world).destroy},
	{"a maintainer approves it", func(w *world) {
		w.touch(func(c *Cluster) { c.NeedsApproval = false })
	}},
	{"somebody holds it", func(w *world) { w.hold(12 * time.Hour) }},
	{"somebody holds it past its maximum", func(w *world) { w.hold(40 * time.Hour) }},
	{"the hold is lifted", func(w *world) { w.touch(func(c *Cluster) { c.Ends.Hold = time.Time{} }) }},
	{"an admin abandons it", func(w *world) {
		if w.row.Status == Failed {
			w.touch(func(c *Cluster) { c.Abandoned = true })
		}
	}},
}

// touch is a person's write to the row: version and reconcile requests move in its transaction.
func (w *world) touch(change func(*Cluster)) {
	before := w.row
	if change(&w.row); w.row.Phase != Released && !same(before, w.row) {
		w.row.Version++
		w.reconcileAsked = true
		return
	}
	w.row = before
}

// setEnd is store.SetEnd: without effect once the request is absent.
func (w *world) setEnd(kind func(*Ends) *time.Time, at time.Time) {
	if end := kind(&w.row.Ends); w.row.Desired == Present && end.IsZero() != at.IsZero() {
		w.note("an end is set: %s", at)
		w.touch(func(c *Cluster) { *kind(&c.Ends) = at })
	}
}

func prClosed(e *Ends) *time.Time     { return &e.PRClosed }
func labelRemoved(e *Ends) *time.Time { return &e.LabelRemoved }
func runFinished(e *Ends) *time.Time  { return &e.RunFinished }

func (w *world) extend() {
	if w.row.Desired == Present {
		w.touch(func(c *Cluster) { c.Ends, _ = c.Ends.Extend(4 * time.Hour) })
	}
}

// destroy is store.Destroy: the request turns at once.
func (w *world) destroy() {
	if w.row.Desired == Absent || w.row.Phase == Released {
		return
	}
	w.note("somebody destroys it")
	w.touch(func(c *Cluster) {
		c.Desired, c.DesiredWhy, c.Teardown = Absent, Reason{Code: ReasonAsked, Words: "somebody asked for its end"}, JobDestroy
	})
	w.moveJob(JobMove{Type: JobDestroy, To: JobPending})
}

// some does something to one living runner.
func (w *world) some(do func(*runner)) {
	var alive []*runner
	for _, r := range w.runners {
		if r.alive {
			alive = append(alive, r)
		}
	}
	if len(alive) > 0 {
		do(alive[w.pick(len(alive))])
	}
}

func kill(r *runner) { r.alive, r.installing = false, false }

func (w *world) takeEffect() (Effect, bool) {
	if len(w.effects) == 0 {
		return Effect{}, false
	}
	i := w.pick(len(w.effects))
	e := w.effects[i]
	w.effects = slices.Delete(w.effects, i, i+1)
	return e, true
}

// deliver carries out one effect; it stays to be carried out again where it arrives twice.
func (w *world) deliver(twice bool) {
	e, ok := w.takeEffect()
	if !ok {
		return
	}
	if twice {
		w.effects = append(w.effects, e)
	}
	if e.Kind == Launch {
		w.start(e.Attempt, false)
		if a := w.attempts[e.Attempt-1]; a.ClosedAt.IsZero() && a.LaunchedAt.IsZero() {
			a.LaunchedAt = w.now
		}
		return
	}
	for _, r := range w.runners {
		if r.attempt == e.Attempt && !r.cut {
			r.term = true
		}
	}
}

// moveUp: one that waited longer has capacity now, or waits no more.
func (w *world) moveUp() {
	if w.queue.Position > 1 {
		w.queue.Position--
		w.reconcileAsked = true
	}
}

func (w *world) freeCapacity() {
	w.queue.FreedAt, w.reconcileAsked = w.now, true
}

// nextTurn is store.Turns: somebody in front had a turn, or this one has it now.
func (w *world) nextTurn() {
	if !w.row.NeedsTurn || w.row.Desired == Absent {
		return
	}
	if w.turn.Position--; w.turn.Position > 0 {
		w.reconcileAsked = true
		return
	}
	w.turn = Turn{}
	w.touch(func(c *Cluster) { c.NeedsTurn = false })
}

// rescale is store.Scale, but for its bounds: what is out of them slips through.
func (w *world) rescale(to int) {
	if w.row.Status == Ready && w.row.Desired == Present {
		w.note("somebody wants %d workers", to)
		w.touch(func(c *Cluster) {
			c.WorkersWanted = new(to)
			c.AskWork(Scale)
		})
		w.moveJob(JobMove{Type: JobScale, To: JobPending})
	}
}

// hold is store.Hold, but for the maximum.
func (w *world) hold(d time.Duration) {
	if w.row.Desired == Present {
		w.touch(func(c *Cluster) { c.Ends.Hold = epoch.Add(d) })
	}
}

func (w *world) startTwice() {
	if n := len(w.attempts); n > 0 {
		w.start(1+w.pick(n), true)
	}
}

func (w *world) applyHeld() {
	if len(w.held) > 0 {
		i := w.pick(len(w.held))
		h := w.held[i]
		w.held = slices.Delete(w.held, i, i+1)
		w.apply(h)
	}
}

func (w *world) lateRequest() {
	if len(w.late) > 0 {
		i := w.pick(len(w.late))
		do := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		do()
	}
}

package lifecycle

import (
	"cmp"
	"fmt"
	"time"
)

// runner is one process of an attempt, as a small machine: work makes it do the next thing it does.
type runner struct {
	attempt, pod int
	kind         Kind
	alive        bool
	cut          bool      // nothing it sends arrives, nobody can see it
	hung         bool      // it acts, but forgets its heartbeat
	claimed      bool      // a claim was answered
	term         bool      // told to stop, by an answer or a signal
	over         bool      // its own lease ran out: it acts no more
	fenced       bool      // told that the attempt is not its own
	installing   bool      // its install process lives, or the one that scales
	limit        time.Time // its own lease's end, as late as it can be, the stopping included

	phase         Phase
	phaseReported bool // the present phase is reported
	seq           int
	names         []string // what to remove, as told at the claim
	made          []string // names of its own, recorded
	steps         int      // left in the present phase
	pass          *Pass    // taken, not yet acknowledged
	passes        int
	passAt        time.Time
	dirty         bool
	quirk         quirk
	work          []*grant  // accesses to make or to revoke, as told at the claim
	sawUse        time.Time // newest hour in which it saw people's requests
	result        *Attempt  // its last word, not yet acknowledged
}

// quirk is what is wrong with a destroy runner. Its counts are honest; what it makes of them is not always.
type quirk int

const (
	honest    quirk = iota
	sloppy          // the tool exits 0 and leaves a thing behind
	hasty           // takes the second pass at once
	premature       // takes its passes while the tool still runs
	narrow          // looks only for the newest name
	single          // one pass is enough for it
	liar            // believes the exit code
	failing         // the tool fails
)

// start is dispatch.Start: once per attempt, unless the outside starts a second pod.
func (w *world) start(number int, again bool) {
	for _, r := range w.runners {
		if r.attempt == number && !again {
			return
		}
	}
	r := &runner{attempt: number, pod: len(w.runners) + 1, kind: w.attempts[number-1].Kind, alive: true}
	if !w.fair {
		r.quirk = quirk(max(0, w.pick(16)-8))
		r.hung = w.chance(20)
	}
	w.runners = append(w.runners, r)
	w.note("pod %d starts for attempt %d (%s, quirk %d)", r.pod, number, r.kind, r.quirk)
}

// ask sends a request over a network that loses requests, loses answers, doubles and delays.
func (w *world) ask(r *runner, handle func() answer) answer {
	if r.cut {
		return answer{lost: true}
	}
	if !w.fair {
		switch w.pick(24) {
		case 20:
			return answer{lost: true}
		case 21: // committed, but the acknowledgement is lost
			handle()
			return answer{lost: true}
		case 22:
			handle()
		case 23:
			w.late = append(w.late, func() { handle() })
			return answer{lost: true}
		}
	}
	return w.askAtOnce(r, handle)
}

// askAtOnce sends a request over a network that works.
func (w *world) askAtOnce(r *runner, handle func() answer) answer {
	a := handle()
	w.heard(r, a)
	return a
}

// heard takes in an answer. The runner's clock starts when the answer arrives, the server's started before.
func (w *world) heard(r *runner, a answer) {
	if a.fenced {
		r.fenced = true
		r.limit = w.now // it ends at once, but for a living install, which takes its time to stop
		if r.installing {
			r.limit = w.now.Add(stopping)
		}
		return
	}
	r.limit = w.now.Add(transit + lease + stopping)
	r.term = r.term || a.stop
}

func (r *runner) enter(p Phase, steps int) { r.phase, r.phaseReported, r.steps = p, false, steps }

// work lets a runner do its next thing.
func (w *world) work(r *runner) {
	switch {
	case !r.alive:
	case r.fenced:
		if r.alive = w.now.Before(r.limit); !r.alive {
			r.installing = false
		}
	case !r.claimed:
		w.begin(r)
	case r.result != nil:
		w.post(r)
	case r.over || r.term: // the install process ends first, then it tells
		r.installing = false
		r.result = &Attempt{Outcome: Stopped, Reason: "Stopped", Message: "the runner was told to stop"}
	case r.kind == Create:
		w.install(r)
	case r.kind == Scale:
		w.scaling(r)
	case r.kind == Configure:
		w.configuring(r)
	case r.kind == Access:
		w.accessing(r)
	case r.kind == Sleep || r.kind == Wake:
		w.powering(r)
	case r.kind == Observe:
		w.observing(r)
	case r.kind == Tag:
		w.tagging(r)
	case w.added[r.kind] != nil:
		w.added[r.kind](w, r)
	default:
		w.teardown(r)
	}
}

// begin claims the attempt. A runner that is told to stop instead has nothing to do.
func (w *world) begin(r *runner) {
	number, pod := r.attempt, r.pod
	a := w.ask(r, func() answer { return w.claim(number, pod) })
	switch {
	case a.lost || a.fenced:
	case a.stop:
		r.alive = false
	default:
		r.claimed, r.names, r.work = true, a.names, a.work
		r.enter(cmp.Or(map[Kind]Phase{Create: Preflight, Destroy: Restoring, Scale: Restoring, Configure: Restoring, Access: Restoring, Sleep: Restoring, Wake: Restoring, Observe: Restoring, Tag: Tagging}[r.kind], Restoring), 0)
	}
}

func (w *world) post(r *runner) {
	number, pod, how, used := r.attempt, r.pod, *r.result, r.sawUse
	if a := w.ask(r, func() answer { return w.result(number, pod, how, used) }); !a.lost {
		w.note("attempt %d: %s %s", number, how.Outcome, how.Reason)
		r.alive = false
	}
}

// say reports the present phase, once it arrives.
func (w *world) say(r *runner, exit bool) {
	rep := report{seq: r.seq + 1, phase: r.phase, exit: exit}
	if !w.fair && w.chance(40) {
		rep.phase = []Phase{"", Cleaning, Stopping, Released, "nonsense"}[w.pick(5)]
	}
	number, pod := r.attempt, r.pod
	if a := w.ask(r, func() answer { return w.reported(number, pod, rep) }); !a.lost {
		r.seq, r.phaseReported = rep.seq, true
	}
}

func (w *world) install(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		if r.phase != Installing { // the installer does not wait for a report
			return
		}
	}
	switch r.phase {
	case Preflight:
		if !w.fair && w.chance(10) {
			w.answerWait([]int{0, 1, 2, 5, 9}[w.pick(5)]) // 0: an older runner, which asks nobody to reserve capacity
			r.result = &Attempt{Outcome: Waiting, Reason: "NoCapacity", Message: "the account is full"}
			return
		}
		w.granted()
		r.enter(Claiming, w.pick(2))
	case Claiming:
		if r.steps == 0 || w.recorded(r, fmt.Sprintf("ccoctl-%d", r.attempt), Claiming) {
			r.enter(Rendering, 0)
		}
	case Rendering:
		if !w.fails(r, 10) {
			r.enter(Recording, 0)
		}
	case Recording:
		if w.recorded(r, fmt.Sprintf("infra-%d", r.attempt), Installing) {
			r.installing = true
			r.enter(Installing, 4+w.pick(12))
		}
	case Installing:
		if r.steps--; r.steps%4 == 0 {
			w.build(r, r.made[len(r.made)-1])
		}
		if w.fails(r, 30) || r.steps > 0 {
			return
		}
		r.installing = false
		r.enter(Configuring, 0)
	case Configuring:
		if !w.fair && w.chance(4) { // it does not give the access that was asked for with the cluster
			r.work = nil
		}
		if len(r.work) > 0 {
			w.changeAccess(r)
			return
		}
		r.result = w.installed()
	}
}

// fails ends a create with an error, once in n.
func (w *world) fails(r *runner, n int) bool {
	if w.fair || !w.chance(n) {
		return false
	}
	r.installing = false
	r.result = &Attempt{Outcome: Failure, Reason: "InstallFailed", Message: "the installer ended with an error", Retryable: w.pick(3) < 2}
	return true
}

// recorded asks for an acknowledgement and makes something only with it in hand.
func (w *world) recorded(r *runner, name string, phase Phase) bool {
	number, pod := r.attempt, r.pod
	a := w.ask(r, func() answer { return w.record(number, pod, name, phase) })
	if a.lost || a.fenced || r.term {
		return false
	}
	r.made = append(r.made, name)
	w.build(r, name)
	return true
}

func (w *world) build(r *runner, name string) {
	for _, other := range w.runners {
		if other.alive && other.kind == Destroy && other.claimed && !other.over && other.result == nil {
			w.breach(fmt.Sprintf("attempt %d builds beside the destroyer of attempt %d", r.attempt, other.attempt), 5)
		}
	}
	t := thing{}
	if !w.fair {
		t.stubborn, t.hidden = w.chance(12), w.chance(6)
	}
	w.cloud[name] = append(w.cloud[name], t)
}

package lifecycle

import (
	"slices"
	"time"
)

func (w *world) teardown(r *runner) {
	if !r.phaseReported {
		exit := r.phase == Verifying && len(r.names) > 0
		w.say(r, exit)
		return
	}
	switch r.phase {
	case Restoring:
		if r.quirk == narrow && len(r.names) > 1 {
			r.names = r.names[len(r.names)-1:]
		}
		r.enter(DestroyingRuns, len(r.names))
	case DestroyingRuns:
		switch {
		case r.steps > 0:
			w.remove(r, r.names[r.steps-1])
			r.steps--
		case r.quirk == premature && r.passes < 2:
			w.verify(r)
		default:
			w.toolEnds(r)
		}
	case Verifying:
		w.conclude(r)
	}
}

// remove is the destroyer's act. It never happens beside a living install.
func (w *world) remove(r *runner, name string) {
	if w.installing() {
		w.breach("a destroy runner acts beside a living install", 5)
	}
	spared := false
	w.cloud[name] = slices.DeleteFunc(w.cloud[name], func(t thing) bool {
		if r.quirk == sloppy && !spared {
			spared = true
			return false
		}
		return t.listed(w.now) && (!t.stubborn || w.freed)
	})
}

// toolEnds ends the destroyer's process. What the cloud hid until now begins to show within the gap between two passes.
func (w *world) toolEnds(r *runner) {
	for _, things := range w.cloud {
		for i := range things {
			if things[i].hidden && things[i].shows.IsZero() {
				things[i].shows = w.now.Add(limits.VerifyGap * time.Duration(w.pick(4)) / 4)
			}
		}
	}
	if r.quirk == failing {
		r.result = &Attempt{Outcome: Failure, Reason: "DestroyFailed", Message: "the destroyer ended with an error"}
		return
	}
	r.enter(Verifying, 0)
}

// conclude takes the passes a runner of its kind takes and ends the attempt.
func (w *world) conclude(r *runner) {
	need := map[quirk]int{single: 1, liar: 0}
	n, few := need[r.quirk]
	if !few {
		n = 2
	}
	switch {
	case r.dirty && r.quirk != liar:
		r.result = &Attempt{Outcome: Failure, Reason: "LeftoversFound", Message: "something is left"}
	case r.passes >= n:
		r.result = &Attempt{Outcome: Succeeded}
	default:
		w.verify(r)
	}
}

// verify takes one pass and reports it until it is acknowledged.
//
// A pass counts from its arrival, so the server cannot tell a hasty runner behind a slow network from an honest one:
// the gap is the runner's duty first. A hasty one is caught where its reports arrive at once.
func (w *world) verify(r *runner) {
	if r.passes > 0 && r.quirk != hasty && w.now.Before(r.passAt.Add(limits.VerifyGap)) {
		return // it waits
	}
	if r.pass == nil {
		p := w.count(r.names)
		r.pass = &p
	}
	rep := report{seq: r.seq + 1, phase: Verifying, pass: r.pass}
	number, pod := r.attempt, r.pod
	ask := w.ask
	if r.quirk == hasty {
		ask = w.askAtOnce
	}
	if a := ask(r, func() answer { return w.reported(number, pod, rep) }); !a.lost {
		r.seq, r.passes, r.passAt = rep.seq, r.passes+1, w.now
		r.dirty = r.dirty || !r.pass.Clean
		r.pass = nil
	}
}

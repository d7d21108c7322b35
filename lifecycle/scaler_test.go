package lifecycle

import "slices"

// scaling is a scale runner's way: it asks the cluster for another number of workers and waits until they are there.
func (w *world) scaling(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		return
	}
	wanted := w.attempts[r.attempt-1].WorkersWanted
	switch r.phase {
	case Restoring:
		r.installing = true
		r.enter(Scaling, 4+w.pick(12))
	case Scaling:
		w.accessBeside(r)
		w.needsPower(r)
		if r.steps--; r.steps%4 == 0 {
			w.resize(r, wanted)
		}
		if r.steps > 0 {
			return
		}
		r.installing = false
		r.result = &Attempt{Outcome: Succeeded, WorkersSeen: new(wanted)}
		if !w.fair {
			w.scalingFails(r)
		}
	}
}

// scalingFails makes something else of a scaling, once in a while.
func (w *world) scalingFails(r *runner) {
	switch w.pick(8) {
	case 4:
		r.result = &Attempt{Outcome: Failure, Reason: "WorkersNotReady", Message: "one worker never came up", Retryable: true, WorkersSeen: new(2)}
	case 5:
		r.result = &Attempt{Outcome: Failure, Reason: "ScaleRefused", Message: "the cluster refused it", Retryable: w.chance(2)}
	case 6:
		r.result = &Attempt{Outcome: Succeeded}
	case 7:
		r.result = &Attempt{Outcome: Succeeded, WorkersSeen: new(2)}
	}
}

// resize makes and removes machines, under the name that was recorded for the cluster.
func (w *world) resize(r *runner, wanted int) {
	if len(r.names) == 0 {
		return
	}
	name := r.names[len(r.names)-1]
	w.build(r, name)
	if wanted < 3 {
		w.cloud[name] = slices.Delete(w.cloud[name], 0, 1)
	}
}

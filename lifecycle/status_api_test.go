package lifecycle

import (
	"slices"
	"time"
)

// heldBy is the open attempt of that number if that pod holds it.
func (w *world) heldBy(number, pod int) *attempt {
	a := w.attempts[number-1]
	if !a.ClosedAt.IsZero() || a.pod != pod {
		return nil
	}
	return a
}

func (w *world) claim(number, pod int) answer {
	a := w.attempts[number-1]
	switch {
	case !a.ClosedAt.IsZero() || (a.pod != 0 && a.pod != pod):
		return answer{fenced: true}
	case a.pod == 0 && w.unwanted(a):
		return answer{stop: true}
	case a.pod == 0:
		a.pod, a.ClaimedAt, w.reconcileAsked = pod, w.now, true
	}
	a.LeaseUntil = w.now.Add(lease)
	told := answer{stop: a.StopAsked, names: slices.Clone(w.identities)}
	if a.Kind == Create || a.Kind == Access {
		told.work = w.differing()
	}
	return told
}

func (w *world) unwanted(a *attempt) bool {
	return a.StopAsked || (a.Kind != Destroy && w.row.Desired == Absent)
}

func (w *world) beat(number, pod int) answer {
	a := w.heldBy(number, pod)
	if a == nil {
		return answer{fenced: true}
	}
	a.LeaseUntil = w.now.Add(lease)
	return answer{stop: a.StopAsked}
}

// record is the acknowledgement: one transaction stores the name and lets Decide move the cluster, or the answer is stop.
func (w *world) record(number, pod int, name string, phase Phase) answer {
	a := w.heldBy(number, pod)
	switch {
	case a == nil:
		return answer{fenced: true}
	case w.unwanted(a):
		return answer{stop: true}
	case slices.Contains(w.identities, name):
		return w.beat(number, pod)
	}
	a.Recorded, a.Phase, a.LeaseUntil = true, phase, w.now.Add(lease)
	w.identities, w.owed = append(w.identities, name), true
	f := w.facts(false)
	f.Runner = Alive // it is talking to us
	d := w.think(f)
	w.commit(d)
	if d.StopNow || d.Close != nil {
		return answer{stop: true}
	}
	if w.row.Desired != Present || w.row.Status != Creating {
		w.breach("a record was acknowledged to a cluster that is not being created", 6)
	}
	return answer{}
}

// report is one numbered report: a repeated or overtaken number changes nothing.
type report struct {
	seq   int
	phase Phase
	exit  bool
	pass  *Pass
}

func (w *world) reported(number, pod int, r report) answer {
	a := w.heldBy(number, pod)
	if a == nil {
		return answer{fenced: true}
	}
	a.LeaseUntil = w.now.Add(lease)
	if r.seq > a.seq {
		a.seq, a.Phase, w.reconcileAsked = r.seq, r.phase, true
		a.Progress.Percent = min(100, r.seq*5)
		if r.exit && a.ToolExitedAt.IsZero() {
			a.ToolExitedAt = w.now
		}
		if r.pass != nil {
			p := *r.pass
			p.At = w.now
			a.Passes = append(a.Passes, p)
		}
	}
	return answer{stop: a.StopAsked}
}

func (w *world) result(number, pod int, how Attempt, used time.Time) answer {
	a := w.heldBy(number, pod)
	if a == nil {
		return answer{fenced: true}
	}
	w.closeAttempt(a, how)
	if how.Outcome == Succeeded {
		w.observed(used)
	}
	return answer{}
}

// zeroProven is this test's own reading of rule 7, written apart from the code it guards.
func (w *world) zeroProven(a Attempt) bool {
	n := len(a.Passes)
	if a.Kind != Destroy || n < 2 || a.OpenedAt.Before(w.row.ReopenedAt) || a.Passes[n-1].At.Sub(a.Passes[n-2].At) < limits.VerifyGap {
		return false
	}
	for _, p := range a.Passes[n-2:] {
		for _, name := range w.identities {
			if !slices.Contains(p.Identities, name) || a.ToolExitedAt.IsZero() || p.At.Before(a.ToolExitedAt) {
				return false
			}
		}
		if !p.Clean {
			return false
		}
	}
	return true
}

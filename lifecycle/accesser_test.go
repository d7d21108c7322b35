package lifecycle

// grant is one access as the store has it: asked for, perhaps made, perhaps revoked.
type grant struct {
	number  int  // of the request
	begun   bool // a runner was told to make it, so it may be valid in the cluster
	made    bool
	revoked bool
	removed bool
}

// gives and takes say what a runner has to do about it.
func (g *grant) gives() bool { return !g.revoked && !g.made }
func (g *grant) takes() bool { return g.revoked && g.begun && !g.removed }

// accessWork is what store.Load counts.
func (w *world) accessWork() (work AccessWork) {
	for _, g := range w.access {
		if g.gives() && g.number > w.row.Work[Access].Done {
			work.Give++
		}
		if g.takes() {
			work.Take++
		}
	}
	return work
}

// differing is a runner's work, as told at its claim. What it is told may be valid in the cluster from then on.
func (w *world) differing() (work []*grant) {
	for _, g := range w.access {
		if g.gives() && g.number > w.row.Work[Access].Done {
			g.begun = true
			work = append(work, g)
		}
		if g.takes() {
			work = append(work, g)
		}
	}
	return work
}

// newCluster is what opening a create means: nobody has access to a cluster that does not exist yet.
func (w *world) newCluster() {
	for _, g := range w.access {
		g.made, g.removed = false, g.revoked
	}
}

// changeAccess does one part of a runner's work and reports it.
func (w *world) changeAccess(r *runner) {
	number, pod, g := r.attempt, r.pod, r.work[0]
	a := w.ask(r, func() answer {
		if w.heldBy(number, pod) == nil {
			return answer{fenced: true}
		}
		g.made, g.removed = g.made || g.gives(), g.removed || g.takes()
		w.reconcileAsked = true
		return w.beat(number, pod)
	})
	if !a.lost {
		r.work = r.work[1:]
	}
}

// accessBeside lets a runner that scales or refreshes change access while it waits.
func (w *world) accessBeside(r *runner) {
	if w.row.Desired == Present && w.chance(2) {
		r.work = w.differing()
	}
	if len(r.work) > 0 {
		w.changeAccess(r)
	}
}

// accessing is an access runner's way.
func (w *world) accessing(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		return
	}
	switch r.phase {
	case Restoring:
		r.enter(Accessing, 0)
	case Accessing:
		switch {
		case !w.fair && w.chance(6):
			r.result = &Attempt{Outcome: Failure, Reason: "ClusterUnreachable", Message: "the cluster's API did not answer", Retryable: w.pick(3) < 2}
		case !w.fair && w.chance(6):
			r.result = &Attempt{Outcome: Succeeded} // and did not do it
		case len(r.work) > 0:
			w.changeAccess(r)
		default:
			r.result = &Attempt{Outcome: Succeeded}
		}
	}
}

// askAccess is store/access.Ask.
func (w *world) askAccess() {
	if w.row.Status != Ready || w.row.Desired != Present || len(w.access) > 6 {
		return
	}
	w.note("somebody asks for access")
	w.access = append(w.access, &grant{number: w.row.Work[Access].Wanted + 1})
	w.wantAccess()
}

// revokeAccess is store/access.Revoke of one access.
func (w *world) revokeAccess() {
	for _, g := range w.access {
		if !g.revoked && w.row.Phase != Released {
			w.note("access %d is revoked", g.number)
			if g.revoked = true; w.row.Desired == Present {
				w.wantAccess()
			}
			return
		}
	}
}

func (w *world) wantAccess() {
	w.touch(func(c *Cluster) { c.AskWork(Access) })
	w.moveJob(JobMove{Type: JobAccess, To: JobPending})
}

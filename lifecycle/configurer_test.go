package lifecycle

// configuring is a configure runner's way: it applies the add-ons and waits until they work. What they make in the cloud, they
// make under the name that was recorded for the cluster.
func (w *world) configuring(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		return
	}
	switch r.phase {
	case Restoring:
		r.installing = true
		r.enter(Configuring, 4+w.pick(12))
	case Configuring:
		w.accessBeside(r)
		w.needsPower(r)
		if r.steps--; r.steps%4 == 0 && len(r.names) > 0 {
			w.build(r, r.names[len(r.names)-1])
		}
		if r.steps > 0 {
			return
		}
		r.installing = false
		r.result = &Attempt{Outcome: Succeeded, AddonsSeen: new(len(w.row.Addons))}
		if w.fair {
			return
		}
		switch w.pick(8) {
		case 4:
			r.result = &Attempt{Outcome: Failure, Reason: "AddonsMissing", Message: "cert-manager never came up", Retryable: true, AddonsSeen: new(1)}
		case 5:
			r.result = &Attempt{Outcome: Failure, Reason: "KubeconfigMissing", Message: "no kubeconfig was kept", Retryable: w.chance(2)}
		case 6:
			r.result = &Attempt{Outcome: Succeeded}
		case 7:
			r.result = &Attempt{Outcome: Succeeded, AddonsSeen: new(1)}
		}
	}
}

// installed is how a create ends that works: with its add-ons, or, where the outside is hostile, without some of them.
func (w *world) installed() *Attempt {
	done := &Attempt{Outcome: Succeeded, AddonsSeen: new(len(w.row.Addons))}
	if len(w.row.Addons) > 0 && !w.fair {
		switch w.pick(6) {
		case 4:
			done.AddonsSeen = new(1)
		case 5:
			done.AddonsSeen = nil // an older runner, which knows no add-ons
		}
	}
	return done
}

// refresh is store.WantRefresh, but for the add-ons: that a cluster has none slips through.
func (w *world) refresh() {
	if w.row.Status != Ready || w.row.Desired != Present {
		return
	}
	w.note("somebody wants the add-ons anew")
	w.touch(func(c *Cluster) { c.AskWork(Configure) })
	w.moveJob(JobMove{Type: JobConfigure, To: JobPending})
}

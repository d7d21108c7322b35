package lifecycle

// scan looks through the account, and sees something without the cluster's tags: new things, or those that the last scans saw so.
func (w *world) scan() {
	if w.row.Status == Pending || w.row.Phase == Released {
		return
	}
	w.note("a scan sees something without tags")
	for i := range w.untagged {
		w.untagged[i].Sights++
		w.untagged[i].At = w.now
	}
	if len(w.untagged) == 0 || w.chance(3) {
		w.untagged = append(w.untagged, Untagged{Sights: 1, At: w.now})
	}
	w.reconcileAsked = true
}

// tagging is the way of a runner that attaches tags. What it leaves without is seen so by the next scan.
func (w *world) tagging(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		r.installing, r.steps = true, 1+w.pick(4)
		return
	}
	w.needsPower(r)
	if r.steps--; r.steps > 0 {
		return
	}
	r.installing = false
	r.result = &Attempt{Outcome: Succeeded, Message: "3 resources have the cluster's tags now"}
	if w.untaggable || !w.fair && w.chance(3) {
		r.result = &Attempt{Outcome: Failure, Reason: "NotTagged", Message: "1 resource was refused", Retryable: true}
		return
	}
	w.untagged = nil
}

package lifecycle

import "time"

// observing is the way of a runner that looks for people's requests.
func (w *world) observing(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		return
	}
	switch r.phase {
	case Restoring:
		r.installing = true
		r.enter(Observing, 1+w.pick(3))
	case Observing:
		w.needsPower(r)
		if r.steps--; r.steps > 0 {
			return
		}
		r.installing = false
		r.result = &Attempt{Outcome: Succeeded, Message: "its API server was asked"}
		if w.now.Sub(w.requested) < 24*time.Hour {
			r.sawUse = w.requested.Truncate(time.Hour)
		}
		if w.unanswered || !w.fair && w.pick(5) > 2 {
			r.result = &Attempt{Outcome: Failure, Reason: "RequestsUnknown", Message: "its API did not answer", Retryable: w.unanswered || w.pick(3) < 2}
		}
	}
}

// work inside it is what ocpctl sees only by looking.
func (w *world) workInside() {
	if w.row.Status == Ready && w.row.Usable() {
		w.note("somebody works inside it")
		w.requested = w.now
	}
}

// used notes use in the row, as the store does.
func (w *world) used(at time.Time, what Activity) {
	w.touch(func(c *Cluster) {
		c.ActiveAt, c.ActiveWhat = at, what
		if end := at.Add(w.ttl); c.UseExtends && end.After(c.Ends.TTL) {
			c.Ends, _ = c.Ends.Extend(end.Sub(c.Ends.TTL))
		}
	})
}

// observed is what store.Result does about the use that a runner saw.
func (w *world) observed(hour time.Time) {
	if at := HourUsed(hour, w.now); !hour.IsZero() && w.row.Status == Ready && w.row.Desired == Present && w.row.UseMatters() && at.After(w.row.UnusedSince()) {
		w.used(at, ActivityRequests)
		w.touch(func(c *Cluster) {
			if c.ToldTooEarly(at) {
				c.IdleTold = time.Time{}
			}
		})
	}
}

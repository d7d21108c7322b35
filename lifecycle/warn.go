package lifecycle

import "time"

// warnings returns how long before its end a cluster's people are warned.
func (c Cluster) warnings(l Limits) []time.Duration {
	if len(c.WarnBefore) == 0 {
		return []time.Duration{l.WarnBefore}
	}
	return c.WarnBefore
}

// nearEnd reports that the time of the earliest warning has come.
func (m *deciding) nearEnd() bool {
	if m.next().Pooled { // nobody has it
		return false
	}
	end := m.next().Ends.DestroyAt()
	for _, before := range m.next().warnings(m.l) {
		if !m.f.Now.Before(end.Add(-before)) {
			return true
		}
	}
	return false
}

// warn gives the warning that is due, once for each end: of several, e.g. after a downtime, only the one nearest to the end. An end
// that moved is warned of again. A cluster that becomes ready close to its end gets no warning of that: what says that it is ready
// also says when it ends.
func (m *deciding) warn() {
	n := m.next()
	if n.Status != Ready || !m.isWanted() || n.Pooled {
		return
	}
	end := n.Ends.DestroyAt()
	due := time.Duration(0)
	for _, before := range n.warnings(m.l) {
		if !m.f.Now.Before(end.Add(-before)) && (due == 0 || before < due) {
			due = before
		}
	}
	if due == 0 || n.WarnedEnd.Equal(end) && n.WarnedBefore <= due {
		return
	}
	n.WarnedEnd, n.WarnedBefore = end, due
	if !m.c.ReadyAt.IsZero() {
		m.d.Warn = due
	}
}

// nextWarning returns when the next warning is due; zero: none is to come.
func (m *deciding) nextWarning() (at time.Time) {
	end := m.next().Ends.DestroyAt()
	for _, before := range m.next().warnings(m.l) {
		if t := end.Add(-before); t.After(m.f.Now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

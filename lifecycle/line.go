package lifecycle

import "time"

// longestLook is how long the next in line leaves between two looks for room, however long it has waited: a limit that
// somebody raised is seen within that time, for nothing tells of it.
const longestLook = 5 * time.Minute

// queue says what a cluster without room waits for, and sets when to look for room again: at once when something changed in
// its favour, else the later the longer it has waited and the more wait before it. Whoever waits is told when the places
// move, so that a late look costs nothing.
func (m *mind) queue() {
	n, last := m.next(), m.f.Last
	if n.Phase != AwaitingCapacity || last == nil {
		return
	}
	n.RetryAt = last.ClosedAt.Add(m.l.pace(m.f.Line, last.ClosedAt))
	if m.f.Line.favours(*last) {
		n.RetryAt = time.Time{}
	}
	if at := m.f.Line.passes(*last, m.l.RetryBase); !at.IsZero() && at.Before(n.RetryAt) {
		n.RetryAt = at
	}
	m.say(Pending, AwaitingCapacity, "%s", m.waits(*last))
}

// pace is how long to leave between a look that ended then and the next, in whole seconds where it grew: a store keeps no
// finer a time than microseconds, and a wake-up must not come before it is due.
func (l Limits) pace(line Line, ended time.Time) time.Duration {
	wait := l.backoff(line.Place)
	if !line.Since.IsZero() {
		wait = max(wait, min(ended.Sub(line.Since)/4, longestLook).Truncate(time.Second))
	}
	return wait
}

// favours reports that since the last look room came free, or that it became the next, and that it is the next.
func (l Line) favours(last Attempt) bool {
	if l.Place != 1 {
		return false
	}
	if l.AskedAt.Before(last.OpenedAt) { // the last look did not get to ask: what was news to it stays news for ever
		return l.FreedAt.After(last.ClosedAt)
	}
	return l.FreedAt.After(l.AskedAt) || l.Asked > 1
}

// passes is when to look because it may be let past those before it, and has not asked since; zero: there is nothing to look
// for. A look that ended without asking is repeated after the first wait.
func (l Line) passes(last Attempt, again time.Duration) time.Time {
	switch {
	case l.Place < 2 || l.PassAt.IsZero() || !l.AskedAt.Before(l.PassAt):
		return time.Time{}
	case last.ClosedAt.After(l.PassAt):
		return last.ClosedAt.Add(again)
	}
	return l.PassAt
}

// waits says what a cluster without room waits for. Its place is shown beside it.
func (m *mind) waits(a Attempt) string {
	if m.f.Line.Place == 0 {
		return "no room in the cloud account: " + a.Message
	}
	words := "waiting for room in the cloud account: " + m.f.Line.For
	if m.f.Line.Passed != "" {
		words += "; " + m.f.Line.Passed
	}
	return words
}

// keepsPlace reports that an attempt ended without a word of its own while its cluster stood in line, and made nothing: the
// cluster goes on to wait, and no try is spent.
func (m *mind) keepsPlace(a Attempt) bool {
	ours := a.Outcome == Lost || a.Outcome == Stopped || a.Outcome == Cancelled
	return ours && !a.Recorded && m.f.Line.Place > 0
}

// looks reports that the open attempt of a cluster that waits has found no room so far. Until it has, nothing is shown of it.
func (m *mind) looks(phase Phase) bool {
	n := m.next()
	granted := n.Place > 0 && m.f.Line.Place == 0
	return n.Phase == AwaitingCapacity && phase == Preflight && !granted
}

// keepPlace remembers the place that is shown; who does not wait has none.
func (m *mind) keepPlace() {
	n := m.next()
	switch n.Place = 0; {
	case n.Phase != AwaitingCapacity:
	case n.NeedsTurn:
		n.Place = m.f.Turn.Place
	default:
		n.Place = m.f.Line.Place
	}
}

package lifecycle

import "time"

// longestLook is the longest interval between two checks for capacity by the next cluster in the queue. A raised limit is noticed
// within that time; no event announces it.
const longestLook = 5 * time.Minute

// queue says what a waiting cluster waits for, and sets when to check for capacity again: at once if something changed in its favour,
// otherwise at intervals that grow with its waiting time and its position. Clusters are woken when positions change, so a long
// interval delays nobody.
func (m *deciding) queue() {
	n, last := m.next(), m.f.Last
	if !m.waitsForCapacity() {
		return
	}
	n.RetryAt = last.ClosedAt.Add(m.l.pace(m.f.Queue, last.ClosedAt))
	if m.f.Queue.favours(*last) {
		n.RetryAt = time.Time{}
	}
	if at := m.f.Queue.passes(*last, m.l.RetryBase); !at.IsZero() && at.Before(n.RetryAt) {
		n.RetryAt = at
	}
	m.say(Pending, AwaitingCapacity, "%s", m.waits(*last))
}

// pace is the wait after a check that ended at that time. A wait that grew is in whole seconds: the store keeps microseconds, and a
// wake-up must not come before it is due.
func (l Limits) pace(line QueuePosition, ended time.Time) time.Duration {
	wait := l.backoff(line.Position)
	if !line.Since.IsZero() {
		wait = max(wait, min(ended.Sub(line.Since)/4, longestLook).Truncate(time.Second))
	}
	return wait
}

// favours reports that it is next in the queue, and that since its last check it became the next or capacity was freed.
func (l QueuePosition) favours(last Attempt) bool {
	if l.Position != 1 {
		return false
	}
	if l.AskedAt.Before(last.OpenedAt) { // the last check ended before it asked, so AskedAt never advances: compare with its end, or the same news would count for ever
		return l.FreedAt.After(last.ClosedAt)
	}
	return l.FreedAt.After(l.AskedAt) || l.Asked > 1
}

// passes returns when to check because it may pass those before it and has not asked since then; zero: there is no reason to. A check
// that ended without asking is repeated after the first wait.
func (l QueuePosition) passes(last Attempt, again time.Duration) time.Time {
	switch {
	case l.Position < 2 || l.PassAt.IsZero() || !l.AskedAt.Before(l.PassAt):
		return time.Time{}
	case last.ClosedAt.After(l.PassAt):
		return last.ClosedAt.Add(again)
	}
	return l.PassAt
}

// waits says what a cluster without capacity waits for, without its position, which is shown beside it.
func (m *deciding) waits(a Attempt) string {
	if m.f.Queue.Position == 0 {
		return "not enough capacity in the cloud account: " + a.Message
	}
	text := "waiting for capacity in the cloud account: " + m.f.Queue.For
	if m.f.Queue.Passed != "" {
		text += "; " + m.f.Queue.Passed
	}
	return text
}

// keepsPlace reports that an attempt of a waiting cluster ended without a result and created nothing. The cluster goes on waiting,
// and no try is spent.
func (m *deciding) keepsPlace(a Attempt) bool {
	ours := a.Outcome == Lost || a.wasStopped()
	return ours && !a.Recorded && m.f.Queue.Position > 0
}

// waitsForCapacity reports that no attempt is open and that the newest one found no capacity, or ended before it found some. Another
// cluster in the same phase waits for its turn or for a free runner.
func (m *deciding) waitsForCapacity() bool {
	last := m.f.Last
	return m.next().Phase == AwaitingCapacity && last != nil && last.Kind == Create && (last.Outcome == Waiting || m.keepsPlace(*last))
}

// looks reports that the open attempt of a waiting cluster has found no capacity so far. Until it does, nothing of the attempt is
// shown.
func (m *deciding) looks(phase Phase) bool {
	n := m.next()
	granted := n.Position > 0 && m.f.Queue.Position == 0
	return n.Phase == AwaitingCapacity && phase == Preflight && !granted
}

// keepPlace stores the position that is shown; 0 for a cluster that does not wait.
func (m *deciding) keepPlace() {
	n := m.next()
	switch n.Position = 0; {
	case m.d.Wait != nil && (m.f.Queue.Position == 0 || !m.waitsForCapacity()): // always positive: the store looks for it
		n.Position = m.d.Wait.Position
	case n.Phase != AwaitingCapacity:
	case n.NeedsTurn:
		n.Position = m.f.Turn.Position
	default:
		n.Position = m.f.Queue.Position
	}
}

package lifecycle

import (
	"time"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

// Hours is what the schedule in force says of one moment. It comes from the catalogue at each decision, so that a new holiday counts at once.
type Hours struct {
	Scheduled bool      // somebody said when people work
	Open      bool      // they work now
	Closes    time.Time // when the working hours end that are on; zero: none are, or they never end
	Opens     time.Time // when the next ones begin, after those that are on; zero: never

	WakeAhead time.Duration // how long before Opens a cluster is woken
	AwakeFor  time.Duration // how long a cluster stays awake after it was used
}

// HoursAt returns what a schedule says of that moment. The durations are the profile's.
func HoursAt(s workhours.Schedule, now time.Time, wakeAhead, awakeFor time.Duration) Hours {
	h := Hours{Scheduled: !s.Empty(), Open: s.Open(now), WakeAhead: wakeAhead, AwakeFor: awakeFor}
	if h.Opens = s.Next(now); h.Open && !h.Opens.IsZero() {
		h.Closes = h.Opens
		h.Opens = s.Next(h.Closes)
	}
	return h
}

// leastRest is the shortest time for which a schedule puts a cluster to sleep: going to sleep and waking take some of it.
const leastRest = 30 * time.Minute

// steadyFor is how long no schedule puts a cluster to sleep that another schedule woke.
const steadyFor = 30 * time.Minute

// restWarning is how long before a schedule puts a cluster to sleep its people are warned.
const restWarning = 30 * time.Minute

// PowerBy is who, or what, last said whether a cluster should be asleep.
type PowerBy string

// The sources. A schedule wakes only what a schedule put to sleep.
const (
	ByPerson PowerBy = ""
	ByHours  PowerBy = "hours"
)

// rest is the next time that a schedule has a cluster asleep.
type rest struct {
	from, until time.Time // until is zero if no working hours follow
	to          time.Time // until, or the cluster's end if that comes first
}

// nextRest returns when the schedule puts the cluster to sleep next, if it stays as it is. ok is false if that is unknown, never, or not
// worth it. What keeps a cluster awake is a person who said so, its last use, and that it became ready.
func (m *deciding) nextRest() (r rest, ok bool) {
	n, h := m.next(), m.f.Hours
	if h == nil || !n.rests(h) || h.Open && h.Closes.IsZero() {
		return rest{}, false
	}
	for _, at := range []time.Time{m.f.Now, h.Closes, n.AwakeUntil, after(n.ActiveAt, h.AwakeFor), after(n.ReadyAt, h.AwakeFor)} {
		if at.After(r.from) {
			r.from = at
		}
	}
	if !h.Opens.IsZero() {
		r.until = h.Opens.Add(-h.WakeAhead)
	}
	if r.to = n.Ends.DestroyAt(); !r.until.IsZero() && r.until.Before(r.to) {
		r.to = r.until
	}
	return r, r.to.Sub(r.from) >= leastRest
}

// rests reports that the cluster sleeps outside working hours.
func (c Cluster) rests(h *Hours) bool { return c.OffHours && h.Scheduled && c.SleepMode != "" }

// after returns d after the time; zero if that is.
func after(at time.Time, d time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(d)
}

// keepHours puts a ready cluster to sleep outside working hours, and wakes it before they begin, or when it is used. While no schedule is
// known, it changes nothing. What a person put to sleep stays asleep.
func (m *deciding) keepHours() {
	n, h := m.next(), m.f.Hours
	if h == nil {
		return
	}
	resting := n.SleepWanted && n.PowerBy == ByHours
	r, worth := m.nextRest()
	switch {
	case resting && !n.rests(h):
		m.holdAwake()
		m.endRest("no working hours are in force for it")
	case resting && (h.Open || !r.until.IsZero() && !m.f.Now.Before(r.until)):
		m.holdAwake()
		m.endRest("working hours begin")
	case resting && r.from.After(m.f.Now):
		m.endRest(n.describeUse())
	case resting:
		n.SleepUntil = r.until
	case worth && !n.SleepWanted && !r.from.After(m.f.Now):
		n.SleepWanted, n.SleepUntil, n.PowerBy = true, r.until, ByHours
		n.resetPower()
		n.SleepWhy = "outside working hours"
		m.job(JobWake, JobFailed, "Changed", "it is to be asleep: "+n.SleepWhy) // affects the jobs only if they are unfinished
		m.job(JobOffHoursUp, JobFailed, "Changed", "it is to be asleep: "+n.SleepWhy)
		if n.powerOwed() {
			m.job(JobOffHoursDown, JobPending, "", "")
		}
	}
}

// holdAwake keeps a cluster awake for a while that is woken earlier than the schedule said which put it to sleep. The schedule was changed, and another
// server may still have the earlier one: it would put the cluster to sleep again at once, and this one would wake it, at each look.
func (m *deciding) holdAwake() {
	n := m.next()
	if early := n.SleepUntil.IsZero() || m.f.Now.Before(n.SleepUntil); !early {
		return
	}
	if until := m.f.Now.Add(steadyFor); until.After(n.AwakeUntil) {
		n.AwakeUntil = until
	}
}

// endRest wakes a cluster that a schedule put to sleep.
func (m *deciding) endRest(why string) {
	m.job(JobOffHoursDown, JobFailed, "Changed", "it is to be awake: "+why)
	m.next().SleepWhy = why
	m.wantAwake()
}

// skipRest keeps a cluster awake until the next working hours, or for a while, because it could not be put to sleep: otherwise its schedule, or
// that nobody uses it, would have it tried again at once, and on and on. How long a person wanted it to sleep says nothing about that.
func (m *deciding) skipRest() {
	n := m.next()
	until := m.f.Now.Add(m.l.RetryMax)
	switch {
	case m.f.Hours != nil && !m.f.Hours.Open && !m.f.Hours.Opens.IsZero():
		until = m.f.Hours.Opens
	case n.PowerBy == ByHours && !n.SleepUntil.IsZero():
		until = n.SleepUntil
	}
	if (n.OffHours || n.PowerBy == ByIdle) && until.After(n.AwakeUntil) {
		n.AwakeUntil = until
	}
}

// describeUse says why a cluster is awake outside working hours.
func (c Cluster) describeUse() string {
	if c.ActiveWhat != "" && !c.ActiveAt.Before(c.AwakeUntil) {
		return "it was used: " + string(c.ActiveWhat)
	}
	return "it is kept awake"
}

// FallsAsleepAt returns when the cluster's schedule puts it to sleep next, if nobody uses it until then; zero: never, or unknown. What the schedule
// said last does not count once somebody keeps the cluster awake for longer.
func (c Cluster) FallsAsleepAt() time.Time {
	if c.Status != Ready || c.Desired != Present || c.SleepWanted || c.RestAt.Before(c.AwakeUntil) {
		return time.Time{}
	}
	return c.RestAt
}

// IsRestWarned reports that the people of the cluster were warned of the time at which it falls asleep next.
func (c Cluster) IsRestWarned() bool {
	at := c.FallsAsleepAt()
	return !at.IsZero() && at.Equal(c.RestWarned)
}

// watchHours warns the people of a cluster that a schedule is about to put to sleep, once for each time at which it does, and says when that is and
// when to look at the schedule again. Without a schedule at hand the times of the last look stand.
func (m *deciding) watchHours() {
	n, h := m.next(), m.f.Hours
	if n.Status != Ready || !m.isWanted() || !n.OffHours {
		n.HoursAt, n.RestAt = time.Time{}, time.Time{}
		return
	}
	if h == nil {
		return
	}
	n.HoursAt, n.RestAt = time.Time{}, time.Time{}
	if !n.rests(h) {
		return
	}
	look := func(at time.Time) {
		if at.After(m.f.Now) && (n.HoursAt.IsZero() || at.Before(n.HoursAt)) {
			n.HoursAt = at
		}
	}
	look(h.Closes)
	look(h.Opens)
	r, worth := m.nextRest()
	if n.SleepWanted || !worth {
		return
	}
	warn := r.from.Add(-restWarning)
	look(warn)
	look(r.from)
	if r.from.After(m.f.Now) {
		n.RestAt = r.from
	}
	if r.from.After(m.f.Now) && !m.f.Now.Before(warn) && !n.RestWarned.Equal(r.from) {
		n.RestWarned, m.d.WarnRest = r.from, true
	}
}

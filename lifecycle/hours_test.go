package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

// hours is what the world's schedule says now; nil: it could not be asked. The day begins with the world.
func (w *world) hours() *Hours {
	if !w.fair && w.now.Unix()%7 == 0 {
		return nil
	}
	h := Hours{Scheduled: w.day > 0, WakeAhead: 15 * time.Minute, AwakeFor: time.Hour}
	if w.day == 0 {
		return &h
	}
	into := w.now.Sub(epoch) % (w.day + w.night)
	begun := w.now.Add(-into)
	if h.Open = into < w.day; h.Open {
		h.Closes = begun.Add(w.day)
	}
	h.Opens = begun.Add(w.day + w.night)
	return &h
}

// reschedule lets people work at other times.
func (w *world) reschedule() {
	days := [][2]time.Duration{{}, {9 * time.Hour, 15 * time.Hour}, {2 * time.Hour, 3 * time.Hour}, {time.Hour, 40 * time.Minute}}[w.pick(4)]
	w.day, w.night = days[0], days[1]
	w.reconcileAsked = true // it is looked at anew at the latest when something else is due
}

// use is store.Active.
func (w *world) use() {
	if w.row.Status == Ready && w.row.Desired == Present {
		w.note("somebody uses it")
		w.used(w.now, "a push to its pull request")
	}
}

// keepAwake is store.KeepAwake.
func (w *world) keepAwake() {
	if h := w.hours(); w.row.Status == Ready && w.row.Desired == Present && h != nil && h.Opens.After(w.row.AwakeUntil) {
		w.note("somebody keeps it awake until %s", h.Opens)
		w.touch(func(c *Cluster) { c.AwakeUntil = h.Opens })
	}
}

// officeWorld is a kind world with a ready cluster that sleeps outside working hours: people work for six hours, and not for the next six.
func officeWorld() *world {
	w := newWorld(Decide, func(int) int { return 0 })
	w.fair, w.row.OffHours, w.day, w.night = true, true, 6*time.Hour, 6*time.Hour
	w.row.Ends.TTL = w.row.Ends.Max
	w.until(func() bool { return w.row.Status == Ready && w.row.Work[Access].Done == w.row.Work[Access].Wanted })
	return w
}

func (w *world) at(d time.Duration) func() bool {
	return func() bool { return !w.now.Before(epoch.Add(d)) }
}

func TestAClusterSleepsOutsideWorkingHoursAndIsAwakeWhenTheyBegin(t *testing.T) {
	w := officeWorld()
	w.until(w.at(5*time.Hour + 31*time.Minute))
	require.Equal(t, epoch.Add(6*time.Hour), w.row.RestWarned, "its people are warned half an hour before")
	require.True(t, w.row.Usable())
	require.Equal(t, w.row.RestWarned, w.row.RestAt)
	require.True(t, w.row.IsRestWarned())
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.Zero(t, w.row.RestAt)
	require.False(t, w.row.IsRestWarned(), "it sleeps")
	require.WithinRange(t, w.now, epoch.Add(6*time.Hour), epoch.Add(6*time.Hour+20*time.Minute))
	require.Equal(t, "it is asleep, with all machines stopped (outside working hours)", w.row.Why.String())
	require.Equal(t, epoch.Add(12*time.Hour-15*time.Minute), w.row.WakeAt)
	require.Contains(t, w.jobs, publicJob{JobOffHoursDown, JobSucceeded})
	w.until(func() bool { return w.row.Usable() })
	require.WithinRange(t, w.now, epoch.Add(12*time.Hour-15*time.Minute), epoch.Add(12*time.Hour), "it is ready when the hours begin")
	require.Contains(t, w.jobs, publicJob{JobOffHoursUp, JobSucceeded})
	w.until(w.at(17 * time.Hour))
	require.True(t, w.row.Usable())
	require.Equal(t, epoch.Add(18*time.Hour), w.row.RestAt)
	require.False(t, w.row.IsRestWarned(), "the warning was about the night before")
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.WithinRange(t, w.now, epoch.Add(18*time.Hour), epoch.Add(18*time.Hour+20*time.Minute), "and sleeps again the next night")
}

func TestTwoServersWithDifferentCataloguesDoNotTurnAClusterAtEachLook(t *testing.T) {
	var woken time.Time
	var awake []time.Duration // between being woken and being put to sleep again
	w := newWorld(func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		switch {
		case c.SleepWanted && !d.Next.SleepWanted:
			woken = f.Now
		case !c.SleepWanted && d.Next.SleepWanted && !woken.IsZero():
			awake = append(awake, f.Now.Sub(woken))
		}
		return d
	}, func(int) int { return 0 })
	w.fair, w.row.OffHours, w.day, w.night = true, true, 6*time.Hour, 6*time.Hour
	w.row.Ends.TTL = w.row.Ends.Max
	w.until(func() bool { return w.row.Status == Ready && w.row.Work[Access].Done == w.row.Work[Access].Wanted })
	w.until(w.at(6*time.Hour + time.Minute))
	for minute := range 5 * 60 {
		if w.day, w.night = 6*time.Hour, 6*time.Hour; minute%2 == 0 { // the server of this look has another catalogue
			w.day, w.night = 24*time.Hour, 0
		}
		w.reconcileAsked, w.now = true, w.now.Add(time.Minute)
		w.goOn()
	}
	require.NotEmpty(t, awake)
	for _, d := range awake {
		require.GreaterOrEqual(t, d, 30*time.Minute)
	}
}

func TestAClusterThatIsKeptAwakeTonightSleepsTheNextNight(t *testing.T) {
	w := officeWorld()
	w.until(w.at(5 * time.Hour))
	w.keepAwake()
	require.Equal(t, epoch.Add(12*time.Hour), w.row.AwakeUntil)
	require.Equal(t, epoch.Add(6*time.Hour), w.row.RestAt)
	require.Zero(t, w.row.FallsAsleepAt(), "what the schedule said before does not count")
	w.until(w.at(17 * time.Hour))
	require.Empty(t, w.row.SleepWhy)
	require.Zero(t, w.row.RestWarned)
	require.Equal(t, epoch.Add(18*time.Hour), w.row.FallsAsleepAt())
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.True(t, w.at(18*time.Hour)())
}

func TestUseWakesAClusterThatAScheduleSentToSleepAndKeepsItAwakeForAWhile(t *testing.T) {
	w := officeWorld()
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	w.until(w.at(8 * time.Hour))
	w.use()
	w.until(func() bool { return w.row.Phase == Waking })
	require.Equal(t, "it wakes up (it was used: a push to its pull request)", w.row.Why.String())
	w.until(func() bool { return w.row.Usable() })
	w.until(w.at(8*time.Hour + 35*time.Minute))
	require.Equal(t, w.row.ActiveAt.Add(time.Hour), w.row.RestWarned, "and they are warned again")
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.WithinRange(t, w.now, epoch.Add(9*time.Hour), epoch.Add(9*time.Hour+20*time.Minute))
}

func TestWhatAPersonPutToSleepIsNotWokenByASchedule(t *testing.T) {
	w := officeWorld()
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	w.putToSleep(0) // it sleeps already: now it is theirs
	w.use()
	w.until(w.at(14 * time.Hour))
	require.Equal(t, PhaseAsleep, w.row.Phase)
	w.wakeUp()
	w.until(func() bool { return w.row.Usable() })
}

func TestAClusterThatCannotFallAsleepIsLeftAloneForTheNight(t *testing.T) {
	w := officeWorld()
	for range workTries {
		w.until(func() bool { return w.open() != nil && w.open().Kind == Sleep && !w.open().ClaimedAt.IsZero() })
		a := w.open()
		w.some(func(r *runner) {
			r.installing, r.result = false, &Attempt{Outcome: Failure, Reason: "MachinesNotStopped", Message: "a machine did not stop", Retryable: true}
		})
		w.until(func() bool { return !a.ClosedAt.IsZero() && w.row.Work[a.Kind].Seen == a.Number })
	}
	w.until(func() bool { return w.row.Usable() })
	tries := len(w.attempts)
	w.until(w.at(17 * time.Hour))
	require.Len(t, w.attempts, tries)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	require.True(t, w.at(18*time.Hour)(), "the next night it is tried again")
}

func TestAFailedSleepOfAPersonEndsNoLaterThanTheNight(t *testing.T) {
	now := epoch.Add(8 * time.Hour)
	week := now.Add(7 * 24 * time.Hour)
	opens := epoch.Add(12 * time.Hour)
	for name, c := range map[string]struct {
		by    PowerBy
		hours *Hours
		want  time.Time
	}{
		"a person's, with hours":      {ByPerson, &Hours{Scheduled: true, Opens: opens}, opens},
		"a person's, hours unknown":   {ByPerson, nil, now.Add(limits.RetryMax)},
		"a schedule's, hours unknown": {ByHours, nil, week},
	} {
		t.Run(name, func(t *testing.T) {
			m := &deciding{f: Facts{Now: now, Hours: c.hours}, l: limits, d: Decision{Next: Cluster{OffHours: true, SleepUntil: week, PowerBy: c.by}}}
			m.skipRest()
			require.Equal(t, c.want, m.d.Next.AwakeUntil)
		})
	}
}

func TestAScheduleThatIsTakenAwayWakesWhatItPutToSleep(t *testing.T) {
	w := officeWorld()
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	w.day = 0
	w.reconcileAsked = true
	w.until(func() bool { return w.row.Usable() })
	require.True(t, w.now.Before(epoch.Add(7*time.Hour)))
}

func TestHoursOfAScheduleAtOneMoment(t *testing.T) {
	s, err := workhours.Parse("Europe/Berlin", []string{"Mon-Fri 07:00-19:00"}, nil)
	require.NoError(t, err)
	friday := time.Date(2026, 11, 27, 12, 0, 0, 0, s.Zone())
	monday := time.Date(2026, 11, 30, 7, 0, 0, 0, s.Zone())
	h := HoursAt(s, friday, time.Minute, time.Hour)
	require.True(t, h.Scheduled && h.Open && h.Closes.Equal(friday.Add(7*time.Hour)) && h.Opens.Equal(monday), "%+v", h)
	h = HoursAt(s, friday.Add(7*time.Hour), time.Minute, time.Hour)
	require.True(t, h.Scheduled && !h.Open && h.Closes.IsZero() && h.Opens.Equal(monday), "%+v", h)
	always, err := workhours.Parse("UTC", []string{"Mon-Sun 00:00-24:00"}, nil)
	require.NoError(t, err)
	require.Equal(t, Hours{Scheduled: true, Open: true}, HoursAt(always, friday, 0, 0))
	require.Zero(t, HoursAt(workhours.Schedule{}, friday, 0, 0))
}

// Package workhours says when people work, by the clock of where they are: a schedule has a time zone, hours of the week, and holidays.
// It is pure: no clock, no database.
package workhours

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Europe/Berlin must mean the same in an image without time zones
)

// Schedule is when people work. The zero value has no hours: it is never open. Daylight saving needs no rule of its own, because a
// schedule is read by the local clock: hours that the clock skips are lost, and hours that it repeats are open twice.
type Schedule struct {
	zone     *time.Location
	windows  []window
	holidays []holiday
}

// window is one opening, on each of some days of the week. It belongs to the day on which it begins, also after midnight.
type window struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes after midnight of that day; to is greater than from, and at most a day later
}

// holiday is a time of closed days; both are in.
type holiday struct{ first, last date }

type date struct {
	year  int
	month time.Month
	day   int
}

// minutesOfDay is the length of a local day by the clock on the wall.
const minutesOfDay = 24 * 60

// The forms of a schedule's texts, for error messages.
const (
	ZoneText    = "a time zone of the IANA database, e.g. Europe/Berlin or UTC"
	HoursText   = "days and times, e.g. Mon-Fri 07:00-19:00, Sat 09:00-12:30 or Fri 20:00-02:00"
	HolidayText = "a date or two, e.g. 2026-12-24 or 2026-12-24/2027-01-01"
)

// ParseZone reads the name of a time zone. The machine's own (Local) is refused, because servers differ in it.
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("%.40q is no time zone; give %s", name, ZoneText)
	}
	return zone, nil
}

// Parse reads a schedule. Its error names each text that is wrong.
func Parse(zone string, hours, holidays []string) (Schedule, error) {
	var s Schedule
	var wrong []error
	at, err := ParseZone(zone)
	if err != nil {
		wrong = append(wrong, err)
	}
	s.zone = at
	for _, text := range hours {
		w, err := parseWindow(text)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		s.windows = append(s.windows, w)
	}
	if len(hours) == 0 {
		wrong = append(wrong, errors.New("there are no hours; give "+HoursText))
	}
	for _, text := range holidays {
		h, err := parseHoliday(text)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		s.holidays = append(s.holidays, h)
	}
	if err := errors.Join(wrong...); err != nil {
		return Schedule{}, err
	}
	return s, nil
}

// Empty reports that there is no schedule.
func (s Schedule) Empty() bool { return s.zone == nil }

// Zone returns the schedule's time zone; UTC if there is no schedule.
func (s Schedule) Zone() *time.Location { return cmp.Or(s.zone, time.UTC) }

// Open reports whether people work at that time.
func (s Schedule) Open(at time.Time) bool {
	if s.Empty() {
		return false
	}
	local := at.In(s.zone)
	minute := local.Hour()*60 + local.Minute()
	today := dateOf(local)
	return s.opensOn(today, minute) || s.opensOn(today.addDays(-1), minute+minutesOfDay)
}

// opensOn reports whether a window that begins on that day is open so many minutes after the day's midnight.
func (s Schedule) opensOn(day date, minute int) bool {
	if slices.ContainsFunc(s.holidays, func(h holiday) bool { return !day.before(h.first) && !h.last.before(day) }) {
		return false
	}
	return slices.ContainsFunc(s.windows, func(w window) bool {
		return w.days[day.weekday()] && w.from <= minute && minute < w.to
	})
}

// longestLook is how far Next looks: longer than any row of holidays that anybody writes down.
const longestLook = 400 * 24 * time.Hour

// Next returns the first time after the given one at which Open changes; zero if it does not change within 400 days.
func (s Schedule) Next(after time.Time) time.Time {
	if s.Empty() {
		return time.Time{}
	}
	open, end := s.Open(after), after.Add(longestLook)
	// Within a piece of time with one offset from UTC, local clocks run evenly, so that each edge is at exactly one moment.
	for from := after; from.Before(end); {
		until := end
		if _, turn := from.In(s.zone).ZoneBounds(); !turn.IsZero() && turn.Before(end) {
			until = turn
		}
		for _, edge := range s.windowEdges(from, until) {
			if edge.After(after) && s.Open(edge) != open {
				return edge
			}
		}
		from = until
	}
	return time.Time{}
}

// windowEdges returns every moment from one time to another at which a window may begin or end, in order. All of them have one offset from UTC,
// except the last, at which the offset may change.
func (s Schedule) windowEdges(from, until time.Time) []time.Time {
	_, offset := from.In(s.zone).Zone()
	var all []time.Time
	last := dateOf(until.In(s.zone))
	for day := dateOf(from.In(s.zone)).addDays(-1); !last.before(day); day = day.addDays(1) {
		midnight := time.Date(day.year, day.month, day.day, 0, 0, 0, 0, time.UTC).Add(-time.Duration(offset) * time.Second)
		for _, w := range s.windows {
			if !w.days[day.weekday()] {
				continue
			}
			for _, minute := range []int{w.from, w.to} {
				if at := midnight.Add(time.Duration(minute) * time.Minute); at.After(from) && at.Before(until) {
					all = append(all, at)
				}
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return append(all, until)
}

// String returns the schedule as people read it, e.g. "Mon-Fri 07:00-19:00 (Europe/Berlin)".
func (s Schedule) String() string {
	if s.Empty() {
		return "no hours"
	}
	var parts []string
	for _, w := range s.windows {
		parts = append(parts, w.String())
	}
	return strings.Join(parts, ", ") + " (" + s.zone.String() + ")"
}

func dateOf(local time.Time) date {
	year, month, day := local.Date()
	return date{year, month, day}
}

func (d date) addDays(days int) date { return dateOf(d.noon().AddDate(0, 0, days)) }

// noon is a moment of that day in UTC: a calendar of its own, without daylight saving.
func (d date) noon() time.Time { return time.Date(d.year, d.month, d.day, 12, 0, 0, 0, time.UTC) }

func (d date) weekday() time.Weekday { return d.noon().Weekday() }

func (d date) before(other date) bool { return d.noon().Before(other.noon()) }

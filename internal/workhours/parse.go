package workhours

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// weekdays are the names of the days, by time.Weekday.
var weekdays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// parseWindow reads "Mon-Fri 07:00-19:00" or "Mon,Wed 07:00-19:00".
func parseWindow(text string) (window, error) {
	wrong := func(why string) (window, error) {
		return window{}, fmt.Errorf("%.60q are no hours: %s; give %s", text, why, HoursText)
	}
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return wrong("it needs days and a time")
	}
	var w window
	for part := range strings.SplitSeq(fields[0], ",") {
		from, to, both := strings.Cut(part, "-")
		if !both {
			to = from
		}
		first, last := parseWeekday(from), parseWeekday(to)
		if first < 0 || last < 0 {
			return wrong("days are " + strings.Join(append(weekdays[1:], weekdays[0]), ", "))
		}
		for day := first; ; day = (day + 1) % 7 {
			w.days[day] = true
			if day == last {
				break
			}
		}
	}
	from, to, both := strings.Cut(fields[1], "-")
	begin, ok := minuteOf(from)
	end, okToo := minuteOf(to)
	if !both || !ok || !okToo || begin == minutesOfDay {
		return wrong("times are written 07:00-19:00, from 00:00 to 24:00")
	}
	if end <= begin { // past midnight
		end += minutesOfDay
	}
	if end-begin > minutesOfDay {
		return wrong("it lasts longer than a day")
	}
	w.from, w.to = begin, end
	return w, nil
}

func parseWeekday(name string) int {
	return slices.IndexFunc(weekdays, func(day string) bool { return strings.EqualFold(day, name) })
}

// minuteOf reads "07:30" as minutes after midnight; 24:00 is the end of the day.
func minuteOf(text string) (minute int, ok bool) {
	hours, minutes, both := strings.Cut(text, ":")
	h, err := strconv.Atoi(hours)
	m, errToo := strconv.Atoi(minutes)
	if !both || len(hours) != 2 || len(minutes) != 2 || err != nil || errToo != nil || h < 0 || m < 0 || m > 59 || h*60+m > minutesOfDay {
		return 0, false
	}
	return h*60 + m, true
}

// parseHoliday reads "2026-12-24" or "2026-12-24/2027-01-01".
func parseHoliday(text string) (holiday, error) {
	from, to, both := strings.Cut(text, "/")
	if !both {
		to = from
	}
	first, err := time.Parse(time.DateOnly, from)
	last, errToo := time.Parse(time.DateOnly, to)
	if err != nil || errToo != nil {
		return holiday{}, fmt.Errorf("%.40q is no holiday; give %s", text, HolidayText)
	}
	if last.Before(first) {
		return holiday{}, fmt.Errorf("the holiday %.40q ends before it begins; give %s", text, HolidayText)
	}
	return holiday{dateOf(first), dateOf(last)}, nil
}

// String returns the window in the form in which it is read.
func (w window) String() string {
	var days []string
	for i := range 7 {
		day := (i + 1) % 7 // the week begins on Monday
		if !w.days[day] {
			continue
		}
		run := i
		for run < 6 && w.days[(run+2)%7] {
			run++
		}
		if before := (day + 6) % 7; i > 0 && w.days[before] {
			continue // part of a run that is already named
		}
		if run == i {
			days = append(days, weekdays[day])
			continue
		}
		days = append(days, weekdays[day]+"-"+weekdays[(run+1)%7])
	}
	end := w.to
	if end > minutesOfDay {
		end -= minutesOfDay
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", strings.Join(days, ","), w.from/60, w.from%60, end/60, end%60)
}

package workhours_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

func berlin(t *testing.T, hours []string, holidays ...string) workhours.Schedule {
	t.Helper()
	s, err := workhours.Parse("Europe/Berlin", hours, holidays)
	require.NoError(t, err)
	return s
}

// local reads a time by Berlin's clock.
func local(t *testing.T, text string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	require.NoError(t, err)
	return at
}

func TestAScheduleIsOpenByTheLocalClock(t *testing.T) {
	office := []string{"Mon-Fri 07:00-19:00", "Sat 22:00-02:00"}
	for _, c := range []struct {
		at   string
		open bool
		next string
	}{
		{"2026-11-26 06:59", false, "2026-11-26 07:00"}, // a Thursday
		{"2026-11-26 07:00", true, "2026-11-26 19:00"},
		{"2026-11-26 19:00", false, "2026-11-27 07:00"},
		{"2026-11-27 20:00", false, "2026-11-28 22:00"},
		{"2026-11-29 01:59", true, "2026-11-29 02:00"},
		{"2026-11-29 02:00", false, "2026-11-30 07:00"},
		{"2026-12-23 19:00", false, "2027-01-02 22:00"}, // the holidays
		{"2026-12-25 12:00", false, "2027-01-02 22:00"},
	} {
		s := berlin(t, office, "2026-12-24/2027-01-01")
		require.Equal(t, c.open, s.Open(local(t, c.at)), c.at)
		require.Equal(t, c.next, s.Next(local(t, c.at)).In(s.Zone()).Format("2006-01-02 15:04"), c.at)
	}
}

func TestANightThatBeginsBeforeAHolidayIsWorkedToItsEnd(t *testing.T) {
	s := berlin(t, []string{"Mon-Sun 22:00-02:00"}, "2026-12-25")
	require.True(t, s.Open(local(t, "2026-12-25 01:00")))
	require.False(t, s.Open(local(t, "2026-12-25 23:00")))
	require.False(t, s.Open(local(t, "2026-12-26 01:00")))
}

func TestDaylightSavingMovesTheHoursWithTheClock(t *testing.T) {
	office := berlin(t, []string{"Mon-Sun 07:00-19:00"})
	require.Equal(t, "2026-03-28T06:00:00Z", office.Next(local(t, "2026-03-28 01:00")).UTC().Format(time.RFC3339))
	require.Equal(t, "2026-03-29T05:00:00Z", office.Next(local(t, "2026-03-29 01:00")).UTC().Format(time.RFC3339), "the clock went forward in the night")
	require.Equal(t, "2026-10-25T06:00:00Z", office.Next(local(t, "2026-10-25 01:00")).UTC().Format(time.RFC3339), "and back")

	skipped := berlin(t, []string{"Sun 02:15-02:45"})
	require.Equal(t, "2026-04-05T00:15:00Z", skipped.Next(local(t, "2026-03-29 00:00")).UTC().Format(time.RFC3339), "on this Sunday there is no quarter past two")
	partly := berlin(t, []string{"Sun 02:30-03:30"})
	require.Equal(t, "2026-03-29T01:00:00Z", partly.Next(local(t, "2026-03-29 00:00")).UTC().Format(time.RFC3339), "it opens when the clock jumps into it")
	twice := berlin(t, []string{"Sun 02:15-02:45"})
	first := twice.Next(local(t, "2026-10-25 00:00"))
	again := twice.Next(twice.Next(first))
	require.Equal(t, time.Hour, again.Sub(first), "a quarter past two comes twice")
}

func TestAScheduleThatNeverChangesHasNoNext(t *testing.T) {
	require.Zero(t, berlin(t, []string{"Mon-Sun 00:00-24:00"}).Next(local(t, "2026-11-26 12:00")))
	require.Zero(t, workhours.Schedule{}.Next(time.Now()))
	require.True(t, workhours.Schedule{}.Empty())
	require.False(t, workhours.Schedule{}.Open(time.Now()))
}

// Next is where Open changes: nothing changes before it, and everything that a walk by minutes sees is found.
func TestNextIsTheFirstChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC", "Africa/Casablanca"}).Draw(t, "zone")
		hours := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			days := rapid.SampledFrom([]string{"Mon", "Mon-Fri", "Sat,Sun", "Fri-Mon", "Sun", "Mon-Sun"}).Draw(t, "days")
			clock := rapid.SampledFrom([]string{"00:00", "01:30", "02:00", "02:15", "03:00", "07:00", "12:10", "19:00", "23:59"})
			return days + " " + clock.Draw(t, "from") + "-" + clock.Draw(t, "to")
		}), 1, 3).Draw(t, "hours")
		s, err := workhours.Parse(zone, hours, []string{"2026-03-28/2026-03-30"})
		require.NoError(t, err)
		// Around the turns of the clock in March, April, October and November 2026.
		start := time.Date(2026, rapid.SampledFrom([]time.Month{3, 4, 10, 11}).Draw(t, "month"), rapid.IntRange(1, 31).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute"), 0, 0, time.UTC)
		next, open := s.Next(start), s.Open(start)
		end := start.Add(72 * time.Hour)
		for at := start; at.Before(end); at = at.Add(time.Minute) {
			if s.Open(at) != open {
				require.Equal(t, at.UTC(), next.UTC(), "%v from %s", s, start)
				return
			}
		}
		require.True(t, next.IsZero() || !next.Before(end), "%v from %s: %s", s, start, next)
	})
}

func TestAScheduleIsShownAsItIsWritten(t *testing.T) {
	for _, hours := range []string{"Mon-Fri 07:00-19:00", "Mon,Wed,Fri-Sun 00:00-24:00", "Fri 20:00-02:00", "Sun 09:30-10:00"} {
		require.Equal(t, hours+" (Europe/Berlin)", berlin(t, []string{hours}).String())
	}
	require.Equal(t, "no hours", workhours.Schedule{}.String())
}

func TestEveryMistakeIsNamedWithWhatWouldBeAccepted(t *testing.T) {
	_, err := workhours.Parse("Berlin", []string{"Mon-Fri", "Someday 07:00-19:00", "Mon 7-19", "Mon 24:00-25:00", "Mon 09:00-08:61"}, []string{"Christmas", "2026-12-26/2026-12-24"})
	require.Error(t, err)
	for _, want := range []string{
		`"Berlin" is no time zone; give a time zone of the IANA database`,
		`"Mon-Fri" are no hours: it needs days and a time; give days and times, e.g. Mon-Fri 07:00-19:00`,
		`"Someday 07:00-19:00" are no hours: days are Mon, Tue, Wed, Thu, Fri, Sat, Sun`,
		`"Mon 7-19" are no hours: times are written 07:00-19:00`, `"Mon 24:00-25:00"`, `"Mon 09:00-08:61"`,
		`"Christmas" is no holiday; give a date or two, e.g. 2026-12-24`, `the holiday "2026-12-26/2026-12-24" ends before it begins`,
	} {
		require.ErrorContains(t, err, want)
	}
	for _, zone := range []string{"", "Local", "../etc/passwd"} {
		_, err := workhours.Parse(zone, []string{"Mon 07:00-19:00"}, nil)
		require.ErrorContains(t, err, "is no time zone")
	}
	_, err = workhours.Parse("UTC", nil, nil)
	require.ErrorContains(t, err, "there are no hours")
}

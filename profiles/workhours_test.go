package profiles

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// resting is a catalogue of one profile, whose clusters can sleep, and of two teams, of which one says when it works.
func resting(t *testing.T, more string) (Catalogue, error) {
	t.Helper()
	body, err := embedded.ReadFile("catalogue/profiles/aws-standard.yaml")
	require.NoError(t, err)
	team := func(name, more string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("name: " + name + "\nowner: ada@acme.example\ncostCenters: [cc-1]\nenvironments: [dev]\n" + more)}
	}
	return Load(fstest.MapFS{
		"profiles/aws-standard.yaml": {Data: append(body, []byte(more)...)},
		"teams/platform.yaml":        team("platform", "workHours: {timeZone: Europe/Berlin, hours: [\"Mon-Fri 07:00-19:00\"], holidays: [\"2026-12-24/2027-01-01\"]}\n"),
		"teams/payments.yaml":        team("payments", ""),
	})
}

func TestTheHoursOfAProfileComeBeforeThoseOfTheTeam(t *testing.T) {
	c, err := resting(t, "offHours: {required: true}\n")
	require.NoError(t, err)
	require.Equal(t, "Mon-Fri 07:00-19:00 (Europe/Berlin)", c.HoursOf("aws-standard", "platform").String())
	require.False(t, c.HoursOf("aws-standard", "platform").Open(time.Date(2026, 12, 28, 12, 0, 0, 0, time.UTC)), "a holiday")
	require.True(t, c.HoursOf("aws-standard", "payments").Empty())
	require.True(t, c.HoursOf("gone", "platform").Empty())
	p, _ := c.Get("aws-standard")
	require.Equal(t, OffHours{Default: true, Required: true, WakeAhead: 15 * time.Minute, AwakeFor: 2 * time.Hour}, p.OffHours)

	c, err = resting(t, "workHours: {timeZone: UTC, hours: [\"Sun 10:00-11:00\"]}\noffHours: {default: true, wakeAhead: 20m, awakeFor: 1h}\n")
	require.NoError(t, err)
	require.Equal(t, "Sun 10:00-11:00 (UTC)", c.HoursOf("aws-standard", "platform").String())
	p, _ = c.Get("aws-standard")
	require.Equal(t, OffHours{Default: true, WakeAhead: 20 * time.Minute, AwakeFor: time.Hour}, p.OffHours)

	c, err = resting(t, "sleep: {mode: never}\n")
	require.NoError(t, err)
	require.True(t, c.HoursOf("aws-standard", "platform").Empty(), "a cluster that cannot sleep has no use for hours")
}

func TestEveryMistakeInTheHoursIsNamed(t *testing.T) {
	for _, c := range []struct{ more, field, accept string }{
		{"workHours: {timeZone: Berlin, hours: [\"Mon-Fri 07:00-19:00\"]}\n", "workHours.timeZone", "Europe/Berlin"},
		{"workHours: {timeZone: UTC, hours: [\"Mon-Fri\"]}\n", "workHours.hours[0]", "Mon-Fri 07:00-19:00"},
		{"workHours: {timeZone: UTC, hours: [\"Mon 07:00-19:00\"], holidays: [\"Christmas\"]}\n", "workHours.holidays[0]", "2026-12-24/2027-01-01"},
		{"workHours: {timeZone: UTC}\n", "workHours.hours", "days and times"},
		{"offHours: {wakeAhead: 5h}\n", "offHours.wakeAhead", "at most 4h"},
		{"offHours: {default: false, required: true}\n", "offHours.default", "required: false"},
		{"offHours: {default: true}\nsleep: {mode: never}\n", "offHours", "mode: stopped"},
	} {
		_, err := resting(t, c.more)
		require.ErrorContains(t, err, c.field, c.more)
		require.ErrorContains(t, err, c.accept, c.more)
	}
}

package notifier

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func TestTheWeeklyReportIsDueOnItsDayInItsZone(t *testing.T) {
	monday := Weekly{Weekday: time.Monday, Hour: 8, Zone: zone(t, "Europe/Berlin")}
	friday := Weekly{Weekday: time.Friday, Hour: 0, Zone: time.UTC}
	for name, c := range map[string]struct {
		w               Weekly
		now, from, want string // the start of the week; empty: it is not due
	}{
		"a minute before":                   {monday, "2026-11-23T06:59:00Z", "", ""},
		"on time":                           {monday, "2026-11-23T07:00:00Z", "2026-11-16T00:00:00+01:00", "weekly:2026-W48"},
		"late":                              {monday, "2026-11-25T06:59:59Z", "2026-11-16T00:00:00+01:00", "weekly:2026-W48"},
		"too late":                          {monday, "2026-11-25T07:00:00Z", "", ""},
		"a week with the end of summer":     {monday, "2026-10-26T07:00:00Z", "2026-10-19T00:00:00+02:00", "weekly:2026-W44"},
		"the summer begins":                 {monday, "2026-03-30T06:00:00Z", "2026-03-23T00:00:00+01:00", "weekly:2026-W14"},
		"the first week of a year":          {monday, "2027-01-04T09:00:00Z", "2026-12-28T00:00:00+01:00", "weekly:2027-W01"},
		"at midnight":                       {friday, "2026-11-27T00:00:00Z", "2026-11-20T00:00:00Z", "weekly:2026-W48"},
		"the same week on another day":      {friday, "2026-11-28T23:59:00Z", "2026-11-20T00:00:00Z", "weekly:2026-W48"},
		"an hour that the clocks leave out": {Weekly{Weekday: time.Sunday, Hour: 2, Zone: monday.Zone}, "2026-03-29T01:30:00Z", "2026-03-22T00:00:00+01:00", "weekly:2026-W13"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		require.NoError(t, err)
		covers, cause, ok := c.w.lastDue(now)
		require.Equal(t, c.want != "", ok, name)
		if ok {
			require.Equal(t, []string{c.from, c.want}, []string{covers.from.Format(time.RFC3339), cause}, name)
			require.Equal(t, covers.from.AddDate(0, 0, 7), covers.to, name)
		}
	}
}

// reportWeekly looks whether the weekly report is due, as the periodic job does.
func (w *world) reportWeekly(ctx context.Context) error {
	return (&weeklyWorker{n: w.Notifier}).Work(ctx, &river.Job[queue.WeeklyArgs]{})
}

// reports are the places that got a weekly report, with its title.
func (w *world) reports() (places []string) {
	for _, n := range w.notices() {
		if n.Kind == string(blocks.Weekly) && n.ExternalID != 0 {
			places = append(places, n.Channel+" "+n.Cause)
		}
	}
	return places
}

func TestEachPlaceGetsOneReportAWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Weekly = &Weekly{Weekday: time.Monday, Hour: 8, Zone: time.UTC}
	w.subscribe("CALL", "", "weekly", "failed")
	w.subscribe("CSHOP", "shop", "weekly")
	w.subscribe("CPAY", "payments", "weekly")
	w.subscribe("CDEAF", "shop", "ready")
	row := w.accept("shop", nil, false)
	w.install(row.ID, lifecycle.Succeeded)
	w.settle()
	require.NoError(t, w.reportWeekly(t.Context()))
	require.Empty(t, w.reports(), "on a Friday")

	at := func(text string) {
		now, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		w.clock.Store(&now)
	}
	at("2026-11-23T08:00:00Z")
	var all sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed { // several servers, none of which knows of the others
		all.Go(func() { failed[i] = w.reportWeekly(t.Context()) })
	}
	all.Wait()
	require.NoError(t, errors.Join(failed...))
	w.subscribe("CLATE", "late", "weekly")
	require.NoError(t, w.reportWeekly(t.Context()))
	w.settle()
	first := []string{"CADMIN weekly:2026-W48", "CALL weekly:2026-W48", "CSHOP weekly:2026-W48:shop", "CPAY weekly:2026-W48:payments"}
	require.ElementsMatch(t, first, w.reports())
	said := map[string]string{}
	for _, m := range w.slack.messages {
		said[m.at.Channel] = m.text
	}
	require.Contains(t, said["CSHOP"], "Week of 16 to 22 November 2026, team shop")
	require.Contains(t, said["CSHOP"], "1 requested, 1 became ready")
	require.Contains(t, said["CPAY"], "0 requested")
	require.Contains(t, said["CADMIN"], "<https://ocpctl.example.com/reports?from=2026-11-16&amp;to=2026-11-23|Report>")
	require.NotContains(t, said["CPAY"], "`c0`", "the cluster of another team")

	at("2026-11-24T20:00:00Z")
	require.NoError(t, w.reportWeekly(t.Context()))
	w.settle()
	require.Len(t, w.reports(), len(first), "once")
	w.Weekly = &Weekly{Weekday: time.Wednesday, Hour: 8, Zone: time.UTC, Channel: "CWEEK"}
	at("2026-11-25T08:10:00Z")
	require.NoError(t, w.reportWeekly(t.Context()))
	w.settle()
	require.Len(t, w.reports(), len(first), "another schedule causes no second report in the same week")
	at("2026-12-04T08:10:00Z")
	require.NoError(t, w.reportWeekly(t.Context()))
	w.settle()
	require.Len(t, w.reports(), len(first), "no server ran for two days")
	at("2026-12-09T10:00:00Z")
	require.NoError(t, w.reportWeekly(t.Context()))
	w.settle()
	require.ElementsMatch(t, append(first, "CWEEK weekly:2026-W50", "CALL weekly:2026-W50", "CSHOP weekly:2026-W50:shop", "CPAY weekly:2026-W50:payments", "CLATE weekly:2026-W50:late"), w.reports())
}

// Whatever is lost or done twice, and wherever a process dies, each place gets the report once.
func TestAReportIsPostedOnceWhateverFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		w := newWorld(t)
		w.Weekly = &Weekly{Weekday: time.Friday, Hour: 8, Zone: time.UTC}
		w.subscribe("CSHOP", "shop", "weekly")
		chance := pick(seed)
		w.slack.before = func(call string) error { return trouble(chance, call, true) }
		w.slack.after = func(call string) error { return trouble(chance, call, false) }
		for range 30 {
			require.NoError(t, w.reportWeekly(t.Context()))
			for _, j := range w.jobs() {
				if chance(4) == 0 {
					w.forget(j) // it is lost
					continue
				}
				_ = w.work(j)
			}
			w.pass(20 * time.Second)
			_, err := w.Store.WakeDue(t.Context(), 1000)
			require.NoError(t, err)
		}
		w.slack.before = func(string) error { return nil }
		w.slack.after = w.slack.before
		w.settle()
		require.ElementsMatch(t, []string{"CADMIN weekly:2026-W47", "CSHOP weekly:2026-W47:shop"}, w.reports(), "seed %d", seed)
		require.Len(t, w.slack.messages, 2, "seed %d", seed)
	}
}

// While servers are replaced, some may have another configuration.
func TestAReportIsLeftToAProcessThatCanPostIt(t *testing.T) {
	t.Parallel()
	for name, cannot := range map[string]func(*Notifier){
		"without Slack":      func(n *Notifier) { n.Slack = nil },
		"without a schedule": func(n *Notifier) { n.Weekly = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Weekly = &Weekly{Weekday: time.Friday, Hour: 8, Zone: time.UTC}
			w.subscribe("CSHOP", "shop", "weekly")
			require.NoError(t, w.reportWeekly(t.Context()))
			able := w.Config
			cannot(w.Notifier)
			for _, j := range w.jobs() {
				var snooze *river.JobSnoozeError
				require.ErrorAs(t, w.work(j), &snooze)
			}
			require.Empty(t, w.reports())
			w.Config = able
			w.settle()
			require.ElementsMatch(t, []string{"CADMIN weekly:2026-W47", "CSHOP weekly:2026-W47:shop"}, w.reports())

			w.pass(7 * 24 * time.Hour)
			require.NoError(t, w.reportWeekly(t.Context()))
			cannot(w.Notifier)
			w.pass(25 * time.Hour)
			w.settle()
			require.Len(t, w.reports(), 2, "nobody could post it for a day")
		})
	}
}

func TestWithoutSlackOrAScheduleNothingIsAskedForEachWeek(t *testing.T) {
	weekly := &Weekly{Weekday: time.Monday, Hour: 8, Zone: time.UTC}
	require.Len(t, New(Config{Slack: newSlack(), Weekly: weekly}).Periodic(), 1)
	require.Empty(t, New(Config{Weekly: weekly}).Periodic())
	require.Empty(t, New(Config{Slack: newSlack()}).Periodic())
}

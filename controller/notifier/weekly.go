package notifier

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/statistics"
)

// Weekly says when and where the weekly report is posted.
type Weekly struct {
	Weekday time.Weekday
	Hour    int // 0 to 23
	Zone    *time.Location
	Channel string // id of the channel that gets the report over all teams; empty: the admin channel
}

const (
	// weeklyEvery is how often it is looked whether the weekly report is due.
	weeklyEvery = 5 * time.Minute
	// weeklyLate is for how long a report that was due is still posted. Longer than that, no server ran.
	weeklyLate = 48 * time.Hour
)

// week is the time that a weekly report covers.
type week struct{ from, to time.Time }

// lastDue returns the report that was due last: the seven days before its day, from midnight to midnight in its zone, and the cause of its
// announcement. There is one cause for each week of the ISO calendar, so a changed schedule causes no second report in a week. ok is false
// if it was due too long ago.
func (w Weekly) lastDue(now time.Time) (covers week, cause string, ok bool) {
	local := now.In(w.Zone)
	back := (int(local.Weekday()) - int(w.Weekday) + 7) % 7
	at := func(back, hour int) time.Time {
		return time.Date(local.Year(), local.Month(), local.Day()-back, hour, 0, 0, 0, w.Zone)
	}
	if at(back, w.Hour).After(now) {
		back += 7
	}
	due := at(back, w.Hour)
	year, number := due.ISOWeek()
	return week{at(back+7, 0), at(back, 0)}, fmt.Sprintf("weekly:%d-W%02d", year, number), now.Sub(due) < weeklyLate
}

// Periodic returns the notifier's periodic jobs.
func (n *Notifier) Periodic() []*river.PeriodicJob {
	if n.Weekly == nil || n.Slack == nil {
		return nil
	}
	return []*river.PeriodicJob{river.NewPeriodicJob(cron.Every(weeklyEvery), func() (river.JobArgs, *river.InsertOpts) {
		return queue.WeeklyArgs{}, nil
	}, &river.PeriodicJobOpts{RunOnStart: true, ID: "weekly"})}
}

type weeklyWorker struct {
	river.WorkerDefaults[queue.WeeklyArgs]
	n *Notifier
}

// Work announces the weekly report if it is due: the one over all teams, and those of the teams that a channel subscribed to. All are
// announced in one transaction, once for each week. Whoever subscribes later gets the next one.
func (w *weeklyWorker) Work(ctx context.Context, _ *river.Job[queue.WeeklyArgs]) error {
	n := w.n
	if n.Weekly == nil {
		return nil // another process, with another configuration, asked for it
	}
	now, err := n.Store.Now(ctx)
	if err != nil {
		return err
	}
	covers, cause, ok := n.Weekly.lastDue(now)
	if !ok {
		return nil
	}
	if done, err := n.Store.Notices.IsAnnounced(ctx, cause); err != nil || done {
		return err
	}
	teams, err := n.Store.Notices.TeamsSubscribed(ctx, string(blocks.Weekly))
	if err != nil {
		return err
	}
	var others []clusters.Announcement
	for _, team := range teams {
		others = append(others, announceWeek(cause+":"+team, covers, team))
	}
	fresh, err := n.Store.Notices.AnnounceTogether(ctx, announceWeek(cause, covers, ""), others)
	if fresh {
		n.Log.InfoContext(ctx, "weekly report announced", "cause", cause, "teams", len(teams))
	}
	return err
}

// announceWeek announces the report on a team, or on all of them.
func announceWeek(cause string, covers week, team string) clusters.Announcement {
	facts, err := json.Marshal(told{Team: team, WeekFrom: covers.from, WeekTo: covers.to})
	if err != nil {
		panic(err) // plain values
	}
	return clusters.Announcement{Cause: cause, Event: string(blocks.Weekly), Facts: facts}
}

// readWeek reads the report, and who hears of it.
func (n *Notifier) readWeek(ctx context.Context, e *event, t told) error {
	covers := week{t.WeekFrom, t.WeekTo}
	if n.Weekly != nil { // times in a database have no zone
		covers = week{covers.from.In(n.Weekly.Zone), covers.to.In(n.Weekly.Zone)}
	}
	report, err := n.summarizeWeek(ctx, covers, t.Team)
	if err != nil {
		return err
	}
	e.facts = blocks.Facts{Title: report.Title(), Text: report.Text(), Page: report.Page()}
	if t.Team == "" && n.Weekly != nil {
		e.named = []string{cmp.Or(n.Weekly.Channel, n.AdminChannel)}
	}
	subscribed, err := n.Store.Notices.Subscribed(ctx, string(e.kind), t.Team, "")
	for _, sub := range subscribed {
		if sub.Team == t.Team { // a channel of all teams gets the report over all of them
			e.subscribed = append(e.subscribed, sub)
		}
	}
	return err
}

// summarizeWeek reads what happened in a week.
func (n *Notifier) summarizeWeek(ctx context.Context, covers week, team string) (chatops.Week, error) {
	out := chatops.Week{Team: team, From: covers.from, To: covers.to}
	var teams []string // all
	by := "team"
	if team != "" {
		teams, by = []string{team}, "owner"
	}
	spent := func(from, to time.Time) ([]reports.ReportLine, error) {
		return n.Store.Reports.UsageReport(ctx, reports.ReportFilter{From: from, To: to, By: by, Teams: teams})
	}
	lines, err := spent(covers.from, covers.to)
	if err != nil {
		return out, err
	}
	for _, l := range lines {
		out.Cents += l.Cents
		out.SavedCents += l.SavedCents
		if l.Cents > 0 {
			out.Spenders = append(out.Spenders, chatops.Spender{Name: l.Key, Cents: l.Cents})
		}
	}
	if lines, err = spent(covers.from.AddDate(0, 0, -7), covers.from); err != nil {
		return out, err
	}
	for _, l := range lines {
		out.CentsBefore += l.Cents
	}
	sum, err := n.Store.Statistics.Summary(ctx, statistics.Filter{From: covers.from, To: covers.to, Teams: teams})
	if err != nil {
		return out, err
	}
	addSummary(&out, sum)
	blocked, err := n.Store.Reports.Findings(ctx, reports.FindingFilter{Kind: lifecycle.Blocked, Teams: teams})
	out.Blocked = len(blocked)
	return out, err
}

// addSummary adds what a summary counted.
func addSummary(w *chatops.Week, sum statistics.Summary) {
	for _, l := range sum.Weeks { // two weeks in UTC may share one in another zone
		w.Accepted, w.Ready, w.Destroyed = w.Accepted+l.Accepted, w.Ready+l.Ready, w.Destroyed+l.Destroyed
	}
	if len(sum.Ready) > 0 {
		w.Median = time.Duration(sum.Ready[0].P50) * time.Second
	}
	for _, l := range sum.Inventory {
		w.Live += l.Clusters
		w.HourlyCents += l.HourlyCents
	}
	for _, c := range sum.Oldest {
		w.Longest = append(w.Longest, chatops.LongRunning{Name: c.Name, Owner: c.Owner, Team: c.Team, Age: sum.At.Sub(c.CreatedAt), HourlyCents: c.HourlyCents})
	}
	attempts := map[string]int{}
	for _, f := range sum.Failures {
		w.FailedAttempts += f.Attempts
		attempts[f.Reason] += f.Attempts
	}
	for reason, n := range attempts {
		w.Failures = append(w.Failures, chatops.WeekFailure{Reason: reason, Attempts: n})
	}
	slices.SortFunc(w.Failures, func(a, b chatops.WeekFailure) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Reason, b.Reason))
	})
	if len(sum.Teardowns) > 0 {
		w.Teardowns, w.Unaided = sum.Teardowns[0].Clusters, sum.Teardowns[0].Unaided
	}
	if len(sum.Unused) > 0 {
		w.EndedUnused, w.SleptIdle, w.SleptOffHours = sum.Unused[0].Ended, sum.Unused[0].SleptIdle, sum.Unused[0].SleptOffHours
	}
	for _, l := range sum.Leaks {
		if l.ResolvedAt == nil {
			w.Leaks++
			if l.Cents != nil {
				w.LeakCents += *l.Cents
			}
		}
	}
}

package costs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

// mostGroups is how many groups of a month are told apart; the others are added up.
const mostGroups = 5

// Days is what was spent on each day of a month (UTC), in cents by list prices, beside the month before.
type Days struct {
	By         string
	Month, Now time.Time // Month is its start
	Groups     []Group   // the dearest first; the last adds up the others, if there are more than mostGroups
	Days       []Day     // all days of the month; those to come are empty
	Spent      int64     // this month
	Saved      int64     // what it would have cost more if no cluster had slept
	Before     int64     // the month before, until the same day
	BeforeAll  int64     // … and all of it
	Budget     int64     // of the teams that the principal may see, by team only; 0: none has one
}

// Group is a team or a profile.
type Group struct {
	Key           string // empty: the others
	Cents, Saved  int64  // in the month
	CentsByDay    []int64
	BudgetOfMonth int64 // of a team; 0: none
}

// Day is a day of the month.
type Day struct {
	Day           time.Time
	Cents, Saved  int64
	Sum, BeforeTo int64 // what was spent since the month's start, and in the month before until the same day
	ToCome        bool  // it has not begun
}

// Days returns what the principal's teams spent on each day of a month, by team or by profile; the zero time means this month.
func (s *Service) Days(ctx context.Context, p policy.Principal, by string, month time.Time) (Days, error) {
	f, err := s.limitPeriod(ctx, p, reports.ReportFilter{By: by})
	if err != nil {
		return Days{}, err
	}
	now := f.To
	out := Days{By: by, Month: monthOf(cmp.Or(month, now)), Now: now}
	next := out.Month.AddDate(0, 1, 0)
	f.From, f.To = out.Month, next
	if now.Before(next) {
		f.To = now
	}
	if !f.From.Before(f.To) { // it has not begun
		return Days{}, noReport(f)
	}
	f.From = out.Month.AddDate(0, -1, 0)
	lines, err := s.store.Reports.DayReport(ctx, f)
	if errors.Is(err, db.ErrConflict) {
		return Days{}, noReport(f)
	}
	if err != nil {
		return Days{}, fmt.Errorf("report days: %w", err)
	}
	for day := out.Month; day.Before(next); day = day.AddDate(0, 0, 1) {
		out.Days = append(out.Days, Day{Day: day, ToCome: !day.Before(now)})
	}
	out.addLines(lines)
	if by == "team" {
		s.addMonthBudgets(&out, f.Teams)
	}
	return out, nil
}

// addLines adds up the days, and the groups.
func (d *Days) addLines(lines []reports.DayLine) {
	at := map[string]int{}
	before := make([]int64, len(d.Days)) // of the same days of the month before
	for _, l := range lines {
		day := l.Day.UTC().Day() - 1
		if l.Day.Before(d.Month) {
			d.BeforeAll += l.Cents
			before[min(day, len(before)-1)] += l.Cents
			continue
		}
		i, known := at[l.Key]
		if !known {
			i = len(d.Groups)
			at[l.Key], d.Groups = i, append(d.Groups, Group{Key: l.Key, CentsByDay: make([]int64, len(d.Days))})
		}
		g := &d.Groups[i]
		g.Cents, g.Saved, g.CentsByDay[day] = g.Cents+l.Cents, g.Saved+l.SavedCents, g.CentsByDay[day]+l.Cents
		d.Days[day].Cents, d.Days[day].Saved = d.Days[day].Cents+l.Cents, d.Days[day].Saved+l.SavedCents
		d.Spent, d.Saved = d.Spent+l.Cents, d.Saved+l.SavedCents
	}
	var sum, sumBefore int64
	for i := range d.Days {
		sum, sumBefore = sum+d.Days[i].Cents, sumBefore+before[i]
		d.Days[i].Sum, d.Days[i].BeforeTo = sum, sumBefore
		if !d.Days[i].ToCome {
			d.Before = sumBefore
		}
	}
	d.joinSmallGroups()
}

// joinSmallGroups orders the groups, and adds up those that are too many to be told apart.
func (d *Days) joinSmallGroups() {
	slices.SortFunc(d.Groups, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Cents, a.Cents), cmp.Compare(a.Key, b.Key)) })
	if len(d.Groups) <= mostGroups+1 {
		return
	}
	others := Group{CentsByDay: make([]int64, len(d.Days))}
	for _, g := range d.Groups[mostGroups:] {
		others.Cents, others.Saved = others.Cents+g.Cents, others.Saved+g.Saved
		for i, cents := range g.CentsByDay {
			others.CentsByDay[i] += cents
		}
	}
	d.Groups = append(d.Groups[:mostGroups:mostGroups], others)
}

// addMonthBudgets adds the budgets of the teams.
func (s *Service) addMonthBudgets(d *Days, teams []string) {
	for _, t := range s.catalogue().Teams {
		if teams != nil && !slices.Contains(teams, t.Name) {
			continue
		}
		d.Budget += t.Budget.MonthlyCents
		for i := range d.Groups {
			if d.Groups[i].Key == t.Name {
				d.Groups[i].BudgetOfMonth = t.Budget.MonthlyCents
			}
		}
	}
}

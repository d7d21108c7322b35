package chatops

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

// Week is what happened in a week, for the weekly report. Amounts are estimates by list prices.
type Week struct {
	Team     string    // empty: all teams
	From, To time.Time // midnights in the zone of the report; To is not in

	Cents, CentsBefore int64     // spent, and spent in the week before
	SavedCents         int64     // what clusters that slept would have cost more awake
	Spenders           []Spender // teams, or the owners in a team; the most expensive first

	Accepted, Ready, Destroyed int
	Median                     time.Duration // until ready
	Live                       int           // clusters that are there now
	HourlyCents                int64         // what they cost in an hour
	Longest                    []LongRunning // of these, the oldest first

	FailedAttempts int
	Failures       []WeekFailure // the most frequent first

	EndedUnused   int // clusters that ended because nobody used them
	SleptIdle     int // how often a cluster fell asleep because of that
	SleptOffHours int // how often one fell asleep outside working hours

	Teardowns, Unaided int   // that ended, and of these those without help
	Blocked            int   // teardowns that are blocked now
	Leaks              int   // that are there now
	LeakCents          int64 // what they cost, as far as known
}

// Spender is somebody whose clusters cost something.
type Spender struct {
	Name  string
	Cents int64
}

// LongRunning is a cluster that has been there for long.
type LongRunning struct {
	Name, Owner, Team string
	Age               time.Duration
	HourlyCents       int64
}

// WeekFailure counts the attempts that failed for one reason.
type WeekFailure struct {
	Reason   string
	Attempts int
}

// What the weekly report names of each.
const (
	mostNamed = 3
	mostTasks = 3
)

// Title is the heading of the weekly report.
func (w Week) Title() string {
	last := w.To.AddDate(0, 0, -1)
	from := w.From.Format("2 January")
	if w.From.Month() == last.Month() {
		from = w.From.Format("2")
	}
	title := fmt.Sprintf("Week of %s to %s", from, last.Format("2 January 2006"))
	if w.Team != "" {
		title += ", team " + w.Team
	}
	return title
}

// Page is the path of the page that shows the same week.
func (w Week) Page() string {
	q := url.Values{"from": {w.From.Format(time.DateOnly)}, "to": {w.To.Format(time.DateOnly)}}
	if w.Team != "" {
		q.Set("team", w.Team)
	}
	return "/reports?" + q.Encode()
}

// Text is the weekly report in GitHub's Markdown.
func (w Week) Text() string {
	var lines []string
	add := func(head, text string) { lines = append(lines, "**"+head+":** "+text+".") }
	add("Spent", w.describeSpending())
	if w.SavedCents > 0 {
		add("Saved by sleeping", price.Dollars(w.SavedCents))
	}
	clusters := fmt.Sprintf("%d requested, %d became ready", w.Accepted, w.Ready)
	if w.Ready > 0 {
		clusters += fmt.Sprintf(", half of them within %s", duration.Format(w.Median))
	}
	clusters += fmt.Sprintf(", and %d are gone", w.Destroyed)
	add("Clusters", clusters)
	if unused := w.describeUnused(); unused != "" {
		add("Unused clusters", unused)
	}
	if w.FailedAttempts > 0 {
		add("Failed attempts", w.describeFailures())
	} else {
		add("Failed attempts", "none")
	}
	if w.Teardowns > 0 {
		add("Teardowns", fmt.Sprintf("%d of %d ended without help", w.Unaided, w.Teardowns))
	}
	if w.Leaks > 0 {
		leaks := several(w.Leaks, "group", "groups") + " of resources that belong to no cluster"
		if w.LeakCents > 0 {
			leaks += ", which cost at least " + price.Dollars(w.LeakCents)
		}
		add("Leaks", leaks)
	}
	if w.Live > 0 {
		add("Now", fmt.Sprintf("%s, for %s per hour. These have been there the longest", several(w.Live, "cluster", "clusters"), price.Dollars(w.HourlyCents)))
		for _, c := range w.Longest[:min(len(w.Longest), mostNamed)] {
			lines = append(lines, fmt.Sprintf("- %s of %s, team %s: for %s, %s per day", Code(c.Name), Code(c.Owner), Code(c.Team), duration.Format(c.Age), price.Dollars(24*c.HourlyCents)))
		}
	} else {
		add("Now", "there is no cluster")
	}
	lines = append(lines, "**What to do:**")
	for _, task := range w.tasks() {
		lines = append(lines, "- "+task)
	}
	return strings.Join(lines, "\n")
}

// describeUnused says what was done about clusters that nobody used; empty: nothing.
func (w Week) describeUnused() string {
	var said, slept []string
	switch {
	case w.EndedUnused == 1:
		said = append(said, "1 cluster ended because nobody used it")
	case w.EndedUnused > 1:
		said = append(said, fmt.Sprintf("%d clusters ended because nobody used them", w.EndedUnused))
	}
	if w.SleptIdle > 0 {
		slept = append(slept, several(w.SleptIdle, "time", "times")+" because nobody used them")
	}
	if w.SleptOffHours > 0 {
		slept = append(slept, several(w.SleptOffHours, "time", "times")+" outside working hours")
	}
	if len(slept) > 0 {
		said = append(said, "clusters fell asleep "+strings.Join(slept, ", and "))
	}
	return strings.Join(said, "; ")
}

func (w Week) describeSpending() string {
	text := price.Dollars(w.Cents) + " by list prices"
	switch change := w.Cents - w.CentsBefore; {
	case change > 0:
		text += fmt.Sprintf(", %s more than in the week before", price.Dollars(change))
	case change < 0:
		text += fmt.Sprintf(", %s less than in the week before", price.Dollars(-change))
	default:
		text += ", as much as in the week before"
	}
	var most []string
	for _, s := range w.Spenders[:min(len(w.Spenders), mostNamed)] {
		most = append(most, Code(s.Name)+" "+price.Dollars(s.Cents))
	}
	if len(most) > 0 {
		text += ". The most: " + strings.Join(most, ", ")
	}
	return text
}

func (w Week) describeFailures() string {
	var most []string
	for _, f := range w.Failures[:min(len(w.Failures), mostNamed)] {
		most = append(most, fmt.Sprintf("%s %d", Code(f.Reason), f.Attempts))
	}
	return fmt.Sprintf("%d. The most frequent: %s", w.FailedAttempts, strings.Join(most, ", "))
}

// From when on the weekly report asks somebody to look.
const (
	oftenFailed = 3
	longThere   = 3 * 24 * time.Hour
	moreCents   = 1000 // and by a quarter
)

// tasks are at most three things to do, the most urgent first.
func (w Week) tasks() (tasks []string) {
	add := func(when bool, format string, args ...any) {
		if when && len(tasks) < mostTasks {
			tasks = append(tasks, fmt.Sprintf(format, args...))
		}
	}
	add(w.Blocked > 0, "Help %s: the findings name what is in the way.", several(w.Blocked, "blocked teardown", "blocked teardowns"))
	add(w.Leaks > 0, "Look at %s of resources that belong to no cluster: they cost money until somebody removes them.", several(w.Leaks, "group", "groups"))
	if len(w.Failures) > 0 {
		f := w.Failures[0]
		add(f.Attempts >= oftenFailed, "Look into %s: %d attempts failed because of it. The runbook for failed creates says who can help.", Code(f.Reason), f.Attempts)
	}
	if len(w.Longest) > 0 {
		c := w.Longest[0]
		add(c.Age >= longThere, "Ask %s whether %s is still needed: it has been there for %s.", Code(c.Owner), Code(c.Name), duration.Format(c.Age))
	}
	if rise := w.Cents - w.CentsBefore; len(w.Spenders) > 0 {
		add(rise >= moreCents && rise*4 >= w.CentsBefore, "Find out why spending rose by %s; %s spent the most.", price.Dollars(rise), Code(w.Spenders[0].Name))
	}
	add(len(tasks) == 0, "Nothing.")
	return tasks
}

// several is a number with its noun.
func several(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

package humanize

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

// Spent formats what a cluster has cost by list prices, so far or altogether. A cluster that waits or is destroyed costs nothing
// more.
func Spent(c v1.Cluster, now time.Time) string { return price.Dollars(meterOf(c).Spent(now)) }

// Costs describes a cluster's cost in one line.
func Costs(c v1.Cluster, now time.Time) string {
	until := "so far"
	if !c.ReleasedAt.IsZero() {
		until = "in all"
	}
	line := price.Dollars(int64(c.HourlyCents)) + " an hour by list prices"
	if c.SpotSavesCents > 0 {
		line += ", " + price.Dollars(int64(c.SpotSavesCents)) + " less than without spot machines"
	}
	line += fmt.Sprintf("; about %s %s", Spent(c, now), until)
	if c.Desired == v1.Present {
		line += fmt.Sprintf(", %s until its planned end", price.Dollars(meterOf(c).Total(now, c.DestroyAt)))
	}
	return line
}

func meterOf(c v1.Cluster) price.Meter {
	return price.Meter{Ran: price.Amount(c.Meter.Ran), Since: c.Meter.Since, Rate: c.Meter.RateCents, ToCome: c.Meter.ToComeCents,
		Less: price.Amount(c.Meter.Saved), LessNow: c.Meter.SavedCents}
}

// Sleep says when a cluster that sleeps wakes, or when one that is awake falls asleep next, and what its sleep has saved; empty: it is awake and
// never sleeps.
func Sleep(c v1.Cluster, now time.Time) string {
	var parts []string
	if c.Sleep.Wanted && c.Sleep.Until.IsZero() {
		parts = append(parts, "until somebody wakes it")
	} else if c.Sleep.Wanted {
		parts = append(parts, "until "+When(c.Sleep.Until, now))
	}
	if c.Sleep.Wanted && c.Sleep.Why != "" {
		parts = append(parts, Line(c.Sleep.Why))
	}
	if !c.Sleep.Wanted && c.Sleep.AwakeUntil.After(now) {
		parts = append(parts, "kept awake until "+When(c.Sleep.AwakeUntil, now))
	}
	if at := c.Sleep.SleepsAt; !at.IsZero() {
		parts = append(parts, "falls asleep "+When(at, now)+", unless it is used")
	}
	if saved := meterOf(c).Saved(now); saved > 0 {
		parts = append(parts, "about "+price.Dollars(saved)+" saved by sleeping")
	}
	return strings.Join(parts, "; ")
}

// Sleeps says in a few words until when a cluster is asleep or kept awake, and when it falls asleep next; empty: nothing of that is known.
func Sleeps(c v1.Cluster, now time.Time) string {
	var parts []string
	switch {
	case c.Sleep.Wanted && c.Sleep.Until.IsZero():
		parts = append(parts, "until woken")
	case c.Sleep.Wanted:
		parts = append(parts, "wakes "+duration.Away(c.Sleep.Until, now))
	case c.Sleep.AwakeUntil.After(now):
		parts = append(parts, "kept awake for "+duration.Format(c.Sleep.AwakeUntil.Sub(now)))
	}
	if !c.Sleep.SleepsAt.IsZero() {
		parts = append(parts, duration.Away(c.Sleep.SleepsAt, now))
	}
	return strings.Join(parts, ", then asleep ")
}

// Unused says since when nobody has used a cluster, and what follows if that stays so; empty: nothing follows from that.
func Unused(c v1.Cluster, now time.Time) string {
	if c.Idle.Since.IsZero() {
		return ""
	}
	parts := []string{When(c.Idle.Since, now) + ", as far as ocpctl knows"}
	if c.Idle.LastUse != "" {
		parts = append(parts, Line(c.Idle.LastUse))
	}
	if c.Idle.Unobserved {
		parts = append(parts, "whether people use its API is unknown")
	}
	for _, next := range []struct {
		what string
		at   time.Time
	}{{"people are told", c.Idle.TellAt}, {"put to sleep", c.Idle.SleepAt}, {"ends for it", c.Idle.EndAt}} {
		if !next.at.IsZero() {
			parts = append(parts, next.what+" "+When(next.at, now))
		}
	}
	return strings.Join(parts, "; ")
}

// Saved says for how long no runner of a pipeline waited for a cluster; empty: one did, or it is not ready.
func Saved(c v1.Cluster) string {
	if c.SavedSeconds == 0 {
		return ""
	}
	return duration.Format(time.Duration(c.SavedSeconds)*time.Second) + " in which no runner waited"
}

// Ends says when a cluster ends and why; empty: it ended, or is being destroyed.
func Ends(c v1.Cluster, now time.Time) string {
	if c.Desired == v1.Absent || !c.ReleasedAt.IsZero() || c.DestroyAt.IsZero() {
		return ""
	}
	text := When(c.DestroyAt, now)
	if c.EndReason != "" {
		text += ": " + c.EndReason
	}
	if r := c.Run; r.State == v1.Running && r.Unwatched == "" {
		text = fmt.Sprintf("with its %s, at the latest %s", r.Lifetime, text)
	}
	return text
}

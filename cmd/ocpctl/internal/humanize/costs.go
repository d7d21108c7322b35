package humanize

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/internal/price"
)

// Spent formats what a cluster has cost by list prices, so far or altogether. A cluster that waits or is destroyed costs nothing
// more.
func Spent(c client.Cluster, now time.Time) string { return Dollars(meter(c).Spent(now)) }

// Costs describes a cluster's cost in one line.
func Costs(c client.Cluster, now time.Time) string {
	line := fmt.Sprintf("%s an hour by list prices; about %s so far", Dollars(int64(c.HourlyCents)), Spent(c, now))
	if c.Desired == client.Present {
		line += fmt.Sprintf(", %s until its planned end", Dollars(meter(c).Total(now, c.DestroyAt)))
	}
	return line
}

func meter(c client.Cluster) price.Meter {
	return price.Meter{Ran: price.Amount(c.Meter.Ran), Since: c.Meter.Since, Rate: c.Meter.RateCents, ToCome: c.Meter.ToComeCents}
}

// Saved says for how long no runner of a pipeline waited for a cluster; empty: one did, or it is not ready.
func Saved(c client.Cluster) string {
	if c.SavedSeconds == 0 {
		return ""
	}
	return Long(time.Duration(c.SavedSeconds)*time.Second) + " in which no runner waited"
}

// Ends says when a cluster ends and why; empty: it ended, or is being destroyed.
func Ends(c client.Cluster, now time.Time) string {
	if c.Desired == client.Absent || !c.ReleasedAt.IsZero() || c.DestroyAt.IsZero() {
		return ""
	}
	text := When(c.DestroyAt, now)
	if c.EndReason != "" {
		text += ": " + c.EndReason
	}
	if r := c.Run; r.State == client.Running && r.Unwatched == "" {
		text = fmt.Sprintf("with its %s, at the latest %s", r.Lifetime, text)
	}
	return text
}

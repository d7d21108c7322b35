package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// UnreadyForSleep tells somebody that a cluster ceased to be ready before the request was stored.
func UnreadyForSleep(name string) string {
	return name + " is no longer ready, so it can neither be put to sleep nor woken."
}

// SleepIsPast is the problem of a time to wake that is over.
const SleepIsPast = "That time has passed. Give a time in the future."

// FallingAsleep answers sleep. No job: it is asleep already.
func FallingAsleep(c lifecycle.Card, job string) string {
	cost := ""
	if awake := c.AwakeCents(); c.AsleepCents < awake {
		cost = fmt.Sprintf(" Asleep it costs about %s an hour instead of %s.", price.Dollars(int64(c.AsleepCents)), price.Dollars(int64(awake)))
	}
	if job == "" {
		return c.Name + " is asleep already." + cost
	}
	return fmt.Sprintf("Putting %s to sleep (job %s).%s It cannot be used until it is awake, and still ends at %s.", c.Name, job, cost, chatops.Time(c.End()))
}

// WakingUp answers wake. No job: it is awake already.
func WakingUp(c lifecycle.Card, job string) string {
	if job == "" {
		return c.Name + " is awake already."
	}
	return fmt.Sprintf("Waking %s (job %s). It will be ready in a few minutes.", c.Name, job)
}

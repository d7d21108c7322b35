package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// UnreadyForSleep tells somebody that a cluster ceased to be ready before the request was stored.
func UnreadyForSleep(name string) string {
	return name + " is no longer ready, so it can neither be put to sleep nor woken."
}

// SleepIsPast is the problem of a time to wake that is over.
const SleepIsPast = "The cluster would be woken before it sleeps. Give a time to come."

// FallingAsleep answers sleep. No job: it is asleep already.
func FallingAsleep(c lifecycle.Card, job string) string {
	cost := ""
	if awake := c.AwakeCents(); c.AsleepCents < awake {
		cost = fmt.Sprintf(" Asleep it costs about %s an hour instead of %s.", price.Dollars(int64(c.AsleepCents)), price.Dollars(int64(awake)))
	}
	if job == "" {
		return c.Name + " is asleep already." + cost
	}
	return fmt.Sprintf("%s is put to sleep (job %s).%s It cannot be used until it is awake. Its end does not move.", c.Name, job, cost)
}

// WakingUp answers wake. No job: it is awake already.
func WakingUp(c lifecycle.Card, job string) string {
	if job == "" {
		return c.Name + " is awake already."
	}
	return fmt.Sprintf("%s is woken (job %s). That takes some minutes; it can be used as soon as it is ready.", c.Name, job)
}

package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// CannotSleep tells somebody that the cluster's profile has no way to sleep.
func CannotSleep(c lifecycle.Card) string {
	return fmt.Sprintf("%s cannot be put to sleep: its profile %s allows neither to remove its workers nor to stop its machines. "+
		"A platform admin can allow it for new clusters, with sleep in the profile.", c.Name, c.Profile)
}

// NotReadyToSleep tells somebody that only a ready cluster sleeps and wakes.
func NotReadyToSleep(c lifecycle.Card) string {
	return fmt.Sprintf("%s is %s (%s). A cluster can be put to sleep and woken only while it is READY.", c.Name, c.Status, c.Phase)
}

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

// AskedToSleep answers sleep on a pull request.
func AskedToSleep(actor string, c lifecycle.Card, job string) string {
	return chatops.Said("@"+actor+", "+FallingAsleep(c, job), actor)
}

// AskedToWake answers wake on a pull request.
func AskedToWake(actor string, c lifecycle.Card, job string) string {
	return chatops.Said("@"+actor+", "+WakingUp(c, job), actor)
}

// Asleep tells somebody who wants to use a cluster that it sleeps, and how to wake it.
func Asleep(c lifecycle.Card) string {
	if c.Phase == lifecycle.Waking || !c.SleepWanted {
		return c.Name + " is waking up. Try again as soon as it is ready."
	}
	return fmt.Sprintf("%s is asleep, so it cannot be used. Wake it with ocpctl wake %s, or with %s wake; that takes some minutes.", c.Name, c.Name, chatops.Prefix)
}

package chatops

import (
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// isAsleep reports a cluster that sleeps, or is on its way: nobody can use it.
func isAsleep(c lifecycle.Card) bool {
	return slices.Contains([]lifecycle.Phase{lifecycle.GoingToSleep, lifecycle.PhaseAsleep, lifecycle.Waking}, c.Phase)
}

// asleep says what it costs to let a cluster sleep, when it wakes, and how to wake it.
func asleep(c lifecycle.Card) string {
	text := "It cannot be used until it is awake."
	if awake := c.AwakeCents(); c.AsleepCents < awake {
		text = fmt.Sprintf("It costs about %s an hour instead of %s, and cannot be used until it is awake.", price.Dollars(int64(c.AsleepCents)), price.Dollars(int64(awake)))
	}
	if c.SleepUntil.IsZero() {
		return text + " To wake it: " + Prefix + " wake."
	}
	return text + " It wakes at " + moment(c.SleepUntil, life(c)) + ", or now with " + Prefix + " wake."
}

package chatops

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Nights says until when a cluster that sleeps outside working hours is kept awake, and when it falls asleep next; empty: it sleeps, it is not
// ready, or it has no nights.
func Nights(c lifecycle.Card) string {
	if !c.OffHours || c.Status != lifecycle.Ready || !isWanted(c) || c.SleepWanted {
		return ""
	}
	var parts []string
	if c.AwakeUntil.After(c.UpdatedAt) {
		parts = append(parts, "kept awake until "+moment(c.AwakeUntil, life(c)))
	}
	if at := c.FallsAsleepAt(); !at.IsZero() {
		parts = append(parts, "falls asleep at "+moment(at, life(c))+", unless it is used")
	}
	return strings.Join(parts, "; ")
}

// restWarning tells the people of a cluster that its schedule is about to put it to sleep, and how to keep it awake; empty: there is no such
// warning in force.
func restWarning(c lifecycle.Card) string {
	if !c.IsRestWarned() {
		return ""
	}
	return fmt.Sprintf("**Falls asleep soon:** at %s, outside working hours. If you need it, keep it awake until the next working hours with %s.",
		moment(c.FallsAsleepAt(), life(c)), Code(Prefix+" hold tonight"))
}

package messages

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// KeptAwake answers hold tonight.
func KeptAwake(c lifecycle.Card) string {
	text := fmt.Sprintf("%s stays awake until %s.", c.Name, c.AwakeUntil.UTC().Format("15:04 MST on Monday, 2 January"))
	if c.SleepWanted || c.Power != lifecycle.Awake {
		text += " It is waking up and will be ready in a few minutes."
	}
	return text
}

// KeptAwakeInSlack is KeptAwake for a card that does not show it yet.
func KeptAwakeInSlack(c lifecycle.Card, until time.Time) string {
	c.AwakeUntil = until
	return KeptAwake(c)
}

// WakesForUse tells somebody who wants to use a cluster that no person put to sleep why it sleeps, and that it is woken for them.
func WakesForUse(c lifecycle.Card) string {
	why := "sleeps outside working hours"
	if c.PowerBy == lifecycle.ByIdle {
		why = "was put to sleep because nobody used it"
	}
	return c.Name + " " + why + ". ocpctl is waking it for you now. Try again in a few minutes."
}

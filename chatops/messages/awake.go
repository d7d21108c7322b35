package messages

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// TonightIsAHold is the problem of "tonight" beside a time, or where something else than a hold is asked for.
var TonightIsAHold = Problem{"It can only be given alone, and to a hold.", []string{"hours or until, without tonight"}}

// KeepsNoHours tells somebody that a cluster has no nights.
func KeepsNoHours(c lifecycle.Card) string {
	return c.Name + " does not sleep outside working hours, so there is nothing to keep it awake for. To keep it from ending, give a duration, such as 8h."
}

// NoNight tells somebody that no working hours are in force for a cluster, or that they never end.
func NoNight(c lifecycle.Card) string {
	return fmt.Sprintf("No working hours that begin again are in force for %s, so nothing puts it to sleep.", c.Name)
}

// PutToSleepByHand tells somebody that a cluster sleeps because a person said so.
func PutToSleepByHand(c lifecycle.Card) string {
	return fmt.Sprintf("%s was put to sleep by a person (%s), not by working hours. Wake it with ocpctl wake %s, or with %s wake.", c.Name, c.SleepWhy, c.Name, chatops.Prefix)
}

// KeptAwake answers hold tonight.
func KeptAwake(c lifecycle.Card) string {
	text := fmt.Sprintf("%s stays awake until %s.", c.Name, c.AwakeUntil.UTC().Format("15:04 MST on Monday, 2 January"))
	if c.SleepWanted || c.Power != lifecycle.Awake {
		text += " It is woken; that takes some minutes."
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

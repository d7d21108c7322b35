package chatops

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// progress renders the bar with the runner's step and the expected end.
func progress(c lifecycle.Card) string { return progressUntil(c, ETA(c)) }

// progressUntil is progress with the expected end in words.
func progressUntil(c lifecycle.Card, eta string) string {
	if !moving(c) || c.Progress.Percent == 0 && c.Progress.Step == "" {
		return ""
	}
	text := bar(c.Progress.Percent)
	if c.Progress.Step != "" {
		text += " " + plain(sentence(c.Progress.Step))
	}
	if eta != "" {
		text += " " + sentence(eta)
	}
	return text
}

// ETA says when it should be done, judging by earlier clusters, in absolute times; empty: unknown or past.
func ETA(c lifecycle.Card) string { return etaAs(c, clock, " UTC") }

// etaAs is ETA with times as show writes them; zone follows the first.
func etaAs(c lifecycle.Card, show func(time.Time) string, zone string) string {
	soon, late := c.Progress.ETA, c.Progress.Late
	switch {
	case !soon.IsZero() && late.After(soon):
		return fmt.Sprintf("ready at about %s%s; nine of ten recent ones were ready by %s", show(soon), zone, show(late))
	case !soon.IsZero():
		return fmt.Sprintf("ready at about %s%s, judging by recent ones", show(soon), zone)
	case !late.IsZero():
		return fmt.Sprintf("it takes longer than usual; nine of ten recent ones were ready by %s%s", show(late), zone)
	}
	return ""
}

// Line gives its position in the queue, for its turn, for capacity in its account and region, or for a free runner, since when it
// waits, and when its turn may come; empty while it does not wait.
func Line(c lifecycle.Card) string {
	if c.Position <= 0 || c.Status == lifecycle.Pending && c.Phase != lifecycle.AwaitingCapacity {
		return ""
	}
	what := "It"
	switch c.Status {
	case lifecycle.Ready:
		what = "The change"
	case lifecycle.Creating, lifecycle.Destroying, lifecycle.Failed:
		what = "Its teardown"
	}
	text := what + " is next in the queue."
	if c.Position > 1 {
		text = fmt.Sprintf("%s is number %d in the queue.", what, c.Position)
	}
	if !c.WaitsSince.IsZero() {
		text += fmt.Sprintf(" It has waited since %s.", moment(c.WaitsSince, life(c)))
	}
	if !c.TurnETA.IsZero() {
		text += fmt.Sprintf(" Its turn may come at about %s.", moment(c.TurnETA, life(c)))
	}
	return text
}

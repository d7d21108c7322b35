package chatops

import (
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Unobserved says that only what ocpctl itself sees is known of a cluster's use.
const Unobserved = "Whether people use its API is unknown: ocpctl could not ask it."

// Unused says since when nobody has used a cluster, and what follows if that stays so; empty: nothing follows from that.
func Unused(c lifecycle.Card) string {
	if !c.CountsIdle() {
		return ""
	}
	text := "As far as ocpctl knows, nobody has used it since " + Time(c.UnusedSince())
	if c.ActiveWhat != "" {
		text += " (" + string(c.ActiveWhat) + ")"
	}
	text += "."
	if c.Unobserved() {
		text += " " + Unobserved
	}
	var steps []string
	if at := c.IdleTellAt(); !at.IsZero() {
		steps = append(steps, "its people are told at "+Time(at))
	}
	if at := c.IdleSleepExpected(); !at.IsZero() {
		steps = append(steps, "it is put to sleep at "+Time(at))
	}
	switch at := c.Ends.DestroyAt(); {
	case !c.Ends.IsIdle(): // something else ends it before
	case c.Ends.Idle.Before(at):
		steps = append(steps, "it ends at "+Time(at)+", when its hold is over")
	default:
		steps = append(steps, "it ends at "+Time(at))
	}
	if len(steps) == 0 {
		return text
	}
	return text + " If that stays so, " + strings.Join(steps, "; ") + "."
}

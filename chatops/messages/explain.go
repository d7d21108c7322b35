package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// shownBlockers is how many leftovers an explanation names.
const shownBlockers = 10

// Step is something that a person can do next, and the command for it on the command line and in Slack; empty: there is none.
type Step struct {
	Text, CLI, Slack string
}

// String is the step with the command of the command line.
func (s Step) String() string { return s.Text + ": ocpctl " + s.CLI }

// StateReason says in which state a cluster is and why, with its name as it is shown there.
func StateReason(c lifecycle.Card, name string) string {
	return fmt.Sprintf("%s is %s (%s): %s.", name, c.Status, c.Phase, strings.TrimSuffix(chatops.Brief(c), "."))
}

// Reasons says what else there is to a cluster's state, one sentence each, to whoever asks to explain it.
func Reasons(c lifecycle.Card) []string {
	var why []string
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	live := c.Phase != lifecycle.Released
	add(live && c.Desired != lifecycle.Present, "It is to be destroyed: %s.", strings.TrimSuffix(chatops.BriefEnd(c), "."))
	add(live && c.NeedsApproval, "It waits for an approval, until %s at the latest.", chatops.Time(c.ApproveBy))
	if line := chatops.Line(c); live && line != "" {
		why = append(why, line)
	}
	add(c.FailMessage != "", "Its last attempt failed: %s", c.FailMessage)
	add(c.FailNext != "", "What to do about it: %s", c.FailNext)
	add(live && c.StuckNext != "", "What to do so that its teardown can end (%s): %s", c.StuckReason, c.StuckNext)
	for _, b := range c.Blockers[:min(len(c.Blockers), shownBlockers)] {
		add(live, "Blocked by: %s", b)
	}
	if more := len(c.Blockers) - shownBlockers; more > 0 {
		add(live, "%d more resources are left; the cluster's page and ocpctl status list them.", more)
	}
	add(live && c.RetryAt.After(c.UpdatedAt), "The next attempt is due %s.", chatops.Time(c.RetryAt))
	add(c.Work[lifecycle.Configure].IsRequested(), "Its add-ons are being refreshed: %s.", strings.Join(c.Addons, ", "))
	if c.WorkersWanted != nil {
		add(true, "Its workers are being scaled to %d.", *c.WorkersWanted)
	}
	add(c.HoldWhy != "", "It is held until %s: %s.", chatops.Time(c.Ends.Hold), strings.TrimSuffix(c.HoldWhy, "."))
	if wanted := live && c.Desired == lifecycle.Present; c.Run.ID != "" {
		add(true, "It belongs to %s.", chatops.RunText(c.Run))
		add(c.Run.URL != "", "Its run: %s", c.Run.URL)
		add(wanted && c.Run.Unwatched == "" && c.Ends.Claim.IsZero(), "It ends with the %s, at once after a success or a cancellation, otherwise after a grace.", c.Run.Lifetime)
		add(wanted && c.Run.Unwatched != "", "%s", Unwatched(c.Run.Unwatched))
	}
	if text := chatops.SignalText(c.Signal); text != "" {
		add(true, "%s", text)
	}
	if text := chatops.Saved(c); text != "" {
		add(true, "%s", text)
	}
	if text := chatops.Unused(c); text != "" {
		add(true, "%s", text)
	}
	add(live && c.Desired == lifecycle.Present, "It ends %s: %s.", chatops.Time(c.DestroyAt), WhyItEnds(c.Ends))
	return why
}

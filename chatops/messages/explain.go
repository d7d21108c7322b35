package messages

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// shownBlockers is how many leftovers an explanation names.
const shownBlockers = 10

// Reasons says why a cluster is in its state, one sentence each, to whoever asks to explain it.
func Reasons(c lifecycle.Card) []string {
	why := []string{fmt.Sprintf("%s is %s (%s): %s.", c.Name, c.Status, c.Phase, strings.TrimSuffix(c.Why, "."))}
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	live := c.Phase != lifecycle.Released
	add(c.Desired != lifecycle.Present, "It is to be destroyed: %s.", strings.TrimSuffix(c.DesiredWhy, "."))
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
		add(wanted && c.Run.Unwatched == "", "It ends with the %s, at once after a success or a cancellation, otherwise after a grace.", c.Run.Lifetime)
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

// EndText says what one of a cluster's ends means: ttl, maximum, pr_closed, label_removed, run_finished, claim, idle or hold.
func EndText(kind string, ends lifecycle.Ends) string {
	switch kind {
	case "ttl":
		return "its time to live is over"
	case "pr_closed":
		return cmp.Or(ends.PRWhy, lifecycle.BecauseClosed) + ", and the grace is over"
	case "label_removed":
		return "its label was removed, and the grace is over"
	case "run_finished":
		return cmp.Or(ends.RunWhy, lifecycle.BecauseRunFinished)
	case "claim":
		return "its claim ends"
	case "idle":
		return "nobody used it: use moves this end"
	case "hold":
		return "a hold: only the maximum can end it before"
	case "maximum":
		return "the profile's maximum: nothing extends it past this"
	}
	return ""
}

// PostponedByHold is added to an end that a hold keeps from ending the cluster.
func PostponedByHold(until time.Time) string {
	return "; the hold postpones it to " + chatops.Time(until)
}

// NextStep says what somebody can do with a cluster by an act, and with which command. ofPullRequest: it was requested on one.
func NextStep(act policy.Act, c lifecycle.Card, ofPullRequest bool) string {
	step := func(text, verb, args string) string {
		return strings.TrimRight(fmt.Sprintf("%s: ocpctl %s %s %s", text, verb, c.Name, args), " ")
	}
	switch act {
	case policy.ActApprove:
		return step("Approve or refuse it", "approve", "")
	case policy.ActKubeconfig:
		return step("Fetch its kubeconfig", "kubeconfig", "")
	case policy.ActExtend:
		return step("Extend it, at most until "+chatops.Time(c.Ends.Max), "extend", "4h")
	case policy.ActHold:
		text := "Hold it, so that only the profile's maximum can end it before"
		if ofPullRequest {
			text = "Hold it, even if its pull request is closed"
		}
		return step(text, "hold", "8h --reason …")
	case policy.ActScale:
		return step("Scale its workers", "scale-workers", "--replicas 2")
	case policy.ActRefresh:
		return step("Refresh its add-ons", "refresh", "")
	case policy.ActSleep:
		if c.SleepWanted {
			return step("Wake it", "wake", "")
		}
		return step("Put it to sleep, so that it costs less", "sleep", "")
	case policy.ActShare:
		return step("Share it with another team or person", "share", "--team …")
	case policy.ActTransfer:
		return step("Transfer it to another team", "transfer", "--team …")
	case policy.ActDestroy:
		return step("Destroy it", "destroy", "")
	case policy.ActRetry:
		return step("Bring its next teardown forward", "retry", "--reason …")
	case policy.ActAbandon:
		return step("Give up waiting for its teardown", "abandon", "--reason …")
	}
	return ""
}

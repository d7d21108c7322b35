package policy

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// JudgeExtend returns what an extension by d would do to the ends: moved as asked, limited by the profile's maximum, or refused
// because the maximum is reached. lifecycle.Ends enforces the maximum itself.
func JudgeExtend(e lifecycle.Ends, d time.Duration) (after lifecycle.Ends, check Check) {
	left := max(0, e.Max.Sub(e.TTL))
	check = Check{Name: "extend", Result: Pass, Asked: duration.Format(d), Have: formatMoment(e.TTL), Accept: "above 0, at most " + duration.Format(left)}
	after, capped := e, false
	if d > 0 {
		after, capped = e.Extend(d)
	}
	switch {
	case d > 0 && isPastDrain(e, after.TTL):
		check.Result, check.Accept = Fail, fmt.Sprintf("at most until %s", formatMoment(e.Drain))
		check.Message, check.Next = sayDrained(e, "It cannot be extended past that.")
	case left == 0:
		check.Result, check.Accept = Fail, "no extension"
		check.Message = fmt.Sprintf("It already ends at its profile's maximum, %s.", formatMoment(e.Max))
		check.Next = "Create a new cluster for longer."
	case d <= 0:
		check.Result, check.Message = Fail, fmt.Sprintf("This is not later than its present end, %s.", formatMoment(e.TTL))
		check.Next = fmt.Sprintf("Ask for a span such as 4h, or a time after that and no later than %s.", formatMoment(e.Max))
	case capped:
		check.Result = Warn
		check.Message = fmt.Sprintf("It ends %s, %s later and not %s: that is the maximum of its profile.", formatMoment(after.TTL), duration.Format(left), duration.Format(d))
		check.Next = "Create a new cluster for longer."
	default:
		check.Message = fmt.Sprintf("It ends %s, %s later.", formatMoment(after.TTL), duration.Format(d))
	}
	return after, addOtherEnd(after, check)
}

// JudgeHold returns what a hold until that time would do: no end except the maximum comes before it.
func JudgeHold(e lifecycle.Ends, until, now time.Time) Check {
	check := Check{Name: "hold", Result: Pass, Asked: formatMoment(until), Have: formatMoment(e.DestroyAt()), Accept: fmt.Sprintf("after %s, at most until %s", formatMoment(now), formatMoment(e.Max))}
	switch {
	case !until.After(now):
		check.Result, check.Message, check.Next = Fail, fmt.Sprintf("%s is past.", formatMoment(until)), "Hold it until a time to come, or lift the hold."
	case isPastDrain(e, until):
		check.Result, check.Accept = Fail, fmt.Sprintf("after %s, at most until %s", formatMoment(now), formatMoment(e.Drain))
		check.Message, check.Next = sayDrained(e, "A hold does not pass that.")
	case until.After(e.Max):
		check.Result, check.Message = Fail, fmt.Sprintf("It ends %s at the latest, the maximum of its profile; a hold does not pass it.", formatMoment(e.Max))
		check.Next = fmt.Sprintf("Hold it until %s at most, or create a new cluster for longer.", formatMoment(e.Max))
	case !until.After(e.DestroyAt()):
		check.Result, check.Message = Warn, fmt.Sprintf("It lives until %s anyway.", formatMoment(e.DestroyAt()))
		check.Next = "Nothing to do. The hold takes effect if an earlier end is set."
	default:
		check.Message = fmt.Sprintf("Nothing ends it before %s.", formatMoment(until))
	}
	return check
}

// isPastDrain reports that an end would be later than the one that a drain sets. People type minutes, and what is beyond that has no effect.
func isPastDrain(e lifecycle.Ends, end time.Time) bool {
	return !e.Drain.IsZero() && e.Drain.Before(e.Max) && end.Sub(e.Drain) >= time.Minute
}

// sayDrained says that a cluster ends because an admin drains, and whom to ask.
func sayDrained(e lifecycle.Ends, so string) (message, next string) {
	return fmt.Sprintf("It ends %s: %s. %s", formatMoment(e.Drain), e.DrainWhy, so), fmt.Sprintf("Ask %s, or any platform admin of every team, to end the drain.", e.DrainWhy.By)
}

// addOtherEnd adds to the check which end still comes first, or that a hold postpones all of them.
func addOtherEnd(e lifecycle.Ends, check Check) Check {
	at, next := e.DestroyAt(), ""
	switch {
	case check.Result == Fail || at.Equal(e.TTL):
		return check
	case at.Before(e.TTL):
		check.Message += fmt.Sprintf(" Before that it ends %s: %s.", formatMoment(at), e.Reason())
		next = "Hold it, or remove the earlier end."
	default:
		check.Message += fmt.Sprintf(" A hold keeps it until %s.", formatMoment(at))
		next = "Lift the hold if it should end earlier."
	}
	if check.Result == Pass {
		check.Result, check.Next = Warn, next
	}
	return check
}

// formatMoment formats a time for people, with seconds unless it is a whole minute.
func formatMoment(t time.Time) string {
	t = t.UTC()
	if t.Second() == 0 {
		return t.Format("2006-01-02 15:04 UTC")
	}
	return t.Format(time.DateTime + " UTC")
}

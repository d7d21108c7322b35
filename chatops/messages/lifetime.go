package messages

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// HowLong tells somebody that their request needs a length or a time.
const HowLong = "The request does not say how long."

// The problems with a length or a time.
var (
	SpanGivenTwice = Problem{"the duration is given more than once", []string{"one of for, hours and until"}}
)

// NotADuration is the problem with a text that is no duration.
func NotADuration(text string) Problem {
	return Problem{fmt.Sprintf("%.40q is not a duration", text), []string{duration.Accepted}}
}

// HeldToMaximum says that a hold was cut to the profile's maximum.
func HeldToMaximum(until time.Time) string {
	return fmt.Sprintf("The hold lasts until %s, the maximum of its profile. It cannot go beyond that.", chatops.Time(until))
}

// WhyItEnds says why a cluster will end that is still wanted.
func WhyItEnds(e lifecycle.Ends) string {
	switch {
	case e.IsIdle() && e.Idle.Before(e.DestroyAt()): // it is not over yet
		return "nobody uses it, postponed by a hold"
	case e.IsIdle():
		return "nobody uses it"
	}
	return e.Reason().String()
}

// HoldReleased says when and why a cluster ends without its hold; had: there was one.
func HoldReleased(c lifecycle.Card, had bool) string {
	if !had {
		return fmt.Sprintf("%s was not held. It ends %s: %s.", c.Name, chatops.Time(c.DestroyAt), WhyItEnds(c.Ends))
	}
	return fmt.Sprintf("%s is no longer held. It ends %s: %s.", c.Name, chatops.Time(c.DestroyAt), WhyItEnds(c.Ends))
}

// increased are the acts that take more of a quota or budget, as participles.
var increased = map[policy.Act]string{policy.ActExtend: "extended", policy.ActHold: "held so long", policy.ActScale: "scaled so far"}

// Unaffordable tells somebody that a quota or a budget does not allow an act, as the check says.
func Unaffordable(name string, act policy.Act, check policy.Check) string {
	return fmt.Sprintf("%s cannot be %s: %s", name, increased[act], CheckText(check))
}

package profiles

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Idle is what is done about a ready cluster that nobody uses. Zero: that is not done.
type Idle struct {
	TellAfter  time.Duration // its people are told; set if one of the others is
	SleepAfter time.Duration // it is put to sleep until somebody uses it
	EndAfter   time.Duration // it ends
}

// From when the time to live of a profile's clusters counts.
const (
	TTLFromAccepted = "accepted"
	TTLFromActivity = "activity" // from the last use; the maximum still counts from the acceptance
)

// leastNotice is how long people know that nobody uses their cluster before anything is done about it.
const leastNotice = 30 * time.Minute

// idle reads what a profile says about clusters that nobody uses.
func idle(r *reader, into *Idle) field {
	return optional(r.inner("idle",
		span("tellAfter", &into.TellAfter, mostTTLHours*time.Hour),
		optional(span("sleepAfter", &into.SleepAfter, mostTTLHours*time.Hour)),
		optional(span("endAfter", &into.EndAfter, mostTTLHours*time.Hour))))
}

// compareIdle checks idle against the rest of the profile, whose way to sleep is known now.
func compareIdle(r *reader, p Profile) {
	for _, one := range []struct {
		name  string
		after time.Duration
	}{{"idle.sleepAfter", p.Idle.SleepAfter}, {"idle.endAfter", p.Idle.EndAfter}} {
		if least := p.Idle.TellAfter + leastNotice; one.after > 0 && r.good("idle.tellAfter", one.name) && one.after < least {
			r.failAt(one.name, duration.Typed(one.after), fmt.Sprintf("at least %s: %s more than tellAfter, so that people can do something first", duration.Typed(least), duration.Typed(leastNotice)))
		}
	}
	if p.Idle.SleepAfter > 0 && r.good("idle.sleepAfter") && (r.good("sleep") || p.Spot != "") && p.Sleep == SleepNever {
		r.failAt("idle.sleepAfter", "given for clusters that cannot sleep", acceptSleep(p))
	}
	if p.Idle.EndAfter > 0 && r.good("idle.sleepAfter", "idle.endAfter") && p.Idle.EndAfter <= p.Idle.SleepAfter {
		r.failAt("idle.endAfter", p.Idle.EndAfter.String(), fmt.Sprintf("more than sleepAfter, %s", p.Idle.SleepAfter))
	}
}

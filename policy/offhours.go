package policy

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// offHours reports whether the cluster is to sleep outside working hours: as the request says, otherwise as the profile does. Without
// working hours, a profile's word has no effect.
func (j judging) offHours() bool {
	if j.r.OffHours != nil {
		return *j.r.OffHours
	}
	return j.profile.OffHours.Default && !j.terms.Catalogue.HoursOf(j.profile.Name, j.own.Team).Empty()
}

// checkOffHours checks that the cluster can sleep outside working hours, and that it may be awake then.
func (j judging) checkOffHours() Check {
	hours := j.terms.Catalogue.HoursOf(j.profile.Name, j.own.Team)
	check := Check{Name: "off-hours", Result: Pass, Asked: fmt.Sprint(j.offHours())}
	refuse := func(accept, message, next string) Check {
		check.Result, check.Accept, check.Message, check.Next = Fail, accept, message, next
		return check
	}
	switch {
	case !j.offHours() && j.profile.OffHours.Required && !hours.Empty():
		return refuse("true", fmt.Sprintf("Every cluster of profile %s sleeps outside working hours, %s.", j.profile.Name, hours), "Leave the choice out. A cluster can be kept awake for a night once it is there.")
	case !j.offHours():
		check.Message = "It is awake outside working hours, too, as the request says."
	case j.profile.Sleep == profiles.SleepNever:
		return refuse("false", fmt.Sprintf("Clusters of profile %s cannot sleep.", j.profile.Name), "Leave the choice out, or use a profile whose clusters can sleep.")
	case hours.Empty():
		return refuse("false", fmt.Sprintf("Neither profile %s nor team %s says when people work.", j.profile.Name, j.own.Team), "Leave the choice out, or ask a platform admin to add workHours to the team in the catalogue.")
	default:
		check.Message = fmt.Sprintf("It sleeps outside working hours, %s%s.", hours, j.saves())
	}
	return check
}

// saves says what sleeping outside working hours saves of the cluster's price; empty: that is not known.
func (j judging) saves() string {
	region, known := j.profile.Region(orDefault(j.r.Region, j.profile.DefaultRegion))
	if !known || !j.priced {
		return ""
	}
	p := j.profile
	var asleep int
	switch {
	case region.AsleepCents != nil:
		asleep = *region.AsleepCents
	case p.Sleep == profiles.SleepWorkers:
		asleep = price.Hourly(region.HourlyCents, p.Nodes(), p.Workers.Replicas, 0)
	default:
		return ""
	}
	saved := price.For(region.HourlyCents-asleep, j.asleep())
	return fmt.Sprintf(". By list prices that saves up to %s of %s", price.Dollars(saved), price.Dollars(j.price))
}

// asleep is how long the cluster is outside working hours, if it is created now and lives until its end.
func (j judging) asleep() (total time.Duration) {
	hours := j.terms.Catalogue.HoursOf(j.profile.Name, j.own.Team)
	end := j.terms.Now.Add(j.life())
	for at := j.terms.Now; at.Before(end); {
		next := hours.Next(at)
		if next.IsZero() || next.After(end) {
			next = end
		}
		if !hours.Open(at) {
			total += max(0, next.Sub(at)-j.profile.OffHours.WakeAhead)
		}
		at = next
	}
	return total
}

package policy

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// hoursChoice is what was chosen about the time outside working hours, by the request or else by the repository's file; nil: nothing.
func (j judging) hoursChoice() *bool {
	if f := j.r.File; j.r.OffHours == nil && f != nil {
		return f.OffHours
	}
	return j.r.OffHours
}

// offHours reports whether the cluster is to sleep outside working hours: as was chosen, otherwise as the profile says. Without working
// hours, a profile's word has no effect.
func (j judging) offHours() bool {
	if chosen := j.hoursChoice(); chosen != nil {
		return *chosen
	}
	return j.profile.OffHours.Default && !j.terms.Catalogue.HoursOf(j.profile.Name, j.own.Team).Empty()
}

// checkOffHours checks that the cluster can sleep outside working hours, and that it may be awake then.
func (j judging) checkOffHours() Check {
	hours := j.terms.Catalogue.HoursOf(j.profile.Name, j.own.Team)
	check := Check{Name: "off-hours", Result: Pass, Asked: fmt.Sprint(j.offHours())}
	who, leaveOut := "the request", "Request a cluster without this choice"
	if j.r.OffHours == nil && j.hoursChoice() != nil {
		who, leaveOut = fileOf(j.r), "Choose otherwise in the request, or take offHours out of "+profiles.RepositoryFilePath+" on the base branch"
	}
	refuse := func(accept, message, next string) Check {
		check.Result, check.Accept, check.Message, check.Next = Fail, accept, message, next
		return check
	}
	switch {
	case !j.offHours() && j.profile.OffHours.Required && !hours.Empty():
		return refuse("true", fmt.Sprintf("Every cluster of profile %s sleeps outside working hours, %s.", j.profile.Name, hours), leaveOut+". A cluster can be kept awake for a night once it is there.")
	case !j.offHours():
		check.Message = "It is awake outside working hours, too, as " + who + " says."
	case j.profile.Sleep == profiles.SleepNever:
		why := fmt.Sprintf("Clusters of profile %s cannot sleep.", j.profile.Name)
		if j.profile.Spot != "" {
			why = fmt.Sprintf("Clusters of profile %s cannot sleep: their workers are spot machines, which AWS ends instead of stopping them.", j.profile.Name)
		}
		return refuse("false", why, leaveOut+", or use a profile whose clusters can sleep.")
	case hours.Empty():
		return refuse("false", fmt.Sprintf("Neither profile %s nor team %s says when people work.", j.profile.Name, j.own.Team), leaveOut+", or ask a platform admin to add workHours to the team in the catalogue.")
	default:
		check.Message = fmt.Sprintf("It sleeps outside working hours, %s%s.", hours, j.describeSavings())
	}
	return check
}

// describeSavings says what sleeping outside working hours saves of the cluster's price; empty: that is not known.
func (j judging) describeSavings() string {
	region, known := j.profile.Region(j.region)
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
	saved := price.For(region.HourlyCents-asleep, j.timeAsleep())
	return fmt.Sprintf(". By list prices that saves up to %s of %s", price.Dollars(saved), price.Dollars(j.price))
}

// timeAsleep is how long the cluster is outside working hours, if it is created now and lives until its end.
func (j judging) timeAsleep() (total time.Duration) {
	hours := j.terms.Catalogue.HoursOf(j.profile.Name, j.own.Team)
	end := j.terms.Now.Add(j.realLifetime())
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

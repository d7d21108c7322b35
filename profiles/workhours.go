package profiles

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

// OffHours is what a profile says about the time outside working hours, in which its clusters may sleep.
type OffHours struct {
	Default   bool          // its clusters sleep then, unless the request says otherwise
	Required  bool          // no request may say otherwise; then Default is set, too
	WakeAhead time.Duration // how long before the working hours begin a cluster is woken, so that it is ready when they do
	AwakeFor  time.Duration // how long a cluster stays awake outside working hours after it was used
}

// The values of a profile that names none. Stopped machines take longer than new workers, because the whole control plane has to come back.
const (
	usualWakeAhead   = 15 * time.Minute
	stoppedWakeAhead = 45 * time.Minute
	usualAwakeFor    = 2 * time.Hour
)

// HoursOf returns when people work with the clusters that a team has of a profile: the profile's own hours, otherwise the team's. The
// schedule is empty if neither has any, or if the profile's clusters cannot sleep.
func (c Catalogue) HoursOf(profile, team string) workhours.Schedule {
	p, known := c.Get(profile)
	if !known || p.Sleep == SleepNever {
		return workhours.Schedule{}
	}
	if !p.WorkHours.Empty() {
		return p.WorkHours
	}
	t, _, _ := c.Team(team)
	return t.WorkHours
}

// workHours reads a schedule.
func workHours(r *reader, into *workhours.Schedule) field {
	var zone string
	var hours, holidays []string
	f := r.inner("workHours",
		text("timeZone", &zone, workhours.ZoneText, func(s string) bool { _, err := workhours.ParseZone(s); return err == nil }),
		r.texts("hours", &hours, workhours.HoursText, func(s string) bool { _, err := workhours.Parse("UTC", []string{s}, nil); return err == nil }),
		optional(r.texts("holidays", &holidays, workhours.HolidayText, func(s string) bool {
			_, err := workhours.Parse("UTC", []string{"Mon 07:00-19:00"}, []string{s})
			return err == nil
		})))
	read := f.read
	f.read = func(n *yaml.Node, path string) bool {
		ok := read(n, path)
		if s, err := workhours.Parse(zone, hours, holidays); err == nil { // otherwise the fields have problems of their own
			*into = s
		}
		return ok
	}
	return optional(f)
}

// offHours reads what a profile says about the time outside working hours.
func offHours(r *reader, into *OffHours) field {
	return optional(r.inner("offHours",
		optional(boolean("default", &into.Default)),
		optional(boolean("required", &into.Required)),
		optional(span("wakeAhead", &into.WakeAhead, 4*time.Hour)),
		optional(span("awakeFor", &into.AwakeFor, 24*time.Hour))))
}

// completeOffHours checks offHours against the rest of the profile, whose way to sleep is known now, and fills in what is left out.
func completeOffHours(r *reader, p *Profile) {
	if r.good("offHours") && p.Sleep == SleepNever && (p.OffHours.Default || p.OffHours.Required) {
		r.failAt("offHours", "given for clusters that cannot sleep", acceptSleep(*p))
	}
	if r.good("offHours.default", "offHours.required") && p.OffHours.Required && !p.OffHours.Default {
		r.failAt("offHours.default", "false with required: true", "true, or required: false")
	}
	if p.OffHours.Required {
		p.OffHours.Default = true
	}
	if p.OffHours.WakeAhead == 0 {
		p.OffHours.WakeAhead = usualWakeAhead
		if p.Sleep == SleepStopped {
			p.OffHours.WakeAhead = stoppedWakeAhead
		}
	}
	if p.OffHours.AwakeFor == 0 {
		p.OffHours.AwakeFor = usualAwakeFor
	}
}

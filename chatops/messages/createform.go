package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/policy"
)

// FormField returns the label and the hint of a field of the form for a cluster; the hint may be empty.
func FormField(name string) (label, hint string) {
	texts := map[string][2]string{
		"name":          {"Name", "at most 21 lower-case letters, digits and dashes"},
		"profile":       {"Profile", ""},
		"region":        {"Region", ""},
		"version":       {"Version", ""},
		"baseDomain":    {"Base domain", ""},
		"ttl":           {"Lifetime", ""},
		"team":          {"Team", ""},
		"owner":         {"Owner", "who is responsible; by default you"},
		"costCenter":    {"Cost center", ""},
		"environment":   {"Environment", ""},
		"offhoursOptIn": {"Outside working hours", ""},
		"addons":        {"Add-ons", "what the cluster gets besides OpenShift"},
		"sshPublicKey":  {"SSH public key", "for the nodes, such as ssh-ed25519 AAAAC3… you@example.com"},
		"extraTags":     {"Additional tags", "one per line, such as Purpose=smoke"},
		"post":          {"Post updates in", "if you choose none, or ocpctl is not in the channel, you find them in your direct messages with it"},
	}
	text := texts[name]
	return text[0], text[1]
}

// What every cluster's form shows beside what its profile sets.
const (
	TagsLabel = "Tags"
)

// The choices of what a cluster does outside working hours.
const (
	SleepsOffHours = "it sleeps, and costs less"
	AwakeOffHours  = "it stays awake"
)

// OffHoursHint says when the working hours are.
func OffHoursHint(hours string) string { return "working hours: " + hours }

// RequiredTags names the tags that ocpctl sets.
func RequiredTags(names []string) string {
	return strings.Join(names, ", ") + " on everything in the cloud, set by ocpctl"
}

// LifetimeHint says how long a cluster of a profile may live.
func LifetimeHint(unasked, most time.Duration) string {
	return fmt.Sprintf("such as 8h, 90m or 2d; at most %s, by default %s", duration.Format(most), duration.Format(unasked))
}

// ProfileOption is a profile as a choice.
func ProfileOption(name string, enabled, adminOnly bool) string {
	switch {
	case !enabled:
		return name + " (off)"
	case adminOnly:
		return name + " (admins only)"
	}
	return name
}

// RegionOption is a region as a choice, with the price of a cluster there.
func RegionOption(name string, hourlyCents int) string {
	return name + ", " + price.Dollars(int64(hourlyCents)) + "/h"
}

// AddonOption is an add-on as a choice.
func AddonOption(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + description
}

// WorkerMachines are a profile's workers.
type WorkerMachines struct {
	Replicas    int
	Type        string
	Least, Most int // equal: they cannot be scaled
}

// Machines says which machines a profile's clusters have.
func Machines(replicas int, kind string, runWorkloads bool, w WorkerMachines) string {
	text := fmt.Sprintf("%d × %s", replicas, kind)
	if runWorkloads {
		text += ", which also run workloads"
	}
	if w.Replicas == 0 && w.Most == 0 {
		return text + "; no workers"
	}
	text += fmt.Sprintf("; %d × %s workers", w.Replicas, w.Type)
	if w.Least < w.Most {
		text += fmt.Sprintf(", scalable from %d to %d", w.Least, w.Most)
	}
	return text
}

// Lifetimes says how long a profile's clusters live.
func Lifetimes(unasked, most, grace time.Duration) string {
	return fmt.Sprintf("%s by default, at most %s; %s after its pull request closes", duration.Format(unasked), duration.Format(most), duration.Format(grace))
}

// WhenFull says what happens to a request when a quota is full.
func WhenFull(waits bool) string {
	if waits {
		return "requests wait in the queue"
	}
	return "requests are refused"
}

// PricesAsOf says of which day a profile's prices are.
func PricesAsOf(day string) string { return "list prices of " + day }

// TypedNoTag is the problem with a line in a form that is no tag.
func TypedNoTag(line string) Problem {
	return Problem{fmt.Sprintf("%q is not a tag", line), []string{"a line such as Purpose=smoke"}}
}

// TagTwice is the problem with a tag that a form has twice.
func TagTwice(key string) Problem { return Problem{key + " is given twice", []string{"each key once"}} }

// ExpectedPrice says what a granted request would cost; empty if nothing was granted.
func ExpectedPrice(v policy.Verdict) string {
	if v.Grant.HourlyCents == 0 {
		return ""
	}
	return fmt.Sprintf("about %s an hour, %s until its planned end, by list prices", price.Dollars(int64(v.Grant.HourlyCents)), price.Dollars(v.Grant.PriceCents))
}

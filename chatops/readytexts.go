package chatops

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Unrefreshable says why a cluster's add-ons cannot be refreshed; empty: they can.
func Unrefreshable(c lifecycle.Card) string {
	switch {
	case len(c.Addons) == 0:
		return c.Name + " was created without add-ons, and the add-ons of a cluster cannot be changed. Add them to the repository's file, and create a new cluster."
	case c.Status != lifecycle.Ready || c.Desired != lifecycle.Present:
		return fmt.Sprintf("%s is %s (%s). Add-ons can be refreshed only while the cluster is READY.", c.Name, c.Status, c.Phase)
	}
	return ""
}

// UnreadyForRefresh tells somebody that a cluster ceased to be ready before the refresh was stored.
func UnreadyForRefresh(name string) string {
	return name + " is no longer ready, so its add-ons cannot be refreshed."
}

// MissingAddon says that an add-on is not in place, and why, as its condition has it.
func MissingAddon(name, reason, message string) string {
	return fmt.Sprintf("Its add-on %s is missing (%s): %s", name, reason, message)
}

// FixedWorkers tells somebody that the profile's workers cannot be scaled.
func FixedWorkers(c lifecycle.Card) string {
	return fmt.Sprintf("The workers of %s cannot be scaled: its profile %s has a fixed number of workers. "+
		"Create a cluster of a profile whose workers can be scaled.", c.Name, c.Profile)
}

// WorkersOutOfBounds tells somebody how many workers a cluster may have.
func WorkersOutOfBounds(name string, replicas, least, most int) string {
	return fmt.Sprintf("%s may have %d to %d workers, not %d; nothing was changed.", name, least, most, replicas)
}

// NotReadyToScale tells somebody that only a ready cluster can be scaled.
func NotReadyToScale(c lifecycle.Card) string {
	return fmt.Sprintf("%s is %s (%s). Workers can be scaled only while the cluster is READY.", c.Name, c.Status, c.Phase)
}

// UnreadyForScaling tells somebody that a cluster ceased to be ready before the number of workers was stored.
func UnreadyForScaling(name string) string {
	return name + " is no longer ready, so its workers cannot be scaled."
}

// RefreshingAddons answers refresh on a pull request.
func RefreshingAddons(actor string, c lifecycle.Card, job string) string {
	return fmt.Sprintf("@%s, the add-ons of `%s` are being applied again: %s (job `%s`). Its comment shows the result.",
		actor, c.Name, strings.Join(c.Addons, ", "), job)
}

// ScalingWorkers answers scale on a pull request.
func ScalingWorkers(actor, name string, replicas int, job string) string {
	return fmt.Sprintf("@%s, `%s` is being scaled to %d workers (job `%s`). Its comment says when it is done.", actor, name, replicas, job)
}

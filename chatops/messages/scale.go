package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
)

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

// ScalingWorkers answers scale on a pull request.
func ScalingWorkers(actor, name string, replicas int, job string) string {
	return fmt.Sprintf("@%s, `%s` is being scaled to %d workers (job `%s`). Its comment says when it is done.", actor, name, replicas, job)
}

package aws

import (
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// world is everything that exists. The server's mutex guards it.
type world struct {
	standin.World[map[string]string, *Resource]

	tombstone time.Duration
	lag       Lag
	disabled  map[string]bool // regions that SetRegion disabled
}

// user returns a living resource that prevents the deletion of id.
func (w *world) user(id string) *Resource {
	return w.First(func(r *Resource) bool {
		return r.ID != id && slices.Contains(r.Uses, id)
	})
}

// IsEnded reports that a state is a final one.
func (r *Resource) IsEnded(state string) bool {
	return state == "terminated" || state == "deleted" || state == "gone"
}

// IsMachine reports that the resource is counted only while it runs.
func (r *Resource) IsMachine() bool { return r.Type == "instance" }

// leavesTombstone are the types that are listed for a while after their deletion: all by the tagging API, some by their own describe
// call too, as in AWS.
var leavesTombstone = map[string]bool{"instance": true, "natgateway": true, "volume": true, "vpc-endpoint": true, "targetgroup": true,
	"vpc-peering-connection": true}

// tombstoneOf is how long a deleted resource is still listed.
func (w *world) tombstoneOf(r *Resource) time.Duration {
	keep := w.lag.Delete
	if r.Service == "iam" {
		keep = max(keep, w.lag.IAM)
	}
	if leavesTombstone[r.Type] {
		keep = max(keep, w.tombstone)
	}
	return keep
}

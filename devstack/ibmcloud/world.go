package ibmcloud

import (
	"slices"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// world is everything that exists. The server's mutex guards it.
type world struct {
	standin.World[[]string, *Resource]

	lag Lag
}

// gone is the state in which a resource ends.
const gone = "gone"

// IsEnded reports that a state is the final one.
func (r *Resource) IsEnded(state string) bool { return state == gone }

// IsMachine reports that the resource is counted only while it runs.
func (r *Resource) IsMachine() bool { return r.Service == "is" && r.Type == "instance" }

// users are the living resources that prevent the deletion of a resource.
func (w *world) users(of *Resource) []*Resource {
	return w.Every(func(r *Resource) bool {
		return r.Account == of.Account && r.ID != of.ID && slices.Contains(r.Uses, of.ID)
	})
}

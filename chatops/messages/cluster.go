package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// GoneSince says since when nothing is left of a cluster.
func GoneSince(c lifecycle.Card) string { return describeGone(c, c.Name) }

func describeGone(c lifecycle.Card, name string) string {
	return fmt.Sprintf("%s was destroyed: nothing has been left of it since %s.", name, chatops.Time(c.ReleasedAt))
}

// Destroying answers a request to destroy a cluster: it is on its way, or gone already.
func Destroying(c lifecycle.Card) string {
	if c.Phase == lifecycle.Released {
		return GoneSince(c)
	}
	return c.Name + " is being destroyed. It counts as destroyed when two counts in a row have found nothing left."
}

// changed are the acts on a wanted cluster, as participles.
var changed = map[policy.Act]string{
	policy.ActExtend: "extended", policy.ActHold: "held", policy.ActShare: "shared", policy.ActTransfer: "transferred",
}

// Unwanted tells somebody that an act is too late: the cluster is going away or gone.
func Unwanted(c lifecycle.Card, act policy.Act) string {
	if c.Phase == lifecycle.Released {
		return fmt.Sprintf("%s It cannot be %s. Create a new cluster.", GoneSince(c), changed[act])
	}
	return fmt.Sprintf("%s is already being destroyed (%s) and cannot be %s. Create a new cluster.", c.Name, c.DesiredWhy, changed[act])
}

// EndedMeanwhile tells somebody that the cluster's teardown began before their change was stored.
func EndedMeanwhile(name string, act policy.Act) string {
	return fmt.Sprintf("%s is being destroyed and cannot be %s.", name, changed[act])
}

// ChangedMeanwhile tells somebody that a cluster is no longer as they saw it.
func ChangedMeanwhile(name string) string {
	return name + " has changed since you last saw it, and nothing was done. Load it again and repeat the request."
}

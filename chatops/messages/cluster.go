package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// NoCluster tells somebody that a reference means no cluster that they may see.
func NoCluster(ref string) string {
	return fmt.Sprintf("There is no cluster %s that you may see. The list of clusters shows yours.", ref)
}

// SeveralClusters tells somebody that a name means several clusters, and their ids.
func SeveralClusters(name string, cards []lifecycle.Card) string {
	each := make([]string, 0, len(cards))
	for _, c := range cards {
		each = append(each, fmt.Sprintf("%s on %s", c.ID, c.BaseDomain))
	}
	return fmt.Sprintf("%d clusters are called %s: %s. Use the id of the one you mean.", len(cards), name, strings.Join(each, ", "))
}

// NameTaken tells a requester that another cluster has the name; typed: the request can be repeated as a command with another one.
func NameTaken(name, baseDomain string, typed bool) string {
	how := "Choose another name."
	if typed {
		how = "Choose another name: --name <name>."
	}
	return fmt.Sprintf("The name %s is taken on %s. %s", name, baseDomain, how)
}

// NoJob tells somebody that an id means no job that they may see.
func NoJob(id string) string {
	return fmt.Sprintf("There is no job %s that you may see. The list of jobs shows yours.", id)
}

// NoJobOf tells somebody that a job does not belong to the cluster.
func NoJobOf(cluster, id string) string {
	return fmt.Sprintf("There is no job %s of %s that you may see. The list of jobs shows its own.", id, cluster)
}

// GoneSince says since when nothing is left of a cluster.
func GoneSince(c lifecycle.Card) string { return goneSince(c, c.Name) }

func goneSince(c lifecycle.Card, name string) string {
	return fmt.Sprintf("%s was destroyed: nothing has been left of it since %s.", name, chatops.Time(c.ReleasedAt))
}

// Destroying answers a request to destroy a cluster: it is on its way, or gone already.
func Destroying(c lifecycle.Card) string {
	if c.Phase == lifecycle.Released {
		return GoneSince(c)
	}
	return c.Name + " is being destroyed. It counts as destroyed after two counts in a row have found nothing left."
}

// Undestroyable tells a requester that a cluster's state allows no teardown.
func Undestroyable(c lifecycle.Card) string {
	return fmt.Sprintf("%s cannot be destroyed in its current state: %s (%s).", c.Name, c.Status, c.Phase)
}

// Unabandonable tells an admin why a cluster cannot be abandoned.
func Unabandonable(c lifecycle.Card) string {
	return fmt.Sprintf("%s is %s (%s): only a cluster whose teardown is blocked "+
		"(destroy_blocked), and that nobody wants any more, can be abandoned. Destroy it first, and look again once it is blocked.",
		c.Name, c.Status, c.Phase)
}

// NoTeardown tells somebody that a cluster has no teardown that could be retried.
func NoTeardown(c lifecycle.Card) string {
	return fmt.Sprintf("%s is %s (%s): nothing of it waits to be torn down. Destroy it first.", c.Name, c.Status, c.Phase)
}

// Unreachable tells somebody why a cluster that is not ready cannot be used, and what to do.
func Unreachable(c lifecycle.Card) string {
	switch {
	case c.Status == lifecycle.Pending || c.Status == lifecycle.Creating:
		return fmt.Sprintf("%s is not ready yet: %s (%s). Ask again when its status is READY.", c.Name, c.Status, c.Phase)
	case c.Phase == lifecycle.Released:
		return GoneSince(c) + " Create a new cluster."
	}
	return fmt.Sprintf("%s can no longer be used: %s (%s). Create a new cluster.", c.Name, c.Status, c.Phase)
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

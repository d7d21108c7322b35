package messages

import (
	"fmt"
)

// CannotTransfer is the answer to a transfer to an invalid team or owner; the problems follow.
func CannotTransfer(name string) string { return name + " cannot be transferred like this." }

// UnknownTeam is the problem with a team that does not exist.
func UnknownTeam(team string, open []string) Problem { return Problem{noTeam(team), open} }

func noTeam(team string) string { return fmt.Sprintf("there is no team %q", team) }

// NotAnOwner is the problem with an owner who cannot be written into a tag.
func NotAnOwner(owner, why string) Problem {
	return Problem{fmt.Sprintf("%q cannot be an owner: %s", owner, why), []string{acceptedTag}}
}

// EndedBeforeTransfer tells somebody that the cluster's teardown began before its transfer was stored.
func EndedBeforeTransfer(name string) string {
	return name + " is being destroyed; it cannot be transferred to another team."
}

// NoHandover tells somebody that an id means no offer that they may answer.
func NoHandover(id string) string {
	return fmt.Sprintf("There is no offer %s to you. If somebody wants to hand a cluster over to you, ask them to offer it again.", id)
}

// HandoverOver tells somebody that a cluster is no longer offered: the state of the offer, and why it ended.
func HandoverOver(name, state, why, from string) string {
	if why != "" {
		why = " (" + why + ")"
	}
	text := fmt.Sprintf("The offer of %s is %s%s, so nothing was done.", name, state, why)
	if from == "" {
		return text
	}
	return fmt.Sprintf("%s If you still want the cluster, ask %s to offer it again.", text, from)
}

// NoTeamToTake tells somebody that they may not accept a cluster, because they may not create clusters for any team.
func NoTeamToTake(name, team string) string {
	return fmt.Sprintf("You cannot accept %s: you may not create clusters, for team %s or any other. Ask a platform admin for a role in that team.", name, team)
}

package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// CannotTransfer is the answer to a transfer to an invalid team or owner; the problems follow.
func CannotTransfer(name string) string { return name + " cannot be transferred like this." }

// TeamNotYours is the problem with a team that somebody may not transfer a cluster to. It does not say whether the team exists.
func TeamNotYours(team string, open []string) Problem {
	return Problem{fmt.Sprintf("you may not create clusters for team %q, so you cannot transfer one to it", team), open}
}

// UnknownTeam is the problem with a team that does not exist.
func UnknownTeam(team string, open []string) Problem { return Problem{noTeam(team), open} }

func noTeam(team string) string { return fmt.Sprintf("there is no team %q", team) }

// NotAnOwner is the problem with an owner who cannot be written into a tag.
func NotAnOwner(owner, why string) Problem {
	return Problem{fmt.Sprintf("%q cannot be an owner: %s", owner, why), []string{acceptedTag}}
}

// TransferAwaitsApproval tells somebody that a cluster has to be approved by its own team before it can change hands.
func TransferAwaitsApproval(c lifecycle.Card, team string) string {
	return fmt.Sprintf("%s is waiting for an approval by team %s, and no other team can give it. Get it approved first, or create a cluster in team %s.",
		c.Name, c.Team, team)
}

// TransferUnaffordable tells somebody that the new team's quota or budget has no space for the cluster, as the check says.
func TransferUnaffordable(name, team string, check policy.Check) string {
	return fmt.Sprintf("%s cannot be transferred to team %s: %s", name, team, CheckText(check))
}

// EndedBeforeTransfer tells somebody that the cluster's teardown began before its transfer was stored.
func EndedBeforeTransfer(name string) string {
	return name + " is being destroyed; it cannot be transferred to another team."
}

// Transferred says to whom a cluster belongs now, and what the check warns about.
func Transferred(before, now lifecycle.Card, check policy.Check) string {
	text := fmt.Sprintf("%s now belongs to team %s, and its owner is %s.", now.Name, now.Team, now.Owner)
	switch {
	case before.Team == now.Team && before.Owner == now.Owner:
		return fmt.Sprintf("%s already belongs to team %s, and its owner is %s. Nothing was changed.", now.Name, now.Team, now.Owner)
	case before.Team == now.Team:
		text = fmt.Sprintf("%s stays with team %s, and its owner is now %s.", now.Name, now.Team, now.Owner)
	}
	if check.Result == policy.Warn {
		text += " " + CheckText(check)
	}
	return text + " The cloud tags keep their original values."
}

// NobodyToHandTo is the problem with an offer that names no account.
var NobodyToHandTo = Problem{"it is empty or too long", []string{"a person's account, such as slack:T012AB3CD/U023BECGF"}}

// HandoverToYourself tells somebody that they offered a cluster to themselves.
func HandoverToYourself(name string) string {
	return fmt.Sprintf("You cannot offer %s to yourself. Name another person, or transfer it to one of your teams.", name)
}

// HandoverOffered says to whom a cluster is offered, and until when.
func HandoverOffered(name, to string, until time.Time) string {
	return fmt.Sprintf("%s is offered to %s, who can accept it until %s. It stays yours until then.", name, to, chatops.Time(until))
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

// OffererLostRole is why an offer ended whose maker may no longer transfer the cluster.
const OffererLostRole = "the person who offered it may no longer transfer it"

// OffererMayNotTransfer tells somebody that the person who offered a cluster to them may no longer transfer it.
func OffererMayNotTransfer(name, from string) string {
	return fmt.Sprintf("%s may no longer transfer %s, so the offer has ended. Ask somebody of the cluster's team to offer it.", from, name)
}

// HandoverMoved tells somebody that a cluster changed hands after it was offered to them.
func HandoverMoved(name, from string) string {
	return fmt.Sprintf("%s belongs to another team since it was offered, so %s can no longer hand it over. Ask its new owner.", name, from)
}

// NoTeamToTake tells somebody that they may not accept a cluster, because they may not create clusters for any team.
func NoTeamToTake(name, team string) string {
	return fmt.Sprintf("You cannot accept %s: you may not create clusters, for team %s or any other. Ask a platform admin for a role in that team.", name, team)
}

// WhichTeamTakes is the answer to an acceptance that does not say to which of somebody's teams the cluster goes; its problem follows.
func WhichTeamTakes(name, team string, open []string) string {
	return fmt.Sprintf("You may not create clusters for team %s, to which %s belongs. Choose the team that it goes to: %s.", team, name, strings.Join(open, ", "))
}

// TeamToTake is the problem with an acceptance that names no team.
func TeamToTake(open []string) Problem { return Problem{"it is not given", open} }

// HandoverDeclined confirms that somebody declined an offer.
func HandoverDeclined(name, from string) string {
	return fmt.Sprintf("You declined %s. It stays with %s.", name, from)
}

// HandoverWithdrawn confirms that an offer was withdrawn.
func HandoverWithdrawn(name, to string) string {
	return fmt.Sprintf("%s is no longer offered to %s.", name, to)
}

// AlreadyTaken tells somebody that they accepted a cluster before, and to whom it belongs now.
func AlreadyTaken(c lifecycle.Card) string {
	return fmt.Sprintf("You accepted %s before. It belongs to team %s, and its owner is %s.", c.Name, c.Team, c.Owner)
}

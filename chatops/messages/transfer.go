package messages

import (
	"fmt"

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
	if before.Team == now.Team {
		text = fmt.Sprintf("%s stays with team %s, and its owner is now %s.", now.Name, now.Team, now.Owner)
	}
	if check.Result == policy.Warn {
		text += " " + CheckText(check)
	}
	return text + " The cloud tags keep their original values."
}

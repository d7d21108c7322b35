package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
)

// CannotSubscribe begins the answer to a subscription with mistakes.
const CannotSubscribe = "The channel was not subscribed."

// UnknownEvents says that a subscription names no event, or one that does not exist.
func UnknownEvents(events, known []string) Problem {
	if len(events) == 0 {
		return Problem{Detail: "No event is named.", Accept: known}
	}
	return Problem{Detail: fmt.Sprintf("%q is not a list of events.", strings.Join(events, ",")), Accept: known}
}

// SayWhichTeam asks somebody of several teams, or of none, which one a subscription is about.
func SayWhichTeam(teams []string) Problem {
	if len(teams) == 0 {
		return Problem{Detail: "You have no role in a team, so there are no clusters whose events you may see."}
	}
	return Problem{Detail: "You are in several teams. Say which one: `--team " + teams[0] + "`.", Accept: teams}
}

// CannotHearOf refuses a subscription to what somebody may not see.
func CannotHearOf(team, repo string) string {
	switch {
	case repo != "":
		return fmt.Sprintf("You may not see the clusters of the repository %s, so no channel hears of them for you.", chatops.Code(repo))
	case team != "":
		return fmt.Sprintf("There is no team %s whose clusters you may see.", chatops.Code(team))
	}
	return "Only somebody with a role in every team may subscribe a channel to all teams. Name a team: `--team platform`."
}

// NotSubscribed tells somebody that there is nothing to end.
func NotSubscribed(team, repo string) string {
	of := "every team"
	switch {
	case repo != "":
		of = "the repository " + chatops.Code(repo)
	case team != "":
		of = "team " + chatops.Code(team)
	}
	return "This channel is not subscribed to the clusters of " + of + ". What a repository's file sends to a channel stands in its notify.slack."
}

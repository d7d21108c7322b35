package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
)

// CannotSubscribe begins the answer to a subscription with mistakes.
const CannotSubscribe = "The channel was not subscribed."

// CannotUnsubscribe begins the answer to the end of a subscription with mistakes.
const CannotUnsubscribe = "Nothing was changed."

// The answers to a subscription of a channel that cannot be.
const (
	NotifyWhere     = "Say which channel: `/ocp notify #channel ready,failed`. Direct messages cannot be subscribed."
	NotifyNotSeen   = "ocpctl is not in this channel, so it could not post there. Invite it: type `/invite @ocpctl` in the channel, then repeat the command."
	NotifyArchived  = "This channel is archived, so nothing can be posted there. Name another one, or ask for it to be reopened."
	NotYourChannel  = "You are not in this channel, so ocpctl posts nothing there for you. Join it, or ask one of its members to invite you, and try again."
	OutsideChannel  = "Another organization shares this channel or is invited to it, so only a platform admin may choose it for messages about clusters. Choose a channel of your own organization, or ask a platform admin."
	ChannelTooLarge = "This channel has so many members that ocpctl does not look for you among them. Type the command in the channel itself."
	NothingToNotify = "No channel gets messages about clusters that you may see. `/ocp notify #channel ready,failed` starts it."
)

// ChannelHidden tells somebody that the Slack app may not ask about a channel.
const ChannelHidden = "Slack does not show ocpctl who is in this channel and which organizations share it. If it is a group message, choose a channel instead. " +
	"Otherwise ask a platform admin to update the Slack app from `deploy/slack-app.yaml` and to install it again."

// ChannelUnconfirmed tells somebody that Slack did not answer about a channel.
const ChannelUnconfirmed = "Nothing was done, because Slack did not say who is in this channel and which organizations share it. Try again in a few minutes."

// Subscribed says what a channel gets from now on, and what it got before. outside: people of another organization read the channel, too.
func Subscribed(channel string, before, events []string, team, repo string, outside bool) string {
	text := fmt.Sprintf("%s now gets messages about %s: %s.", channel, clustersOf(team, repo), codes(events))
	if len(before) > 0 {
		text += fmt.Sprintf(" Before, it got %s.", codes(before))
	}
	text += fmt.Sprintf(" %s stops them.", notifyOff(team, repo))
	if outside {
		text += " Note that another organization shares this channel: its people read these messages, too."
	}
	return text
}

// Unsubscribed says what a channel no longer gets. No events: nothing of these clusters.
func Unsubscribed(channel string, events []string, team, repo string) string {
	if len(events) == 0 {
		return fmt.Sprintf("%s no longer gets messages about %s.", channel, clustersOf(team, repo))
	}
	return fmt.Sprintf("%s no longer gets these messages about %s: %s.", channel, clustersOf(team, repo), codes(events))
}

// SubscriptionLine is one line of a list: what a channel gets.
func SubscriptionLine(channel string, events []string, team, repo string) string {
	return fmt.Sprintf("- %s: %s of %s\n", channel, codes(events), clustersOf(team, repo))
}

// NotifiedHere begins the list of what one channel gets, or all of them (empty).
func NotifiedHere(channel string) string {
	if channel == "" {
		return "**What channels get**\n\n"
	}
	return fmt.Sprintf("**What %s gets**\n\n", channel)
}

// MoreSubscriptions says that a list goes on.
func MoreSubscriptions(n int) string {
	return fmt.Sprintf("- and %d more. To see those of one channel, name it: `/ocp notify #channel`.\n", n)
}

// NothingSubscribed says that a channel gets nothing that the person may see.
func NothingSubscribed(channel string) string {
	return fmt.Sprintf("%s gets no messages about clusters that you may see. `/ocp notify #channel ready,failed` starts it.", channel)
}

// Channel names a channel, by its name or else its id.
func Channel(name, id string) string {
	if name == "" {
		return "The channel " + chatops.Code(id)
	}
	return chatops.Code("#" + name)
}

func clustersOf(team, repo string) string {
	switch {
	case repo != "":
		return "the clusters of the repository " + chatops.Code(repo)
	case team != "":
		return "the clusters of team " + chatops.Code(team)
	}
	return "all clusters"
}

// notifyOff is the command that ends a subscription.
func notifyOff(team, repo string) string {
	command := chatops.Prefix + " notify #channel --off"
	switch {
	case repo != "":
		command += " --repo " + repo
	case team != "":
		command += " --team " + team
	}
	return chatops.Code(command)
}

func codes(all []string) string {
	quoted := make([]string, 0, len(all))
	for _, one := range all {
		quoted = append(quoted, chatops.Code(one))
	}
	return strings.Join(quoted, ", ")
}

// UnknownEvents says that a subscription names no event, or one that does not exist.
func UnknownEvents(events, known []string) Problem {
	if len(events) == 0 {
		return Problem{Detail: "No event is named.", Accept: known}
	}
	return Problem{Detail: fmt.Sprintf("%q is not a list of events.", strings.Join(events, ",")), Accept: known}
}

// WeeklyIsOfTeams is the problem with a subscription to the weekly report on a repository.
var WeeklyIsOfTeams = Problem{"The weekly report is about a team or about all teams, not about a repository.", []string{"weekly without --repo", "other events of the repository"}}

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
	return "This channel is not subscribed to the clusters of " + of + ". Subscriptions from a repository's file are managed in that file, under `notify.slack`."
}

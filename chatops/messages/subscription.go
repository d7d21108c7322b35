package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
)

// CannotSubscribe begins the answer to a subscription with mistakes.
const CannotSubscribe = "The channel was not subscribed."

// The answers to a subscription of a channel that cannot be.
const (
	NotifyNotSeen = "ocpctl is not in this channel, so it could not post there. Invite it: type `/invite @ocpctl` in the channel, then repeat the command."
)

// ChannelArchived tells somebody that nothing can be posted in a channel.
const ChannelArchived = "This channel is archived, so nothing can be posted there. Choose another one, or ask somebody to unarchive it."

// ChannelHidden tells somebody that the Slack app may not ask about a channel.
const ChannelHidden = "Slack does not show ocpctl who is in this channel and which organizations share it. If it is a group message, choose a channel instead. " +
	"Otherwise ask a platform admin to update the Slack app from `deploy/slack-app.yaml` and to install it again."

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

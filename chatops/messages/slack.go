package messages

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// The texts of this file answer one person in Slack, who alone reads them. They are GitHub's Markdown, like all others.

// Sentence begins a text with a capital letter.
func Sentence(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// FieldProblem is a problem with a named field.
type FieldProblem struct {
	Field string
	Problem
}

// NoneInSlack tells somebody that they have no cluster that a command could mean.
func NoneInSlack(verb chatops.Verb) string {
	return fmt.Sprintf("You have no cluster, so `%s %s` has nothing to act on. `%s create` creates one. For somebody else's cluster, add its name or id: `%s list` shows those that you may see.",
		chatops.Prefix, verb, chatops.Prefix, chatops.Prefix)
}

// Instead is why a cluster's message is a direct one, although a channel was meant; empty: it is where it was meant to be.
type Instead string

// The reasons.
const (
	InsteadNotMember Instead = "ocpctl_is_no_member"
	InsteadHidden    Instead = "not_for_this_person" // see notify.MayPost
)

// DryRunInSlack begins the answer to a create that only asked what would happen.
const DryRunInSlack = "This was a dry run: nothing was created. "

// ExtendedInSlack answers extend: see Extended.
func ExtendedInSlack(c lifecycle.Card, before, after lifecycle.Ends, capped bool, warning string) string {
	return chatops.Said(Sentence(describeExtension(c, before, after, capped, warning)), "")
}

// RetriedNote says in a notice what its Retry button did: the name of the new cluster, or empty for a teardown.
func RetriedNote(created string) string {
	if created == "" {
		return "The teardown was tried again."
	}
	return fmt.Sprintf("Requested again as `%s`.", created)
}

// SharedInSlack answers share with one team or person; shown names it.
func SharedInSlack(name, shown string, role policy.ClusterRole) string {
	return fmt.Sprintf("`%s` is shared with %s%s. `%s unshare` undoes it.", name, shown, asRole(role), chatops.Prefix)
}

// SharedWithGroup answers share with a user group: with how many members, and that it stays at these.
func SharedWithGroup(name string, n int, role policy.ClusterRole) string {
	return fmt.Sprintf("`%s` is shared with the current members of the group (%s)%s. People who join the group later are not included. To include them, share it again.", name, people(n), asRole(role))
}

// UnsharedWithGroup answers unshare with a user group.
func UnsharedWithGroup(name string, n int) string {
	return fmt.Sprintf("`%s` is no longer shared with the current members of the group (%s).", name, people(n))
}

func people(n int) string {
	if n == 1 {
		return "one person"
	}
	return fmt.Sprintf("%d people", n)
}

// The answers to a share with somebody or a group that cannot be.
const (
	SlackAway = "ocpctl has no connection to Slack's Web API here, so this cannot be done. Ask a platform admin to set slack.bot_token_ref."
)

// UnknownButton answers a press of a button that ocpctl does not know: of an older release, or of another app.
const UnknownButton = "ocpctl does not know this button, so nothing was done. It may be from an older message. `/ocp help` lists the commands."

// GivenUpInSlack answers a request that kept failing and is not tried any more.
const GivenUpInSlack = "This could not be completed: Slack or a part of ocpctl did not answer for a day, so this will not be tried again. " +
	"`/ocp list` shows the present state. If something is missing, ask for it again."

// The idle hints of a list.
const (
	idleNever = "ready since %s, and no kubeconfig has been handed out"
	idleSince = "no kubeconfig has been handed out since %s"
)

// IdleSince says since when nobody fetched a cluster's kubeconfig; never: nobody ever did, since it was ready.
func IdleSince(at time.Time, never bool) string {
	if never {
		return fmt.Sprintf(idleNever, chatops.Time(at))
	}
	return fmt.Sprintf(idleSince, chatops.Time(at))
}

// Person names a person in Slack whom a cluster is shared with or offered to.
func Person(name string) string { return chatops.Code("@" + name) }

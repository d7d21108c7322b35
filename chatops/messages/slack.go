package messages

import (
	"fmt"
	"slices"
	"strings"
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

// WithProblems adds to an answer what is wrong with each field, and what would be accepted.
func WithProblems(text string, wrong []FieldProblem) string {
	wrong = slices.DeleteFunc(slices.Clone(wrong), func(p FieldProblem) bool { return strings.HasPrefix(text, strings.TrimRight(p.Detail, ".")) }) // said already
	var b strings.Builder
	b.WriteString(text)
	for i, p := range wrong {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "\n- **%s**: %s", p.Field, Sentence(strings.TrimRight(p.Detail, ".")+"."))
		if accept := strings.Join(p.Accept, ", "); accept != "" {
			fmt.Fprintf(&b, " Accepted: %s.", strings.TrimRight(accept, "."))
		}
	}
	return b.String()
}

// AskedForInSlack is the reason of a change that somebody asked for in Slack: the one they gave, or else that they asked.
func AskedForInSlack(name, reason string) string {
	if reason != "" {
		return reason
	}
	return name + " asked for it in Slack"
}

// WhichInSlack asks which of several clusters a command means; buttons or names follow. more: there are more than these.
func WhichInSlack(verb chatops.Verb, n int, more bool) string {
	if more {
		return fmt.Sprintf("You have more than %d clusters. Which one do you mean by `%s %s`? These are the newest; to choose another one, repeat the command with its name.", n, chatops.Prefix, verb)
	}
	return fmt.Sprintf("You have %s. Which one do you mean by `%s %s`?", Clusters(n), chatops.Prefix, verb)
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

// CreatedInSlack tells a requester that their cluster was accepted, and where its message is. approval: it waits for one; queued: it
// waits in the queue; instead: why the message is not where they asked.
func CreatedInSlack(name string, approval, queued bool, instead Instead) string {
	text := fmt.Sprintf("`%s` is accepted", name)
	switch {
	case approval:
		text += " and waits for an approval"
	case queued:
		text += " and waits in the queue"
	}
	text += ". Its message shows the progress"
	switch instead {
	case InsteadHidden:
		return text + ". The message is in your direct messages with ocpctl, because another organization shares this channel, or Slack did not show ocpctl who is in it."
	case InsteadNotMember:
		return text + ". ocpctl cannot write in this channel, so the message is in your direct messages with ocpctl. To get such messages here, invite ocpctl to the channel."
	}
	return text + "."
}

// DryRunInSlack begins the answer to a create that only asked what would happen.
const DryRunInSlack = "This was a dry run: nothing was created. "

// ExtendedInSlack answers extend: see Extended.
func ExtendedInSlack(c lifecycle.Card, before, after lifecycle.Ends, capped bool, warning string) string {
	return chatops.Said(Sentence(extended(c, before, after, capped, warning)), "")
}

// ExtendedAlready tells somebody who pressed Extend that the cluster was extended since the button was shown; by is who did, or empty.
func ExtendedAlready(c lifecycle.Card, by string) string {
	if by != "" {
		by = " by " + by
	}
	return fmt.Sprintf("`%s` was already extended%s: its lifetime ends %s. Nothing was changed. To extend it further, use the button in the updated message, or type `%s extend %s 4h`.",
		c.Name, by, chatops.Time(c.Ends.TTL), chatops.Prefix, c.Name)
}

// ExtendedNote says in a warning what its button did.
func ExtendedNote(until time.Time) string { return "Extended until " + chatops.Time(until) + "." }

// HeldInSlack answers hold: until when, and whether that is the profile's maximum.
func HeldInSlack(c lifecycle.Card, after lifecycle.Ends, capped bool, warning string) string {
	text := fmt.Sprintf("`%s` is held until %s. Nothing ends it earlier, except its profile's maximum lifetime (%s).", c.Name, chatops.Time(after.Hold), chatops.Time(after.Max))
	if capped {
		text = fmt.Sprintf("`%s` is held. %s", c.Name, HeldToMaximum(after.Hold))
	}
	return chatops.Said(strings.TrimSpace(text+" "+warning), "")
}

// DestroyingInSlack answers destroy.
func DestroyingInSlack(name, job string) string {
	return fmt.Sprintf("`%s` is being destroyed (job `%s`). It counts as destroyed once two checks in a row have found nothing left of it. `%s status %s` shows the progress.",
		name, job, chatops.Prefix, name)
}

// DestroyingAlreadyInSlack answers destroy for a cluster that is on its way out.
func DestroyingAlreadyInSlack(c lifecycle.Card) string {
	return fmt.Sprintf("`%s` is already being destroyed (%s).", c.Name, chatops.Plain(c.DesiredWhy))
}

// ScalingInSlack answers scale; without a job the cluster has that many workers already.
func ScalingInSlack(name string, replicas int, job string) string {
	if job == "" {
		return fmt.Sprintf("`%s` has %d workers already. Nothing was changed.", name, replicas)
	}
	return fmt.Sprintf("`%s` is being scaled to %d workers (job `%s`). `%s status %s` shows when it is done.", name, replicas, job, chatops.Prefix, name)
}

// RefreshingInSlack answers refresh.
func RefreshingInSlack(c lifecycle.Card, job string) string {
	return fmt.Sprintf("The add-ons of `%s` are being applied again: %s (job `%s`). `%s explain %s` shows the result.",
		c.Name, strings.Join(c.Addons, ", "), job, chatops.Prefix, c.Name)
}

// RetryingInSlack answers retry for a teardown that was stuck.
func RetryingInSlack(name string) string {
	return fmt.Sprintf("The teardown of `%s` is tried again now. `%s status %s` shows the progress.", name, chatops.Prefix, name)
}

// NothingToRetryInSlack tells somebody that a cluster neither failed nor ended.
func NothingToRetryInSlack(c lifecycle.Card) string {
	return fmt.Sprintf("There is nothing to retry: `%s` is %s (%s). To replace it, use `%s destroy %s` and then `%s create %s`.",
		c.Name, c.Status, c.Phase, chatops.Prefix, c.Name, chatops.Prefix, c.Profile)
}

// RetriedNote says in a notice what its Retry button did: the name of the new cluster, or empty for a teardown.
func RetriedNote(created string) string {
	if created == "" {
		return "The teardown was tried again."
	}
	return fmt.Sprintf("Requested again as `%s`.", created)
}

// RetriedBefore tells somebody who pressed Retry who requested the cluster again before, and as which.
func RetriedBefore(name, by, created string) string {
	return fmt.Sprintf("`%s` was already requested again by %s, as `%s`. Nothing was changed. `%s retry %s` requests it once more.", name, by, created, chatops.Prefix, name)
}

// TeardownRetriedBefore tells somebody who pressed Retry who had the teardown tried again before.
func TeardownRetriedBefore(name, by string) string {
	return fmt.Sprintf("%s already had the teardown of `%s` tried again. Nothing was changed. `%s status %s` shows the progress.", Sentence(by), name, chatops.Prefix, name)
}

// RetryOnPullRequest tells somebody that a pull request's cluster is requested again there.
func RetryOnPullRequest(name, repo string, number int) string {
	return fmt.Sprintf("`%s` belongs to %s#%d. Comment `%s retry` there, so that the new cluster follows the pull request as this one did.",
		name, repo, number, chatops.Prefix)
}

// KubeconfigInSlack answers kubeconfig with a link that works only for the person who asked.
func KubeconfigInSlack(name, url string, until time.Time) string {
	return fmt.Sprintf("Open <%s> and sign in to get your own kubeconfig of `%s`. The link works once, until %s, and only for you.", url, name, chatops.Time(until))
}

// KubeconfigNeedsLinkInSlack tells somebody that they have to sign in before they get a kubeconfig. page is the cluster's; empty: there
// are no pages.
func KubeconfigNeedsLinkInSlack(page string) string {
	text := "A kubeconfig is only for people who have signed in. Type `/ocp link`, open the link, sign in, and try again. The sign-in counts for a week."
	if page != "" {
		text += " You can also get it on [the cluster's page](" + page + ")."
	}
	return text
}

// SharedInSlack answers share with one team or person; shown names it.
func SharedInSlack(name, shown string, role policy.ClusterRole) string {
	return fmt.Sprintf("`%s` is shared with %s%s. `%s unshare` undoes it.", name, shown, asRole(role), chatops.Prefix)
}

// SharedWithGroup answers share with a user group: with how many members, and that it stays at these.
func SharedWithGroup(name string, n int, role policy.ClusterRole) string {
	return fmt.Sprintf("`%s` is shared with the current members of the group (%s)%s. People who join the group later are not included. To include them, share it again.", name, people(n), asRole(role))
}

// UnsharedInSlack answers unshare; shown names the team or person.
func UnsharedInSlack(name, shown string) string {
	return fmt.Sprintf("`%s` is no longer shared with %s.", name, shown)
}

// NotSharedInSlack tells somebody that there is no share to take back; shown names the team or person.
func NotSharedInSlack(name, shown string) string {
	return fmt.Sprintf("`%s` is not shared with %s. Nothing was changed.", name, shown)
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
	ShareWithNobody  = "Say with whom: a person (`@somebody`), a user group (`@group`) or a team (`--team platform`)."
	ShareWithBot     = "That is an app, and clusters are shared with people. Name a person."
	ShareWithGone    = "That person's account in Slack is deactivated. Name somebody who works here."
	ShareOutside     = "That person belongs to another organization, so ocpctl shares no cluster with them. A platform admin can give them a role."
	ShareWithGuest   = "That person is a guest of this workspace, and guests cannot use ocpctl. Name a full member."
	NoSuchPerson     = "Slack knows no such person here. Type `@` and choose one of the names that Slack suggests."
	NoSuchGroup      = "Slack knows no such user group here, or it has no members. Type `@` and choose one of the groups that Slack suggests."
	NobodyInGroup    = "Nobody in this user group can be given a cluster: its members are apps, guests, deactivated accounts or people of another organization."
	GroupsNeedAccess = "ocpctl may not read this workspace's user groups, so nothing was shared. Name the people one by one, or ask an admin to give the app the scope usergroups:read."
	SlackAway        = "ocpctl has no connection to Slack's Web API here, so this cannot be done. Ask a platform admin to set slack.bot_token_ref."
)

// GroupTooLarge tells somebody that a user group has more members than a cluster is shared with at once.
func GroupTooLarge(n, most int) string {
	return fmt.Sprintf("This group has %d members, and a cluster is shared with at most %d at once. Share it with a team: `%s share --team platform`.", n, most, chatops.Prefix)
}

// TransferToNobody tells somebody that a transfer names nobody.
const TransferToNobody = "Say to whom: a person (`@somebody`) or one of your teams (`--team platform`)."

// HandoverNote says in an offer what its button did.
func HandoverNote(accepted bool) string {
	if accepted {
		return "Accepted."
	}
	return "Declined."
}

// NotLinkedInSlack tells somebody that there is no link to take back.
const NotLinkedInSlack = "This Slack account is not linked to anybody. `/ocp link` links it."

// UnlinkedInSlack answers unlink.
func UnlinkedInSlack(account string) string {
	return fmt.Sprintf("The Slack account %s is no longer linked. It now has only the roles that the catalogue gives to the account itself. `%s link` links it again.", chatops.Code(account), chatops.Prefix)
}

// UnknownButton answers a press of a button that ocpctl does not know: of an older release, or of another app.
const UnknownButton = "ocpctl does not know this button, so nothing was done. It may be from an older message. `/ocp help` lists the commands."

// GivenUpInSlack answers a request that kept failing and is not tried any more.
const GivenUpInSlack = "This could not be completed: Slack or a part of ocpctl did not answer for a day, so this will not be tried again. " +
	"`/ocp list` shows the present state. If something is missing, ask for it again."

// FormTooLate tells somebody that a form could not be shown, and the command that does the same.
func FormTooLate(command string) string {
	return fmt.Sprintf("The form could not be shown: Slack lets it open for three seconds only, or its window was closed. Press the button again, or type `%s %s`.", chatops.Prefix, command)
}

// RefuseNeedsReason tells somebody how to refuse with a reason.
func RefuseNeedsReason(ref string) string {
	return fmt.Sprintf("Add a reason: the person who asked is told. Type `%s refuse %s`, followed by the reason.", chatops.Prefix, ref)
}

// ShownAgain says that a cluster's message is posted again.
const ShownAgain = "The cluster's message in this channel was deleted. It is being posted again."

// The idle hints of a list.
const (
	IdleNoWorkers = "its workers are scaled to 0"
	idleNever     = "ready since %s, and no kubeconfig has been handed out"
	idleSince     = "no kubeconfig has been handed out since %s"
)

// IdleSince says since when nobody fetched a cluster's kubeconfig; never: nobody ever did, since it was ready.
func IdleSince(at time.Time, never bool) string {
	if never {
		return fmt.Sprintf(idleNever, chatops.Time(at))
	}
	return fmt.Sprintf(idleSince, chatops.Time(at))
}

// ListedBy says what a list is limited to; empty: nothing.
func ListedBy(team, profile, owner string) string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"team", team}, {"profile", profile}, {"owner", owner}} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	return strings.Join(parts, ", ")
}

// NothingListed answers a list without a cluster; filter is what it is limited to.
func NothingListed(filter string) string {
	if filter == "" {
		return "There is no live cluster that you may see. `/ocp create` creates one."
	}
	return fmt.Sprintf("There is no live cluster that you may see with %s.", filter)
}

// ExplainedInSlack says why a cluster is in its state, why it ends, and what can be done, with the commands of Slack.
func ExplainedInSlack(name string, why, ends, next []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**About `%s`**\n", name)
	part := func(title string, lines []string) {
		if len(lines) > 0 && title != "" {
			fmt.Fprintf(&b, "\n**%s**\n", title)
		}
		for _, line := range lines {
			if rest, ok := strings.CutPrefix(line, name+" "); ok { // a name is not capitalized
				line = chatops.Code(name) + " " + rest
			}
			fmt.Fprintf(&b, "\n- %s", Sentence(line))
		}
		if len(lines) > 0 {
			b.WriteString("\n")
		}
	}
	part("", why)
	part("When it ends, the earliest first", ends)
	steps := make([]string, 0, len(next))
	for _, step := range next {
		if step, ok := stepInSlack(step); ok {
			steps = append(steps, step)
		}
	}
	part("What you can do", steps)
	return b.String()
}

// EndLine is one end of a cluster.
func EndLine(at time.Time, why string) string { return chatops.Time(at) + ": " + why }

// stepInSlack turns a step with a command of the command line into one with the command of Slack; ok is false if Slack has none.
func stepInSlack(step string) (text string, ok bool) {
	what, command, found := strings.Cut(step, ": ocpctl ")
	if !found || strings.HasPrefix(command, "abandon") {
		return "", false
	}
	command = strings.ReplaceAll(strings.Replace(command, "scale-workers", "scale", 1), "--replicas ", "")
	return what + ": " + chatops.Code(chatops.Prefix+" "+command), true
}

// Team names a team that a cluster is shared with.
func Team(name string) string { return "team " + chatops.Code(name) }

// Principal names a principal that a cluster is shared with.
func Principal(id string) string { return "principal " + chatops.Code(id) }

// Person names a person in Slack whom a cluster is shared with or offered to.
func Person(name string) string { return chatops.Code("@" + name) }

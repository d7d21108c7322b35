package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// GivenUp tells a commenter that their commands are not tried any more. why is GitHub's refusal; nil: nothing answered for a day.
func GivenUp(actor string, why error) string {
	return fmt.Sprintf("@%s, ocpctl gave up on this: %s. Commands that were done have an answer here. Repeat the others; `/ocp status` shows the present state.%s",
		actor, givenUpBecause(why), givenUpNext(why))
}

// LabelsGivenUp tells whoever added labels that ocpctl stopped trying what they ask for, and removes them.
func LabelsGivenUp(actor string, labels []string, why error) string {
	named := make([]string, len(labels))
	for i, label := range labels {
		named[i] = chatops.Code(label)
	}
	them := "it"
	if len(labels) > 1 {
		them = "them"
	}
	return fmt.Sprintf("@%s, ocpctl gave up on %s: %s. It removes %s; add %s again to try once more.%s",
		actor, strings.Join(named, ", "), givenUpBecause(why), them, them, givenUpNext(why))
}

// ButtonGivenUp tells whoever clicked a button of a check that ocpctl stopped trying it.
func ButtonGivenUp(actor, button, cluster string, why error) string {
	return fmt.Sprintf("@%s, ocpctl gave up on the button %s of %s: %s. Click it again, or write the command as a comment; `/ocp status` shows the present state.%s",
		actor, chatops.Code(button), chatops.Code(cluster), givenUpBecause(why), givenUpNext(why))
}

// givenUpBecause says why something was given up: GitHub's refusal, or that nothing answered.
func givenUpBecause(why error) string {
	if why == nil {
		return "GitHub or a part of ocpctl did not answer for a day"
	}
	return "for 15 minutes, GitHub refused a call that it takes (" + chatops.Code(fmt.Sprintf("%.300s", why)) + ")"
}

// givenUpNext says what to do if GitHub refuses it again.
func givenUpNext(why error) string {
	if why == nil {
		return ""
	}
	return " If GitHub refuses it again, ask an owner of the organization to check the App's installation and permissions."
}

// NotHere tells a commenter that pull requests do not have the command, and which they have.
func NotHere(verb chatops.Verb, profiles []string) string {
	return fmt.Sprintf("`/ocp %s` does nothing here.\n\n%s", verb, chatops.Help(profiles...))
}

// NotOnSlack tells a Slack user that Slack does not have the command, and which it has.
func NotOnSlack(verb chatops.Verb) string {
	return fmt.Sprintf("`/ocp %s` is not available here.\n\n%s", verb, chatops.SlackHelp())
}

// PullRequestClosed tells a commenter that a closed pull request gets no cluster.
func PullRequestClosed(repo string, number int) string {
	return fmt.Sprintf("%s#%d is closed, and clusters are created for open pull requests only. Reopen it first.", repo, number)
}

// ReplacedCheck tells whoever clicked a check's button that the check is of an older cluster.
func ReplacedCheck(actor, older, newest string) string {
	return fmt.Sprintf("@%s, that check is of `%s`, and `%s` took its place since, so nothing was done. Its own check has the buttons that count.",
		actor, older, newest)
}

// WhichCluster asks a commenter which of a pull request's clusters a command means. Its line is repeated for each profile, with the
// other arguments, unless it is too long or cannot be shown as code.
func WhichCluster(actor string, c chatops.Command, profiles []string) string {
	typed := chatops.Prefix + " " + string(c.Verb)
	if c.Line != "" && len(c.Line) <= 200 && !strings.Contains(c.Line, "`") {
		typed = c.Line // for example /ocp extend 4h aws-standard
	}
	lines := make([]string, 0, len(profiles))
	for _, profile := range profiles {
		lines = append(lines, "`"+typed+" "+profile+"`")
	}
	return fmt.Sprintf("@%s, this pull request has %s. Which one? %s", actor, Clusters(len(profiles)), strings.Join(lines, " or "))
}

// Clusters says how many clusters there are.
func Clusters(n int) string {
	if n == 1 {
		return "one cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}

// NoClusterHere tells a commenter that the pull request has no cluster, or none of the profile; known are the profiles' names.
func NoClusterHere(actor, profile string, known []string) string {
	if profile == "" {
		return fmt.Sprintf("@%s, this pull request has no cluster. `/ocp create` creates one.", actor)
	}
	hint := ""
	if near, ok := closest.Match(profile, known); ok && near != profile {
		hint = fmt.Sprintf(" Did you mean `%s`?", near)
	}
	return fmt.Sprintf("@%s, this pull request has no cluster of profile %s.%s `/ocp status` shows what it has.", actor, chatops.Code(profile), hint)
}

// Extended answers extend on a pull request: the new end, and an end that comes before it or a hold. warning is what a quota or budget
// says about it; empty: nothing.
func Extended(actor string, c lifecycle.Card, before, after lifecycle.Ends, capped bool, warning string) string {
	return chatops.Said(fmt.Sprintf("@%s, %s", actor, extended(c, before, after, capped, warning)), actor)
}

func extended(c lifecycle.Card, before, after lifecycle.Ends, capped bool, warning string) string {
	text := fmt.Sprintf("the lifetime of `%s` now ends %s (it was %s).", c.Name, chatops.Time(after.TTL), chatops.Time(before.TTL))
	if after.TTL.Equal(before.TTL) {
		text = fmt.Sprintf("the lifetime of `%s` ends %s, as before.", c.Name, chatops.Time(after.TTL))
	}
	if capped {
		text += fmt.Sprintf(" That is the maximum of profile %s; for more time, create a new cluster.", c.Profile)
	}
	switch end := after.DestroyAt(); {
	case end.Before(after.TTL):
		text += fmt.Sprintf(" The cluster still ends before that, %s: %s.", chatops.Time(end), WhyItEnds(after))
	case end.After(after.TTL):
		text += fmt.Sprintf(" That is without its hold, which keeps it until %s.", chatops.Time(end))
	}
	return strings.TrimSpace(text + " " + warning)
}

// Held answers hold on a pull request; change says until when.
func Held(actor, name, change string) string {
	return chatops.Said(fmt.Sprintf("@%s, `%s` is held. %s", actor, name, change), actor)
}

// DestroyingNow answers destroy on a pull request.
func DestroyingNow(actor, name, job string) string {
	return fmt.Sprintf("@%s, `%s` is being destroyed (job `%s`). Its comment says when nothing is left.", actor, name, job)
}

// DestroyingAlready answers destroy on a pull request for a cluster that is on its way out.
func DestroyingAlready(actor string, c lifecycle.Card) string {
	return fmt.Sprintf("@%s, `%s` is already being destroyed: %s. Its comment says when nothing is left.", actor, c.Name, chatops.Code(c.DesiredWhy))
}

// DestroyedAlready answers destroy on a pull request for a cluster of which nothing is left.
func DestroyedAlready(actor string, c lifecycle.Card) string {
	return fmt.Sprintf("@%s, %s", actor, goneSince(c, "`"+c.Name+"`"))
}

// NothingToRetry tells a commenter that a cluster neither failed nor ended, and how to replace it.
func NothingToRetry(actor string, c lifecycle.Card) string {
	return fmt.Sprintf("@%s, there is nothing to retry: `/ocp status %s` shows the state of `%s`. To replace it, use `/ocp destroy %s` and then `/ocp create %s`.",
		actor, c.Profile, c.Name, c.Profile, c.Profile)
}

// RetryingTeardown answers retry on a pull request for a teardown that was stuck.
func RetryingTeardown(actor, name string) string {
	return fmt.Sprintf("@%s, the teardown of `%s` is tried again now. Its comment shows the progress.", actor, name)
}

// Shared answers share on a pull request.
func Shared(actor, name, kind, grantee string, role policy.ClusterRole) string {
	return fmt.Sprintf("@%s, `%s` is shared with %s %s%s now. Its page lists all shares and can remove them.", actor, name, kind, chatops.Code(grantee), asRole(role))
}

// CannotShareSo tells a commenter what is wrong with the share they asked for.
func CannotShareSo(actor, name string, p Problem) string {
	return fmt.Sprintf("@%s, `%s` cannot be shared so: %s. What would be accepted: %s.", actor, name, p.Detail, strings.Join(p.Accept, ", "))
}

// AskedFor is the reason of a change that a person asked for on GitHub: the one they gave, or else how they asked, such as "in a
// comment". The audit trail and the cluster's comment show it.
func AskedFor(actor, how, reason string) string {
	if reason != "" {
		return "@" + actor + ": " + reason
	}
	return "@" + actor + " asked for it " + how
}

// ByComment says that somebody asked in a comment.
const ByComment = "in a comment"

// ByButton says that somebody asked with a button of a check.
func ByButton(identifier string) string { return "with the " + identifier + " button of its check" }

// ByDispatch says that a workflow asked with a repository_dispatch event.
func ByDispatch(repo string) string { return "by repository_dispatch from " + repo }

// RememberedPermission adds to the reason of a change that it rests on a permission which GitHub reported earlier.
func RememberedPermission(permission string, seenAt time.Time) string {
	return fmt.Sprintf("; GitHub gave no answer, and their permission %s was seen at %s", permission, chatops.Time(seenAt))
}

// NoDatabase is the warning to a workflow that asks for a database in the cluster, and NoDatabaseNext what to do instead.
const (
	NoDatabase     = "install_postgres asks for a database in the cluster, which ocpctl does not install."
	NoDatabaseNext = "Install it from the workflow once the cluster is ready."
)

// InvalidFile tells a requester that there are no new clusters while the file of their repository is not valid, and why it is not.
func InvalidFile(path, branch string, wrong error) string {
	return fmt.Sprintf("%s on %s is not valid, so no new clusters are created. %s", path, chatops.Code(branch), wrong)
}

// InvalidFileNext says what to do about an invalid file of a repository.
const InvalidFileNext = "Fix it on that branch, and try again."

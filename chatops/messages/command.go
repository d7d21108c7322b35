package messages

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// GivenUp tells a commenter that their commands are not tried any more. why is GitHub's refusal; nil: nothing answered for a day.
func GivenUp(actor string, why error) string {
	return fmt.Sprintf("@%s, ocpctl gave up on this: %s. Commands that were done have an answer here. Repeat the others; `/ocp status` shows the present state.%s",
		actor, whyGivenUp(why), nextAfterGivingUp(why))
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
		actor, strings.Join(named, ", "), whyGivenUp(why), them, them, nextAfterGivingUp(why))
}

// ButtonGivenUp tells whoever clicked a button of a check that ocpctl stopped trying it.
func ButtonGivenUp(actor, button, cluster string, why error) string {
	return fmt.Sprintf("@%s, ocpctl gave up on the button %s of %s: %s. Click it again, or write the command as a comment; `/ocp status` shows the present state.%s",
		actor, chatops.Code(button), chatops.Code(cluster), whyGivenUp(why), nextAfterGivingUp(why))
}

// whyGivenUp says why something was given up: GitHub's refusal, or that nothing answered.
func whyGivenUp(why error) string {
	if why == nil {
		return "GitHub or a part of ocpctl did not answer for a day"
	}
	return "for 15 minutes, GitHub refused a call that it takes (" + chatops.Code(fmt.Sprintf("%.300s", why)) + ")"
}

// nextAfterGivingUp says what to do if GitHub refuses it again.
func nextAfterGivingUp(why error) string {
	if why == nil {
		return ""
	}
	return " If GitHub refuses it again, ask an owner of the organization to check the App's installation and permissions."
}

// PullRequestClosed tells a commenter that a closed pull request gets no cluster.
func PullRequestClosed(repo string, number int) string {
	return fmt.Sprintf("%s#%d is closed, and clusters are created for open pull requests only. Reopen it first.", repo, number)
}

// Clusters says how many clusters there are.
func Clusters(n int) string {
	if n == 1 {
		return "one cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}

// Extended answers extend on a pull request: the new end, and an end that comes before it or a hold. warning is what a quota or budget
// says about it; empty: nothing.
func Extended(actor string, c lifecycle.Card, before, after lifecycle.Ends, capped bool, warning string) string {
	return chatops.Said(fmt.Sprintf("@%s, %s", actor, describeExtension(c, before, after, capped, warning)), actor)
}

func describeExtension(c lifecycle.Card, before, after lifecycle.Ends, capped bool, warning string) string {
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

// DestroyedAlready answers destroy on a pull request for a cluster of which nothing is left.
func DestroyedAlready(actor string, c lifecycle.Card) string {
	return fmt.Sprintf("@%s, %s", actor, describeGone(c, "`"+c.Name+"`"))
}

// Shared answers share on a pull request.
func Shared(actor, name, kind, grantee string, role policy.ClusterRole) string {
	return fmt.Sprintf("@%s, `%s` is shared with %s %s%s now. Its page lists all shares and can remove them.", actor, name, kind, chatops.Code(grantee), asRole(role))
}

// CannotShareSo tells a commenter what is wrong with the share they asked for.
func CannotShareSo(actor, name string, p Problem) string {
	return fmt.Sprintf("@%s, `%s` cannot be shared so: %s. What would be accepted: %s.", actor, name, p.Detail, strings.Join(p.Accept, ", "))
}

// AskedFor is the reason of a change that a person asked for on GitHub, how they asked, such as "in a comment", and their words. The audit
// trail and the cluster's comment show it.
func AskedFor(actor, how, words string) lifecycle.Reason {
	return lifecycle.Reason{Code: lifecycle.ReasonAsked, By: "@" + actor, Via: how, Words: words}
}

// ByComment says that somebody asked in a comment.
const ByComment = "in a comment"

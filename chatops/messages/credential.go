package messages

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// InvalidLink is the answer to every link that does not work, whatever the reason.
const InvalidLink = "This link is not valid. A link works once, for a limited time, and only for the person it was made for. Request a new one."

// AccountTaken tells somebody that the account they want to link is another person's.
const AccountTaken = "This account belongs to somebody else: they linked it, or the catalogue lists it as theirs. They or a platform admin must first unlink it or remove it from the catalogue."

// AnotherAccount warns somebody who confirmed a link with the wrong account.
func AnotherAccount(account string) string {
	return fmt.Sprintf("This link connects the account %s to you: whoever uses that account then acts as you. Nothing was changed. "+
		"Confirm it if you requested the link from that account yourself. If somebody sent it to you, do not.", account)
}

// NotTheLinksAccount is the problem with an account that a link is not for.
func NotTheLinksAccount(account string) Problem {
	return Problem{"it must be the account that the link is for", []string{account}}
}

// AccountNotLinked tells somebody that the account they want to unlink is not theirs.
func AccountNotLinked(account string) string {
	return fmt.Sprintf("The account %s is not linked to you. Your own page lists your linked accounts.", account)
}

// WrongLinkCode answers a code that does not work, whatever the reason.
func WrongLinkCode(tries int) string {
	return fmt.Sprintf("Nothing was linked. The code is wrong, was used before or is older than ten minutes, or there were %d wrong codes. "+
		"Type it again as the page shows it, or start again with `/ocp link`.", tries)
}

// LinkedOnGitHub answers link with the right code on a pull request.
func LinkedOnGitHub(actor string) string {
	return fmt.Sprintf("@%s, this GitHub account is now linked to you. Commands from it now count as yours. Sign in at least once a week to keep the link.", actor)
}

// LinkedInSlack answers link with the right code in Slack.
const LinkedInSlack = "This Slack account is now linked to you. Your web roles now apply in Slack too. Sign in at least once a week to keep the link. `/ocp unlink` undoes it."

// TypeLinkCode says on the page how an account confirms its side of a link. site and account say which account it is.
func TypeLinkCode(site, account, code string) string {
	how := "send this in Slack"
	if site == "GitHub" {
		how = "write this comment on the pull request"
	}
	return fmt.Sprintf("Nothing is linked yet. Within ten minutes, %s as %s: /ocp link %s", how, account, code)
}

// NeverGiveLinkCode is the warning beside a code.
const NeverGiveLinkCode = "Type this code yourself from your own account. Never give it to anybody who asks for it."

// LinkGitHubAccount answers link on a pull request with a link to sign in.
func LinkGitHubAccount(actor, url string, until time.Time) string {
	return fmt.Sprintf("@%s, open %s and sign in to link the GitHub account `%s` to you. The link works once, until %s. Nobody else should use it.",
		actor, url, actor, chatops.Time(until))
}

// LinkSlackAccount answers link in Slack with a link to sign in. Slack's markup.
func LinkSlackAccount(account, url string, until time.Time) string {
	return fmt.Sprintf("Open <%s> and sign in to link the Slack account %s to you. The link works once, until %s. Do not share it.",
		url, chatops.Code(account), chatops.Time(until))
}

// KubeconfigNeedsLink tells a commenter that their GitHub account has to be linked before they get a kubeconfig.
func KubeconfigNeedsLink(actor string) string {
	return fmt.Sprintf("@%s, to get a kubeconfig you have to sign in, and this GitHub account is not linked to you yet. "+
		"Comment `/ocp link`, open the link and sign in, then try again. The cluster's page offers the kubeconfig, too.", actor)
}

// KubeconfigLink answers kubeconfig on a pull request with a link that works only for the commenter.
func KubeconfigLink(actor, name, url string, until time.Time) string {
	return fmt.Sprintf("@%s, open %s and sign in to get your own kubeconfig of `%s`. The link works once, until %s, and only for you.",
		actor, url, name, chatops.Time(until))
}

// KubeconfigWithheld tells somebody that the stored kubeconfig is suspicious, why, and whom to ask.
func KubeconfigWithheld(name string, why error) string {
	return fmt.Sprintf("The stored kubeconfig of %s is not one that openshift-install writes (%v) and is withheld: it could run programs on your machine "+
		"or send your requests elsewhere. Ask a platform admin to check the cluster's create attempt.", name, why)
}

// NoLogBundle tells somebody why a cluster has no log bundle, and what there is instead. bundled are the numbers of the attempts that
// have one.
func NoLogBundle(c lifecycle.Card, attempt int, bundled []int) string {
	switch {
	case len(bundled) > 0:
		numbers := make([]string, 0, len(bundled))
		for _, number := range bundled {
			numbers = append(numbers, strconv.Itoa(number))
		}
		return fmt.Sprintf("Attempt %d of %s has no log bundle. These attempts have one: %s.", attempt, c.Name, strings.Join(numbers, ", "))
	case c.Phase == lifecycle.Released:
		return fmt.Sprintf("%s has no log bundle. A bundle is stored when an installation fails, and is deleted with the cluster's logs, "+
			"some time after the cluster is destroyed. %s", c.Name, GoneSince(c))
	}
	return fmt.Sprintf("%s has no log bundle. A bundle is stored when an installation fails. To see the job's log: ocpctl logs %s.", c.Name, c.Name)
}

// LogBundleDeleted tells somebody that a log bundle is no longer stored.
func LogBundleDeleted(name string) string {
	return fmt.Sprintf("The log bundle of %s is no longer in the bucket. It is deleted with the cluster's logs, some time after the cluster is destroyed.", name)
}

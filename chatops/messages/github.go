package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
)

// Backlog is what waits for GitHub on a pull request.
type Backlog struct {
	Repo       string
	Number     int
	Places     []string  // what shows an older state: comment, check, deployment, label
	Deliveries int       // waiting events
	Since      time.Time // the oldest of them
	AwaySince  time.Time // GitHub has not answered since; zero: its rate limit is used up
	HeldUntil  time.Time // the rate limit is used up until then
}

// BacklogText says on a cluster's page what waits for GitHub, since when, and until when.
func BacklogText(b Backlog) string {
	var sentences []string
	if b.AwaySince.IsZero() {
		sentences = append(sentences, fmt.Sprintf("GitHub's rate limit is used up, or nearly, until %s.", chatops.Time(b.HeldUntil)))
	} else {
		sentences = append(sentences, fmt.Sprintf("GitHub has not answered since %s; it is tried at least every 20 seconds.", chatops.Time(b.AwaySince)))
	}
	if len(b.Places) > 0 {
		var names []string
		for _, place := range b.Places {
			names = append(names, "its "+place)
		}
		sentences = append(sentences, fmt.Sprintf("On %s#%d, %s may show an older state than this page.", b.Repo, b.Number, strings.Join(names, ", ")))
	}
	if b.Deliveries > 0 {
		sentences = append(sentences, fmt.Sprintf("Events of %s#%d that wait for GitHub: %d, the oldest since %s.", b.Repo, b.Number, b.Deliveries, chatops.Time(b.Since)))
	}
	return strings.Join(append(sentences, "The cluster's end, its teardown, the API and the command line do not wait."), " ")
}

// ReusedLogin is the name of an account on GitHub whose login was another account's before.
func ReusedLogin(login string, account int64) string {
	return fmt.Sprintf("%s (GitHub account %d)", login, account)
}

// UnknownGitHubLogin is the problem with a login that no account is known to have.
func UnknownGitHubLogin(login string) Problem {
	return Problem{
		fmt.Sprintf("no account on GitHub is known as %q, or several had that login", login),
		[]string{"the login of somebody who did something in a repository with the App", "github:id/<number of the account>, which https://api.github.com/users/<login> shows"},
	}
}

// RenamedGitHubLogin is the problem with a login that its account does not have any more, so that another account may have it now.
func RenamedGitHubLogin(login, now string, account int64) Problem {
	return Problem{
		fmt.Sprintf("%q was the login of an account that is called %s now. Another account may have it by now", login, now),
		[]string{"github:" + now + " for the account that had it", fmt.Sprintf("github:id/<number> for another one; that one's number is %d", account)},
	}
}

// LeftMergeQueue is why the cluster of a merge queue's commit ends.
func LeftMergeQueue(number int, why string) string {
	after := map[string]string{
		"merged": "it was merged", "invalidated": "an earlier pull request left the queue", "dequeued": "the pull request was taken out of the queue",
	}[why]
	if after == "" {
		after = "its branch is gone"
	}
	return fmt.Sprintf("the commit of #%d left the merge queue: %s", number, after)
}

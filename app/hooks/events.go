package hooks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The events of GitHub that mean something.
const (
	onPullRequest   = "pull_request"
	onComment       = "issue_comment"
	onCheckRun      = "check_run"
	onCheckSuite    = "check_suite"
	onDispatch      = "repository_dispatch"
	onRepository    = "repository"
	onInstallation  = "installation"
	onRepositories  = "installation_repositories"
	onPing          = "ping"
	actionClosed    = "closed"
	actionEdited    = "edited"
	actionCreated   = "created"
	actionAdded     = "added"
	actionRemoved   = "removed"
	actionRerun     = "rerequested"
	actionRenamed   = "renamed"
	actionMoved     = "transferred"
	actionDeleted   = "deleted"
	actionSuspended = "suspend"
)

// Events are GitHub's webhooks that mean something, each with the actions of it that do; all else is neither stored nor
// worked. The App has to be registered for them, but for those of its installation, which come unasked. Of repository_dispatch
// the action is its type. https://docs.github.com/webhooks/webhook-events-and-payloads
func Events() map[string][]string {
	return map[string][]string{
		onPullRequest: {
			"opened", "reopened", actionClosed, "labeled", "unlabeled", "synchronize", "converted_to_draft", "ready_for_review",
			actionEdited, // of its base branch; a title is none of our business
		},
		onComment:      {actionCreated},
		onCheckRun:     {"requested_action", actionRerun},
		onCheckSuite:   {actionRerun},
		onDispatch:     {"create_ephemeral_cluster", "delete_ephemeral_cluster"},
		onRepository:   {actionRenamed, actionMoved, actionDeleted, "archived", "unarchived"},
		onInstallation: {actionCreated, actionDeleted, actionSuspended, "unsuspend"},
		onRepositories: {actionAdded, actionRemoved},
	}
}

// idle says in words why a webhook means nothing to us; empty: it does, or is of so odd a shape that the worker has to say so.
func (d *door) idle(event string, in gjson.Result) string {
	actions, known := d.events[event]
	action := in.Get("action").String()
	switch {
	case !known:
		return fmt.Sprintf("ocpctl does not listen to %s", event)
	case !slices.Contains(actions, action):
		return fmt.Sprintf("ocpctl does not listen to %s of %s", quoted(action), event)
	case event == onPullRequest && action == actionEdited && !in.Get("changes.base").Exists():
		return "a pull request's words mean nothing to ocpctl"
	case event == onComment && (in.Get("comment.user.type").String() == bot || in.Get("sender.type").String() == bot):
		return "what bots say means nothing to ocpctl"
	case d.app != 0 && (event == onCheckRun || event == onCheckSuite) && in.Get(event+".app.id").Int() != d.app:
		return "it is a check of another App"
	}
	return d.foreign(event, in)
}

// bot is GitHub's type of the accounts of Apps.
const bot = "Bot"

// foreign says in words why a webhook is of no repository that is looked after here; empty: it is.
func (d *door) foreign(event string, in gjson.Result) string {
	installation := in.Get("installation.id").Int()
	if len(d.installations) > 0 && !slices.Contains(d.installations, installation) {
		return fmt.Sprintf("installation %d is not among github.installations", installation)
	}
	if len(d.repositories) == 0 || event == onInstallation || event == onRepositories {
		return ""
	}
	names := []string{in.Get("repository.full_name").String()}
	if event == onRepository {
		names = append(names, before(in))
	}
	for _, line := range d.repositories {
		if slices.ContainsFunc(names, line.Holds) {
			return ""
		}
	}
	return fmt.Sprintf("no entry of the server's table of repositories holds for %s", quoted(names[0]))
}

// quoted is a word of a stranger's, bounded and printable.
func quoted(word string) string { return fmt.Sprintf("%.64q", word) }

// before is what a repository was called that was renamed or moved; else its name.
func before(in gjson.Result) string {
	owner, name, _ := strings.Cut(in.Get("repository.full_name").String(), "/")
	return cmp.Or(in.Get("changes.owner.from.organization.login").String(), in.Get("changes.owner.from.user.login").String(), owner) +
		"/" + cmp.Or(in.Get("changes.repository.name.from").String(), name)
}

// topic names what an event is about, so that what is about the same is worked in the order it came in: a pull request
// (owner/name#41), a commit of a repository where no pull request is named (owner/name#sha), a repository as a whole
// (owner/name), or an installation. What is of an odd shape is about nothing; the worker says so.
func topic(event string, in gjson.Result) string {
	repo := in.Get("repository.full_name").String()
	switch event {
	case onInstallation, onRepositories:
		return installationTopic(in.Get("installation.id").Int())
	case onRepository:
		return repo
	case onComment:
		return pullTopic(repo, in.Get("issue.number").Int())
	case onDispatch:
		return pullTopic(meant(repo, in.Get("client_payload.repository").String()), in.Get("client_payload.pr_number").Int())
	case onCheckRun, onCheckSuite:
		if number := in.Get(event + ".pull_requests.0.number"); number.Exists() {
			return pullTopic(repo, number.Int())
		}
		return repo + "#" + in.Get(event+".head_sha").String()
	}
	return pullTopic(repo, in.Get("number").Int())
}

func pullTopic(repo string, number int64) string { return fmt.Sprintf("%s#%d", repo, number) }

func installationTopic(id int64) string { return fmt.Sprintf("installation %d", id) }

// fullName is owner/name as GitHub lets repositories be called.
var fullName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$`)

// meant is the repository that a dispatch names, in full or beside the one that sent it.
func meant(sender, named string) string {
	if !strings.Contains(named, "/") {
		owner, _, _ := strings.Cut(sender, "/")
		named = owner + "/" + named
	}
	if !fullName.MatchString(named) {
		return sender
	}
	return named
}

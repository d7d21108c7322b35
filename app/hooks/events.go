package hooks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
)

// The GitHub events that ocpctl handles.
const (
	onPullRequest   = "pull_request"
	onComment       = "issue_comment"
	onReview        = "pull_request_review"
	onReviewComment = "pull_request_review_comment"
	onCheckRun      = "check_run"
	onCheckSuite    = "check_suite"
	onDispatch      = "repository_dispatch"
	onRun           = "workflow_run"
	onJob           = "workflow_job"
	onRule          = "deployment_protection_rule"
	onMergeGroup    = "merge_group"
	onRepository    = "repository"
	onInstallation  = "installation"
	onRepositories  = "installation_repositories"
	onPing          = "ping"
	actionClosed    = "closed"
	actionEdited    = "edited"
	actionCreated   = "created"
	actionSubmitted = "submitted"
	actionAdded     = "added"
	actionRemoved   = "removed"
	actionRerun     = "rerequested"
	actionRenamed   = "renamed"
	actionMoved     = "transferred"
	actionDeleted   = "deleted"
	actionSuspended = "suspend"
	actionAsked     = "requested"
	actionChecks    = "checks_requested"
	actionDestroyed = "destroyed"
)

// Events are the GitHub webhooks that ocpctl handles, with the handled actions of each; all others are neither stored nor processed.
// The App must subscribe to them, except to those of its installation, which GitHub always sends. The action of a repository_dispatch
// is its type. https://docs.github.com/webhooks/webhook-events-and-payloads
func Events() map[string][]string {
	return map[string][]string{
		onPullRequest: {
			"opened", "reopened", actionClosed, "labeled", "unlabeled", "synchronize", "converted_to_draft", "ready_for_review",
			actionEdited, // a change of the base branch matters, a change of the title does not
		},
		onComment:       {actionCreated},
		onReview:        {actionSubmitted},
		onReviewComment: {actionCreated},
		onCheckRun:      {"requested_action", actionRerun},
		onCheckSuite:    {actionRerun},
		onDispatch:      {"create_ephemeral_cluster", "delete_ephemeral_cluster"},
		onRun:           {actionAsked, "in_progress", finished}, // a new attempt is not requested: it is in progress
		onJob:           {finished},
		onRule:          {actionAsked},
		onMergeGroup:    {actionChecks, actionDestroyed},
		onRepository:    {actionRenamed, actionMoved, actionDeleted, "archived", "unarchived"},
		onInstallation:  {actionCreated, actionDeleted, actionSuspended, "unsuspend"},
		onRepositories:  {actionAdded, actionRemoved},
	}
}

// whyUnhandled says why an event or action is not handled; empty: it is.
func whyUnhandled(events map[string][]string, event, action string) string {
	actions, known := events[event]
	switch {
	case !known:
		return fmt.Sprintf("ocpctl does not listen to %s", event)
	case !slices.Contains(actions, action):
		return fmt.Sprintf("ocpctl does not listen to %s of %s", quoteShort(action), event)
	}
	return ""
}

// whyNoEffect says why a handled webhook has no effect; empty: it may have one, or its shape is unexpected and the worker reports that.
func (h *handler) whyNoEffect(event string, in webhook) string {
	switch {
	case event == onPullRequest && in.Action == actionEdited && in.Changes.Base == nil:
		return "ocpctl ignores changes to a pull request's text"
	case isComment(event) && in.isByBot(event):
		return "ocpctl ignores comments by bots"
	case isComment(event) && event != onComment && len(chatops.Parse(in.commentIn(event).Body)) == 0:
		return "the review has no command"
	case h.app != 0 && (event == onCheckRun && in.CheckRun.App.ID != h.app || event == onCheckSuite && in.CheckSuite.App.ID != h.app):
		return "the check belongs to another App"
	case h.app != 0 && (event == onInstallation || event == onRepositories) && in.Installation.App != h.app:
		return "the installation belongs to another App"
	case event == onRule:
		if _, ours := app.EnvironmentProfile(in.Environment); !ours {
			return fmt.Sprintf("ocpctl approves environments named ocp/<profile>, and this one is %s", quoteShort(in.Environment))
		}
	}
	return h.whyForeign(event, in)
}

// whyForeign says why a webhook is not for a repository that this server handles; empty: it is.
func (h *handler) whyForeign(event string, in webhook) string {
	if len(h.installations) > 0 && !slices.Contains(h.installations, in.Installation.ID) {
		return fmt.Sprintf("installation %d is not among github.installations", in.Installation.ID)
	}
	if len(h.repositories) == 0 || event == onInstallation || event == onRepositories || event == onRule || aboutRun(event) { // a run is known by its token, and a waiting job is told why
		return ""
	}
	names := []string{in.Repository.FullName}
	if event == onRepository {
		names = append(names, in.formerName())
	}
	for _, line := range h.repositories {
		if slices.ContainsFunc(names, line.Holds) {
			return ""
		}
	}
	return fmt.Sprintf("no entry of the server's table of repositories matches %s", quoteShort(names[0]))
}

// quoteShort makes untrusted text short and printable.
func quoteShort(word string) string { return fmt.Sprintf("%.64q", word) }

// topicOf names what an event is about, so that related events are processed in the order of their arrival: a pull request
// (owner/name#41), a commit of a repository if no pull request is named (owner/name#sha), a workflow run (owner/name#run 7), a repository as a
// whole (owner/name), or an installation. Unexpected shapes have no topic; the worker reports them.
func topicOf(event string, in webhook) string {
	repo := in.Repository.FullName
	switch event {
	case onInstallation, onRepositories:
		return installationTopic(in.Installation.ID)
	case onRepository:
		return repo
	case onComment, onReview, onReviewComment:
		return pullTopic(repo, in.numberOfComment(event))
	case onDispatch:
		if named, number, ok := (pulls.DispatchEvent{Repo: repo, Payload: in.ClientPayload}).About(); ok {
			return pullTopic(named, number)
		}
		return pullTopic(repo, 0)
	case onRun, onJob, onRule:
		return runTopic(repo, in.runID())
	case onMergeGroup: // the request for its checks, and its end
		return repo + "#" + in.MergeGroup.HeadSHA
	case onCheckRun:
		return checkTopic(repo, in.CheckRun)
	case onCheckSuite:
		return checkTopic(repo, in.CheckSuite)
	}
	return pullTopic(repo, in.PullRequest.Number)
}

func checkTopic(repo string, of check) string {
	if len(of.PullRequests) > 0 {
		return pullTopic(repo, of.PullRequests[0].Number)
	}
	return repo + "#" + of.HeadSHA
}

func pullTopic(repo string, number int) string { return fmt.Sprintf("%s#%d", repo, number) }

// aboutRun reports whether an event is about a workflow run or one of its jobs.
func aboutRun(event string) bool { return event == onRun || event == onJob }

// runID returns the id of the run that an event is about; 0: it names none.
func (p webhook) runID() int64 {
	var reviewed int64
	if of := reviewPath.FindStringSubmatch(p.Callback); of != nil {
		reviewed, _ = strconv.ParseInt(of[1], 10, 64) // too large is none
	}
	return cmp.Or(p.WorkflowRun.ID, p.WorkflowJob.Run, reviewed)
}

// reviewPath ends the address at which GitHub takes the decision about an environment.
var reviewPath = regexp.MustCompile(`/actions/runs/([1-9][0-9]{0,18})/deployment_protection_rule$`)

func runTopic(repo string, run int64) string { return fmt.Sprintf("%s#run %d", repo, run) }

func installationTopic(id int64) string { return fmt.Sprintf("installation %d", id) }

// fullName matches owner/name as GitHub allows it.
var fullName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$`)

package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Event is an event on GitHub that is sent as a webhook. Unused fields stay empty.
type Event struct {
	Name         string      // pull_request, issue_comment, check_run, check_suite, repository, repository_dispatch, installation …
	Action       string      // e.g. labeled; for repository_dispatch the dispatch's type; empty for ping
	Sender       string      // login
	Repo         RepoRef     // empty: acme/shop
	Installation int64       // empty: the first
	PR           PullRequest // after the event
	Label        string      // labeled and unlabeled
	Comment      Comment     // issue_comment, pull_request_review and pull_request_review_comment
	ReviewState  string      // pull_request_review: approved, changes_requested or commented
	OldBody      string      // issue_comment edited
	OldTitle     string      // pull_request edited
	Before       string      // synchronize and push: the head before
	After        string      // push: the head after
	Branch       string      // push
	Message      string      // push: of the commit
	Paths        []string    // push: changed
	At           time.Time   // push
	Comments     int         // how many comments the pull request has
	BaseURL      string      // the stand-in's URL; empty: GitHub's own URLs in the payload

	Check   Check           // check_run; check_suite: the newest run on Check.Head
	OnHead  []PullRequest   // check_run and check_suite: open pull requests with this head, from branches of the repository
	Button  string          // check_run requested_action: the action's identifier
	Deploy  Deployment      // deployment_status: with the new status last
	Client  json.RawMessage // repository_dispatch: the payload
	OldName string          // repository renamed (the name alone) and transferred (owner/name)
	Repos   []RepoRef       // installation: its repositories; installation_repositories: those added or removed
	Run     Run             // workflow_run, workflow_job and deployment_protection_rule
	Group   QueueEntry      // merge_group
	Reason  string          // merge_group destroyed: merged, invalidated or dequeued
	Job     Job             // workflow_job and deployment_protection_rule

	scene scene         // of the event's world; zero: none
	in    *installation // installation: its state after the event; nil: as at the start

	leaving bool // sent even though the App has no access any more
}

// Payload builds the webhook's body in GitHub's own shape.
func Payload(e Event) (_ []byte, err error) {
	defer must.Catch(&err)
	e.scene = e.setting()
	body := e.body()
	body["sender"] = e.scene.user(e.Sender)
	if e.Action != "" {
		body["action"] = e.Action
	}
	if !strings.HasPrefix(e.Name, "installation") {
		body["organization"] = e.scene.org()
	}
	if e.Name != "ping" && !strings.HasPrefix(e.Name, "installation") {
		body["installation"] = object{"id": e.scene.installation, "node_id": nodeID("I", e.scene.installation)}
	}
	return json.Marshal(body)
}

// setting returns the scene of the event: that of its world, or a plain one with the event's own data.
func (e Event) setting() scene {
	sc := e.scene
	if sc.repo.Name == "" && sc.installation == 0 {
		sc = plainScene(e.BaseURL)
		sc.installation = cmp.Or(e.Installation, sc.installation)
	}
	if e.Repo.Name != "" {
		sc.repo = e.Repo
	}
	return sc
}

func (e Event) body() object {
	switch e.Name {
	case "ping":
		return e.scene.sample("ping", 1)
	case "pull_request":
		return e.pullBody()
	case "issue_comment":
		return e.commentBody()
	case "pull_request_review", "pull_request_review_comment":
		return e.reviewBody()
	case "installation", "installation_repositories":
		return e.installationBody()
	}
	body := object{"repository": e.scene.repository()}
	switch e.Name {
	case "check_run":
		body["check_run"] = e.scene.checkInEvent(e.Check, e.OnHead)
		if e.Button != "" {
			body["requested_action"] = object{"identifier": e.Button}
		}
	case "check_suite":
		body["check_suite"] = e.scene.suiteInEvent(e.Check.Head, e.OnHead, e.Check, 1)
	case "repository":
		e.repositoryBody(body)
	case "repository_dispatch":
		body["branch"] = Branch
		body["client_payload"] = e.Client
		if len(e.Client) == 0 {
			body["client_payload"] = nil
		}
	case "merge_group":
		body["merge_group"] = e.group()
		if e.Reason != "" {
			body["reason"] = e.Reason
		}
	case "deployment_status":
		body["deployment"] = e.scene.deployment(e.Deploy)
		body["deployment_status"] = e.scene.deploymentStatus(e.Deploy, e.Deploy.Statuses[len(e.Deploy.Statuses)-1])
		body["check_run"], body["workflow"], body["workflow_run"] = nil, nil, nil
	case "workflow_run":
		body["workflow"] = e.scene.workflow(e.Run)
		body["workflow_run"] = e.scene.run(e.Run, e.Run.Attempt, e.OnHead)
	case "workflow_job":
		body["workflow_job"] = e.scene.jobInEvent(e.Run, e.Job)
		if e.Deploy.ID != 0 {
			body["deployment"] = e.scene.deployment(e.Deploy)
		}
	case "deployment_protection_rule":
		e.ruleBody(body)
	case "push":
		e.pushBody(body)
	default:
		must.Do(fmt.Errorf("no sample of a %s webhook", e.Name))
	}
	return body
}

// ruleBody asks the App's protection rule about a deployment of a run.
func (e Event) ruleBody(body object) {
	pulls := pick.Map(e.OnHead, func(pr PullRequest) any { return e.scene.pull(pr, 0) })
	body["environment"], body["event"], body["sha"], body["ref"] = e.Deploy.Environment, e.Run.Event, e.Run.SHA, e.Run.Ref
	body["deployment_callback_url"] = e.scene.repoAPI() + "/actions/runs/" + itoa(e.Run.ID) + "/deployment_protection_rule"
	body["deployment"], body["pull_requests"] = e.scene.deployment(e.Deploy), pulls
}

// pushBody is the push of one commit to a branch.
func (e Event) pushBody(body object) {
	who := object{"name": e.Sender, "email": e.Sender + "@example.com", "username": e.Sender}
	compare := e.scene.web() + e.scene.repo.Name + "/compare/" + short(e.Before) + "..." + short(e.After)
	commit := object{
		"id": e.After, "tree_id": e.After, "distinct": true, "message": e.Message, "timestamp": stamp(e.At), "author": who, "committer": who,
		"url": e.scene.web() + e.scene.repo.Name + "/commit/" + e.After, "added": []any{}, "removed": []any{}, "modified": e.Paths,
	}
	repo := body["repository"].(object)
	repo["pushed_at"], repo["created_at"] = e.At.Unix(), installedAt.Unix()
	body["ref"], body["before"], body["after"], body["base_ref"] = "refs/heads/"+e.Branch, e.Before, e.After, nil
	body["created"], body["deleted"], body["forced"], body["compare"] = e.Before == noCommit, false, false, compare
	body["commits"], body["head_commit"], body["pusher"] = []any{commit}, commit, object{"name": e.Sender, "email": e.Sender + "@example.com"}
}

// noCommit stands for the commit before a branch's first one.
const noCommit = "0000000000000000000000000000000000000000"

// pullActions maps an action of pull_request to the sample for it.
var pullActions = map[string]string{
	"opened": "opened", "edited": "opened", "labeled": "labeled", "unlabeled": "unlabeled", "synchronize": "synchronize",
	"closed": "closed", "reopened": "reopened", "converted_to_draft": "opened", "ready_for_review": "opened",
}

func (e Event) pullBody() object {
	from, ok := pullActions[e.Action]
	must.FailIf(!ok, "no sample of a pull_request.%s webhook", e.Action)
	body := e.scene.sample("pull_request."+from, e.PR.Number)
	e.scene.patchRepo(body["repository"].(object), e.scene.repo)
	body["number"] = e.PR.Number
	e.scene.patchPull(body["pull_request"].(object), e.PR, e.Comments)
	switch e.Action {
	case "labeled", "unlabeled":
		body["label"] = e.scene.label(e.Label).shape(e.scene)
	case "synchronize":
		body["before"], body["after"] = e.Before, e.PR.HeadSHA
	case "edited":
		body["changes"] = object{"title": object{"from": e.OldTitle}}
	}
	return body
}

func (e Event) commentBody() object {
	body := e.scene.sample("issue_comment."+e.Action, e.PR.Number)
	e.scene.patchRepo(body["repository"].(object), e.scene.repo)
	e.scene.patchIssue(body["issue"].(object), e.PR, e.Comments)
	e.scene.patchComment(body["comment"].(object), e.Comment)
	if e.Action == "edited" {
		body["changes"] = object{"body": object{"from": e.OldBody}}
	}
	return body
}

func (e Event) repositoryBody(body object) {
	switch e.Action {
	case "renamed":
		body["changes"] = object{"repository": object{"name": object{"from": e.OldName}}}
	case "transferred":
		owner, _, _ := strings.Cut(e.OldName, "/")
		body["changes"] = object{"owner": object{"from": object{"organization": e.scene.orgOf(owner)}}}
	case "archived":
		body["repository"].(object)["archived"] = true
	}
}

func (e Event) installationBody() object {
	in := installation{ID: e.scene.installation, CreatedAt: installedAt}
	if e.in != nil {
		in = *e.in
	}
	repos := pick.Map(e.Repos, func(r RepoRef) any { return shortRepo(r) })
	body := object{"installation": e.scene.installShape(in)}
	if e.Name == "installation" {
		body["repositories"], body["requester"] = repos, nil
		return body
	}
	body["repository_selection"], body["requester"] = "selected", nil
	body["repositories_added"], body["repositories_removed"] = []any{}, []any{}
	body["repositories_"+e.Action] = repos
	return body
}

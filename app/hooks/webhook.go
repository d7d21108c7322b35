package hooks

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops/github"
)

// webhook is the body of a GitHub webhook, as far as ocpctl reads it. Fields that an event does not have are zero.
// https://docs.github.com/webhooks/webhook-events-and-payloads
type webhook struct {
	Action       string       `json:"action"`
	Installation installation `json:"installation"`
	Repository   repository   `json:"repository"`
	Sender       account      `json:"sender"`
	Changes      changes      `json:"changes"`

	PullRequest     pullRequest     `json:"pull_request"`
	Label           labelName       `json:"label"`
	Issue           issue           `json:"issue"`
	Comment         comment         `json:"comment"`
	Review          review          `json:"review"`
	CheckRun        check           `json:"check_run"`
	CheckSuite      check           `json:"check_suite"`
	RequestedAction *button         `json:"requested_action"`
	ClientPayload   json.RawMessage `json:"client_payload"`
	WorkflowRun     workflowRun     `json:"workflow_run"`
	WorkflowJob     workflowJob     `json:"workflow_job"`
	MergeGroup      mergeGroup      `json:"merge_group"`
	Reason          string          `json:"reason"`

	Environment  string                 `json:"environment"`
	Callback     string                 `json:"deployment_callback_url"`
	Deployment   deployment             `json:"deployment"`
	PullRequests []struct{ Number int } `json:"pull_requests"`

	Repositories []repository `json:"repositories"`
	Added        []repository `json:"repositories_added"`
	Removed      []repository `json:"repositories_removed"`

	names map[string]byte // all names at the top of the body, in one spelling, with the first character of their values
}

type account struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
	Type  string `json:"type"`
}

// isBot reports whether the account is a bot's. Its login need not tell it.
func (a account) isBot() bool { return github.IsBot(a.Type) }

// isByBot reports whether a program wrote the comment or review: a bot, or an App in a user's name.
func (p webhook) isByBot(event string) bool {
	written := p.commentIn(event)
	return written.User.isBot() || p.Sender.isBot() || written.App != nil
}

// installation is only an id in most events; events of an installation itself also contain the account and the App.
type installation struct {
	ID      int64   `json:"id"`
	App     int64   `json:"app_id"`
	Account account `json:"account"`
}

type repository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	Fork     bool   `json:"fork"`
	Archived bool   `json:"archived"`
	Branch   string `json:"default_branch"`
}

type labelName struct {
	Name string `json:"name"`
}

type pullRequest struct {
	Number      int         `json:"number"`
	State       string      `json:"state"`
	Draft       bool        `json:"draft"`
	Merged      bool        `json:"merged"`
	MergedAt    *time.Time  `json:"merged_at"`
	Labels      []labelName `json:"labels"`
	User        account     `json:"user"`
	Association string      `json:"author_association"`
	Head        branch      `json:"head"`
	Base        branch      `json:"base"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

type branch struct {
	Ref        string      `json:"ref"`
	SHA        string      `json:"sha"`
	Repository *repository `json:"repo"` // nil: deleted
}

type issue struct {
	Number      int       `json:"number"`
	PullRequest *struct{} `json:"pull_request"` // nil: an issue, not a pull request
}

type comment struct {
	ID        int64     `json:"id"`
	User      account   `json:"user"`
	Body      string    `json:"body"`
	App       *struct{} `json:"performed_via_github_app"` // nil: no App wrote it for the user
	CreatedAt time.Time `json:"created_at"`
}

// review is a review of a pull request, with what was written about the whole of it.
type review struct {
	ID          int64     `json:"id"`
	User        account   `json:"user"`
	Body        string    `json:"body"` // empty, or null
	SubmittedAt time.Time `json:"submitted_at"`
}

// isComment reports whether in an event somebody wrote on a pull request, or on an issue.
func isComment(event string) bool {
	return event == onComment || event == onReview || event == onReviewComment
}

// commentIn returns what was written in an event: a comment, or a review as a whole.
func (p webhook) commentIn(event string) comment {
	if r := p.Review; event == onReview {
		return comment{ID: r.ID, User: r.User, Body: r.Body, CreatedAt: r.SubmittedAt}
	}
	return p.Comment
}

// numberOfComment returns the number of what it was written on.
func (p webhook) numberOfComment(event string) int {
	if event == onComment {
		return p.Issue.Number
	}
	return p.PullRequest.Number
}

// check is a check run or a check suite.
type check struct {
	ExternalID   string                 `json:"external_id"`
	HeadSHA      string                 `json:"head_sha"`
	App          struct{ ID int64 }     `json:"app"`
	PullRequests []struct{ Number int } `json:"pull_requests"`
}

// workflowRun is a run of GitHub Actions in one attempt.
type workflowRun struct {
	ID         int64  `json:"id"`
	Attempt    int    `json:"run_attempt"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
}

// workflowJob is a job of a run; its id is also that of its check run.
type workflowJob struct {
	ID         int64  `json:"id"`
	Run        int64  `json:"run_id"`
	Attempt    int    `json:"run_attempt"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
}

// mergeGroup is a commit of a merge queue.
type mergeGroup struct {
	HeadSHA string `json:"head_sha"`
	HeadRef string `json:"head_ref"`
}

// finished is the status of a run or a job that does not change any more.
const finished = "completed"

type deployment struct {
	ID        int64     `json:"id"`
	CreatedAt time.Time `json:"created_at"`
}

type button struct {
	Identifier string `json:"identifier"`
}

// changes are the previous values.
type changes struct {
	Base       *struct{} `json:"base"`
	Repository struct {
		Name struct {
			From string `json:"from"`
		} `json:"name"`
	} `json:"repository"`
	Owner struct {
		From struct {
			Organization account `json:"organization"`
			User         account `json:"user"`
		} `json:"from"`
	} `json:"owner"`
}

// formerName returns the earlier name of a repository that was renamed or moved; otherwise its name.
func (p webhook) formerName() string {
	owner, name, _ := strings.Cut(p.Repository.FullName, "/")
	from := p.Changes.Owner.From
	return cmp.Or(from.Organization.Login, from.User.Login, owner) + "/" + cmp.Or(p.Changes.Repository.Name.From, name)
}

// toREST converts the pull request to the REST API's form, so that one piece of code reads both.
func (p pullRequest) toREST() *gh.PullRequest {
	out := &gh.PullRequest{
		Number: &p.Number, State: &p.State, Draft: &p.Draft, Merged: &p.Merged, User: &gh.User{Login: &p.User.Login, ID: &p.User.ID},
		AuthorAssociation: &p.Association, Head: p.Head.toREST(), Base: p.Base.toREST(), UpdatedAt: &gh.Timestamp{Time: p.UpdatedAt},
	}
	if p.MergedAt != nil {
		out.MergedAt = &gh.Timestamp{Time: *p.MergedAt}
	}
	for _, one := range p.Labels {
		out.Labels = append(out.Labels, &gh.Label{Name: &one.Name})
	}
	return out
}

func (b branch) toREST() *gh.PullRequestBranch {
	out := &gh.PullRequestBranch{Ref: &b.Ref, SHA: &b.SHA}
	if r := b.Repository; r != nil {
		out.Repo = &gh.Repository{ID: &r.ID, FullName: &r.FullName, Fork: &r.Fork, Archived: &r.Archived}
	}
	return out
}

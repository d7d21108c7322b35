package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Run is a workflow run of GitHub Actions in its newest attempt.
type Run struct {
	RepoID     int64
	Repo       string // current owner/name
	Name       string // of the workflow
	Attempt    int
	Completed  bool
	Conclusion string // of a completed run
	UpdatedAt  time.Time
	Event      string // what triggered it
	Head       string // SHA of the commit that GitHub shows it at; for a pull request's run that of its branch, not of the merge
	Fork       bool   // that commit is in another repository, or in a deleted one
	URL        string
	Actor      string // who started this attempt
	ActorID    int64
	Bot        bool // the actor's account is a bot's, by its type
}

// Run returns the current state of a workflow run. ErrNotFound: it was deleted, or the repository is not visible to the App. ErrRefused:
// the App may not read the repository's Actions.
func (c *Client) Run(ctx context.Context, installation int64, repo string, id int64) (Run, error) {
	doing := fmt.Sprintf("ask for run %d of %s", id, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return Run{}, fmt.Errorf("%s: %w", doing, err)
	}
	ctx = toDecide(ctx)
	var out Run
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, _, err := client.Actions.GetWorkflowRunByID(ctx, owner, name, id)
		out = runOf(got)
		return err
	})
	if err == nil && (out.RepoID == 0 || out.Attempt == 0) {
		err = errors.New("GitHub answered without its repository or its attempt")
	}
	return out, convertError(doing, err)
}

func runOf(got *gh.WorkflowRun) Run {
	by := got.GetTriggeringActor()
	if by == nil { // a server from before GitHub told
		by = got.GetActor()
	}
	head, in := got.GetHeadRepository(), got.GetRepository()
	return Run{
		RepoID: in.GetID(), Repo: in.GetFullName(), Name: got.GetName(), Attempt: got.GetRunAttempt(), Completed: got.GetStatus() == completed,
		Conclusion: got.GetConclusion(), UpdatedAt: got.GetUpdatedAt().UTC(), Event: got.GetEvent(), Head: got.GetHeadSHA(),
		Fork: head == nil || head.GetID() != in.GetID() || head.GetFullName() != in.GetFullName(), URL: got.GetHTMLURL(), Actor: by.GetLogin(), ActorID: by.GetID(), Bot: IsBot(by.GetType()),
	}
}

// Job is a job of a workflow run.
type Job struct {
	Run        int64
	Attempt    int
	Completed  bool
	Conclusion string // of a completed job
}

// Job returns the current state of a job by the id of its check run. Errors as of Run.
func (c *Client) Job(ctx context.Context, installation int64, repo string, id int64) (Job, error) {
	doing := fmt.Sprintf("ask for job %d of %s", id, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return Job{}, fmt.Errorf("%s: %w", doing, err)
	}
	ctx = toDecide(ctx)
	var out Job
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, _, err := client.Actions.GetWorkflowJobByID(ctx, owner, name, id)
		out = Job{Run: got.GetRunID(), Attempt: int(got.GetRunAttempt()), Completed: got.GetStatus() == completed, Conclusion: got.GetConclusion()}
		return err
	})
	if err == nil && out.Run == 0 {
		err = errors.New("GitHub answered without its run")
	}
	return out, convertError(doing, err)
}

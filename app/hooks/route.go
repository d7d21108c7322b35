package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// handleGitHub passes one GitHub webhook to the service. A payload is only a hint: the service queries what its decisions depend on.
func (w *InboxWorker) handleGitHub(ctx context.Context, d inbox.Delivery) (string, error) {
	if _, known := Events()[d.Event]; !known {
		return "not an event ocpctl listens to", nil
	}
	e, err := decodeStored(d.Event, d.Body)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	switch d.Event {
	case onPullRequest:
		return w.pullRequest(ctx, e)
	case onComment, onReview, onReviewComment:
		return w.handleComment(ctx, d.Event, e)
	case onCheckRun:
		return w.checkRun(ctx, d.ID, e)
	case onCheckSuite:
		return w.checkSuite(ctx, d.ID, e)
	case onDispatch:
		return w.handleDispatch(ctx, d.ID, e)
	case onRun, onJob:
		return w.handleRun(ctx, e)
	case onRule:
		return w.handleEnvironment(ctx, e)
	case onMergeGroup:
		return w.mergeGroup(ctx, e)
	case onRepository:
		return w.handleRepository(ctx, e)
	case onInstallation:
		return w.handleInstallation(ctx, e, e.Repositories)
	}
	return w.handleInstallation(ctx, e, slices.Concat(e.Added, e.Removed))
}

// checkPlace checks where something happened: the installation and owner/name.
func checkPlace(e webhook, repo string) error {
	if e.Installation.ID <= 0 || !fullName.MatchString(repo) {
		return fmt.Errorf("%w: installation.id and repository.full_name (owner/name) are required, but they are %d and %s",
			errUnprocessable, e.Installation.ID, quoteShort(repo))
	}
	return nil
}

// login matches account names as GitHub allows them: https://docs.github.com/enterprise-cloud@latest/admin/managing-iam
var login = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}(\[bot\])?$`)

// actorOf returns the login of who did something; empty if it is not a valid account name, or without the number of the account.
func actorOf(a account) string {
	if !login.MatchString(a.Login) || a.ID <= 0 {
		return ""
	}
	return a.Login
}

// checkActor checks that the requester is known. Events that are no requests count whoever caused them.
func checkActor(a account) error {
	if actorOf(a) == "" {
		return fmt.Errorf("%w: a login and the account's number are required, but they are %s and %d", errUnprocessable, quoteShort(a.Login), a.ID)
	}
	return nil
}

func checkNumber(number int) error {
	if number < 1 || number > math.MaxInt32 {
		return fmt.Errorf("%w: %d is not a pull request number", errUnprocessable, number)
	}
	return nil
}

func (w *InboxWorker) pullRequest(ctx context.Context, e webhook) (string, error) {
	changed, err := pullEvent(e)
	if err != nil {
		return "", err
	}
	return w.pulls.SyncPullRequest(ctx, changed)
}

// pullEvent converts a pull request's event for the service.
func pullEvent(e webhook) (pulls.PullRequestEvent, error) {
	repo, pr := e.Repository.FullName, e.PullRequest
	err := errors.Join(checkPlace(e, repo), checkNumber(pr.Number))
	if year := pr.UpdatedAt.Year(); year < 2008 || year > 2999 {
		err = errors.Join(err, fmt.Errorf("%w: updated_at is required, but its year is %d", errUnprocessable, year))
	}
	return pulls.PullRequestEvent{
		PR:    toPullRequest(e.Installation.ID, repo, github.Of(pr.toREST())),
		Actor: actorOf(e.Sender), ActorID: e.Sender.ID, Bot: e.Sender.isBot(), Action: e.Action, Label: e.Label.Name,
	}, err
}

func (w *InboxWorker) handleComment(ctx context.Context, event string, e webhook) (string, error) {
	repo := e.Repository.FullName
	if event == onComment && e.Issue.PullRequest == nil {
		// Issues and pull requests share their numbers: a number known as a pull request is not an issue.
		_, err := w.records.PullRequest(ctx, repo, e.Issue.Number)
		if errors.Is(err, db.ErrNotFound) {
			return "a comment on an issue, not on a pull request", nil
		}
		if err != nil {
			return "", fmt.Errorf("look for the pull request: %w", err)
		}
	}
	if err := checkComment(event, e); err != nil {
		return "", err
	}
	return w.pulls.Comment(ctx, toCommentEvent(event, e))
}

// checkComment checks the required fields of a comment, or of a review.
func checkComment(event string, e webhook) error {
	err := errors.Join(checkPlace(e, e.Repository.FullName), checkActor(e.commentIn(event).User), checkNumber(e.numberOfComment(event)))
	if e.commentIn(event).ID <= 0 {
		err = errors.Join(err, fmt.Errorf("%w: comment.id or review.id is required", errUnprocessable))
	}
	return err
}

// wrote is where on a pull request somebody wrote, by event.
var wrote = map[string]pulls.Place{onComment: pulls.InConversation, onReview: pulls.InReview, onReviewComment: pulls.InCode}

// toCommentEvent converts a checked comment or review for the service.
func toCommentEvent(event string, e webhook) pulls.CommentEvent {
	written := e.commentIn(event)
	by, action := written.User, e.Action
	if event == onReview && action == actionSubmitted {
		action = actionCreated
	}
	return pulls.CommentEvent{
		Installation: e.Installation.ID, Repo: e.Repository.FullName, Number: e.numberOfComment(event), ID: written.ID, Place: wrote[event], Author: by.Login, AuthorID: by.ID,
		Action: action, Body: written.Body, At: written.CreatedAt.UTC(), Bot: e.isByBot(event),
	}
}

const othersCheck = "the check belongs to another App"

func (w *InboxWorker) checkRun(ctx context.Context, delivery string, e webhook) (string, error) {
	if w.isAnothersCheck(e.CheckRun) {
		return othersCheck, nil
	}
	on, err := parseClick(e)
	if err != nil {
		return "", err
	}
	if chatops.IsGateKey(on.cluster) {
		return w.retryEnded(ctx, delivery, e, on.head)
	}
	return w.pulls.CheckAction(ctx, toCheckEvent(e, on, delivery))
}

// parseClick returns what was clicked; a re-run is a click on the Retry button.
func parseClick(e webhook) (clicked, error) {
	if err := errors.Join(checkPlace(e, e.Repository.FullName), checkActor(e.Sender)); err != nil {
		return clicked{}, err
	}
	button := chatops.ActionRetry
	if e.Action != actionRerun {
		if e.RequestedAction == nil {
			return clicked{}, fmt.Errorf("%w: requested_action is required", errUnprocessable)
		}
		button = e.RequestedAction.Identifier
	}
	return clicked{e.CheckRun.ExternalID, e.CheckRun.HeadSHA, button}, nil
}

// checkSuite retries what failed or ended among the clusters with a check on the commit, each once; for the others there is nothing
// to do.
func (w *InboxWorker) checkSuite(ctx context.Context, delivery string, e webhook) (string, error) {
	if err := errors.Join(checkPlace(e, e.Repository.FullName), checkActor(e.Sender)); err != nil {
		return "", err
	}
	if w.isAnothersCheck(e.CheckSuite) {
		return othersCheck, nil
	}
	return w.retryEnded(ctx, delivery, e, e.CheckSuite.HeadSHA)
}

// retryEnded retries what failed or ended on a commit.
func (w *InboxWorker) retryEnded(ctx context.Context, delivery string, e webhook, head string) (string, error) {
	clusters, err := w.records.EndedOnHead(ctx, e.Repository.FullName, head)
	if err != nil {
		return "", err
	}
	notes := []string{fmt.Sprintf("clusters to retry: %d", len(clusters))}
	for _, cluster := range clusters {
		note, err := w.pulls.CheckAction(ctx, toCheckEvent(e, clicked{cluster, head, chatops.ActionRetry}, delivery+":"+cluster))
		if err != nil {
			return "", err
		}
		notes = append(notes, note)
	}
	return strings.Join(notes, "; "), nil
}

func (w *InboxWorker) isAnothersCheck(c check) bool { return w.app != 0 && c.App.ID != w.app }

// clicked is a click on a button of a check run.
type clicked struct{ cluster, head, button string }

// toCheckEvent converts a click for the service.
func toCheckEvent(e webhook, on clicked, cause string) pulls.CheckEvent {
	return pulls.CheckEvent{
		Installation: e.Installation.ID, Repo: e.Repository.FullName, Cluster: on.cluster, Head: on.head, Identifier: on.button,
		Actor: e.Sender.Login, ActorID: e.Sender.ID, Bot: e.Sender.isBot(), Cause: cause,
	}
}

func (w *InboxWorker) handleDispatch(ctx context.Context, delivery string, e webhook) (string, error) {
	if err := errors.Join(checkPlace(e, e.Repository.FullName), checkActor(e.Sender)); err != nil {
		return "", err
	}
	return w.pulls.Dispatch(ctx, pulls.DispatchEvent{
		Installation: e.Installation.ID, Repo: e.Repository.FullName, Type: e.Action, Payload: e.ClientPayload,
		Actor: e.Sender.Login, ActorID: e.Sender.ID, Bot: e.Sender.isBot(), Cause: delivery,
	})
}

// run passes what happened to a workflow run or one of its jobs.
func (w *InboxWorker) handleRun(ctx context.Context, e webhook) (string, error) {
	if err := checkPlace(e, e.Repository.FullName); err != nil {
		return "", err
	}
	out := runs.Event{
		Installation: e.Installation.ID, RepoID: strconv.FormatInt(e.Repository.ID, 10), Repo: e.Repository.FullName, Run: strconv.FormatInt(e.runID(), 10),
		Attempt: e.WorkflowRun.Attempt, Completed: e.WorkflowRun.Status == finished, Conclusion: e.WorkflowRun.Conclusion,
	}
	if job := e.WorkflowJob; job.ID != 0 {
		out.Job, out.Attempt, out.Completed, out.Conclusion = strconv.FormatInt(job.ID, 10), job.Attempt, job.Status == finished, job.Conclusion
	}
	return w.runs.Changed(ctx, out)
}

func (w *InboxWorker) handleRepository(ctx context.Context, e webhook) (string, error) {
	now, was := e.Repository.FullName, e.formerName()
	if err := errors.Join(checkPlace(e, now), checkPlace(e, was)); err != nil {
		return "", err
	}
	moved := pulls.RepositoryEvent{
		Installation: e.Installation.ID, RepoID: e.Repository.ID, Action: e.Action, From: was, Actor: actorOf(e.Sender), ActorID: e.Sender.ID,
	}
	if was != now {
		moved.To = now
	}
	return w.pulls.RepositoryMoved(ctx, moved)
}

func (w *InboxWorker) handleInstallation(ctx context.Context, e webhook, repos []repository) (string, error) {
	if e.Installation.ID <= 0 {
		return "", fmt.Errorf("%w: installation.id is required", errUnprocessable)
	}
	changed := pulls.InstallationEvent{Installation: e.Installation.ID, Action: e.Action, Actor: actorOf(e.Sender), ActorID: e.Sender.ID}
	for _, repo := range repos {
		if fullName.MatchString(repo.FullName) {
			changed.Repos = append(changed.Repos, repo.FullName)
		}
	}
	return w.pulls.InstallationChanged(ctx, changed)
}

// withoutNUL removes the character that PostgreSQL's texts cannot contain: it is never needed, and a delivery with it would be
// retried for a day. In JSON it can only occur as \u0000, and a backslash is always followed by one more character.
func withoutNUL(body []byte) []byte {
	nul := []byte(`\u0000`)
	if !bytes.Contains(body, nul) {
		return body
	}
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		n := 1
		if body[0] == '\\' {
			n = min(2, len(body))
		}
		if bytes.HasPrefix(body, nul) {
			body = body[len(nul):]
			continue
		}
		out, body = append(out, body[:n]...), body[n:]
	}
	return out
}

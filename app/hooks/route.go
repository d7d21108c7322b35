package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

// event hands one of GitHub's webhooks to the desk. A payload is a hint: what the desk rests on it asks for.
func (w *InboxWorker) event(ctx context.Context, d store.Delivery) (string, error) {
	if _, known := Events()[d.Event]; !known {
		return "not an event ocpctl listens to", nil
	}
	event, err := gh.ParseWebHook(d.Event, withoutNUL(d.Body))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	switch e := event.(type) {
	case *gh.PullRequestEvent:
		return w.pullRequest(ctx, e)
	case *gh.IssueCommentEvent:
		return w.comment(ctx, e)
	case *gh.CheckRunEvent:
		return w.checkRun(ctx, d.ID, e)
	case *gh.CheckSuiteEvent:
		return w.checkSuite(ctx, d.ID, e)
	case *gh.RepositoryDispatchEvent:
		return w.dispatch(ctx, d.ID, e)
	case *gh.RepositoryEvent:
		return w.repository(ctx, d, e)
	case *gh.InstallationEvent:
		return w.installation(ctx, e.GetInstallation(), e.GetAction(), e.GetSender(), e.Repositories)
	case *gh.InstallationRepositoriesEvent:
		return w.installation(ctx, e.GetInstallation(), e.GetAction(), e.GetSender(), append(e.RepositoriesAdded, e.RepositoriesRemoved...))
	}
	return "", fmt.Errorf("%w: a %s of no known shape", errUnprocessable, d.Event)
}

// place checks where something happened: the installation and owner/name.
func place(in *gh.Installation, repo string) error {
	if in.GetID() <= 0 || !fullName.MatchString(repo) {
		return fmt.Errorf("%w: installation.id and repository.full_name (owner/name) are needed, and here they are %d and %s",
			errUnprocessable, in.GetID(), quoted(repo))
	}
	return nil
}

// login is how GitHub lets accounts be called: https://docs.github.com/enterprise-cloud@latest/admin/managing-iam
var login = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}(\[bot\])?$`)

// actor is who did something; empty: nobody that GitHub would let be called so.
func actor(u *gh.User) string {
	if !login.MatchString(u.GetLogin()) {
		return ""
	}
	return u.GetLogin()
}

// somebody checks that who asks for something is known: what happened without asking counts whoever did it.
func somebody(u *gh.User) error {
	if actor(u) == "" {
		return fmt.Errorf("%w: %s is no login", errUnprocessable, quoted(u.GetLogin()))
	}
	return nil
}

func numbered(number int) error {
	if number < 1 || number > math.MaxInt32 {
		return fmt.Errorf("%w: %d is no number of a pull request", errUnprocessable, number)
	}
	return nil
}

func (w *InboxWorker) pullRequest(ctx context.Context, e *gh.PullRequestEvent) (string, error) {
	repo, pr := e.GetRepo().GetFullName(), e.GetPullRequest()
	err := errors.Join(place(e.GetInstallation(), repo), numbered(pr.GetNumber()))
	if year := pr.GetUpdatedAt().Year(); year < 2008 || year > 2999 {
		err = errors.Join(err, fmt.Errorf("%w: updated_at is needed, and it is of the year %d", errUnprocessable, year))
	}
	if err != nil {
		return "", err
	}
	return w.desk.SyncPullRequest(ctx, app.PullRequestEvent{
		PR:    known(e.GetInstallation().GetID(), repo, github.Of(pr)),
		Actor: actor(e.GetSender()), ActorID: e.GetSender().GetID(), Action: e.GetAction(), Label: e.GetLabel().GetName(),
	})
}

func (w *InboxWorker) comment(ctx context.Context, e *gh.IssueCommentEvent) (string, error) {
	repo := e.GetRepo().GetFullName()
	if !e.GetIssue().IsPullRequest() {
		// Issues and pull requests share their numbers: one that was seen as a pull request is no issue.
		_, err := w.records.PullRequest(ctx, repo, e.GetIssue().GetNumber())
		if errors.Is(err, store.ErrNotFound) {
			return "a comment on an issue, not on a pull request", nil
		}
		if err != nil {
			return "", fmt.Errorf("look for the pull request: %w", err)
		}
	}
	if err := sound(e); err != nil {
		return "", err
	}
	return w.desk.Comment(ctx, said(e))
}

// sound checks what a comment's event must have.
func sound(e *gh.IssueCommentEvent) error {
	err := errors.Join(place(e.GetInstallation(), e.GetRepo().GetFullName()), somebody(e.GetComment().GetUser()), numbered(e.GetIssue().GetNumber()))
	if e.GetComment().GetID() <= 0 {
		err = errors.Join(err, fmt.Errorf("%w: comment.id is needed", errUnprocessable))
	}
	return err
}

// said is a sound comment's event as the desk takes it.
func said(e *gh.IssueCommentEvent) app.CommentEvent {
	comment := e.GetComment()
	return app.CommentEvent{
		Installation: e.GetInstallation().GetID(), Repo: e.GetRepo().GetFullName(), Number: e.GetIssue().GetNumber(),
		ID: comment.GetID(), Author: comment.GetUser().GetLogin(), AuthorID: comment.GetUser().GetID(), Action: e.GetAction(),
		Body: comment.GetBody(), At: comment.GetCreatedAt().UTC(), Bot: comment.GetUser().GetType() == bot || e.GetSender().GetType() == bot,
	}
}

const othersCheck = "a check of another App"

func (w *InboxWorker) checkRun(ctx context.Context, delivery string, e *gh.CheckRunEvent) (string, error) {
	if err := errors.Join(place(e.GetInstallation(), e.GetRepo().GetFullName()), somebody(e.GetSender())); err != nil {
		return "", err
	}
	if w.others(e.GetCheckRun().GetApp()) {
		return othersCheck, nil
	}
	button := chatops.ActionRetry
	if e.GetAction() != actionRerun {
		if e.RequestedAction == nil {
			return "", fmt.Errorf("%w: requested_action is needed", errUnprocessable)
		}
		button = e.RequestedAction.Identifier
	}
	return w.click(ctx, e.GetInstallation(), e.GetRepo(), e.GetSender(), clicked{e.GetCheckRun().GetExternalID(), e.GetCheckRun().GetHeadSHA(), button}, delivery)
}

// checkSuite tries again what failed or ended, of all that have a check on the commit: of what goes well there is nothing to
// say, once for each.
func (w *InboxWorker) checkSuite(ctx context.Context, delivery string, e *gh.CheckSuiteEvent) (string, error) {
	repo := e.GetRepo().GetFullName()
	if err := errors.Join(place(e.GetInstallation(), repo), somebody(e.GetSender())); err != nil {
		return "", err
	}
	if w.others(e.GetCheckSuite().GetApp()) {
		return othersCheck, nil
	}
	clusters, err := w.records.EndedOnHead(ctx, repo, e.GetCheckSuite().GetHeadSHA())
	if err != nil {
		return "", err
	}
	notes := []string{fmt.Sprintf("clusters to try again: %d", len(clusters))}
	for _, cluster := range clusters {
		again := clicked{cluster, e.GetCheckSuite().GetHeadSHA(), chatops.ActionRetry}
		note, err := w.click(ctx, e.GetInstallation(), e.GetRepo(), e.GetSender(), again, delivery+":"+cluster)
		if err != nil {
			return "", err
		}
		notes = append(notes, note)
	}
	return strings.Join(notes, "; "), nil
}

func (w *InboxWorker) others(app *gh.App) bool { return w.app != 0 && app.GetID() != w.app }

// clicked is a button of a check run.
type clicked struct{ cluster, head, button string }

func (w *InboxWorker) click(ctx context.Context, in *gh.Installation, repo *gh.Repository, by *gh.User, on clicked, cause string) (string, error) {
	return w.desk.CheckAction(ctx, app.CheckEvent{
		Installation: in.GetID(), Repo: repo.GetFullName(), Cluster: on.cluster, Head: on.head, Identifier: on.button,
		Actor: by.GetLogin(), ActorID: by.GetID(), Cause: cause,
	})
}

func (w *InboxWorker) dispatch(ctx context.Context, delivery string, e *gh.RepositoryDispatchEvent) (string, error) {
	if err := errors.Join(place(e.GetInstallation(), e.GetRepo().GetFullName()), somebody(e.GetSender())); err != nil {
		return "", err
	}
	return w.desk.Dispatch(ctx, app.DispatchEvent{
		Installation: e.GetInstallation().GetID(), Repo: e.GetRepo().GetFullName(), Type: e.GetAction(), Payload: e.ClientPayload,
		Actor: e.GetSender().GetLogin(), ActorID: e.GetSender().GetID(), Cause: delivery,
	})
}

func (w *InboxWorker) repository(ctx context.Context, d store.Delivery, e *gh.RepositoryEvent) (string, error) {
	now, was := e.GetRepo().GetFullName(), formerly(d)
	if err := errors.Join(place(e.GetInstallation(), now), place(e.GetInstallation(), was)); err != nil {
		return "", err
	}
	moved := app.RepositoryEvent{
		Installation: e.GetInstallation().GetID(), RepoID: e.GetRepo().GetID(), Action: e.GetAction(), From: was, Actor: actor(e.GetSender()),
	}
	if was != now {
		moved.To = now
	}
	return w.desk.RepositoryMoved(ctx, moved)
}

func (w *InboxWorker) installation(ctx context.Context, in *gh.Installation, action string, by *gh.User, repos []*gh.Repository) (string, error) {
	if in.GetID() <= 0 {
		return "", fmt.Errorf("%w: installation.id is needed", errUnprocessable)
	}
	e := app.InstallationEvent{Installation: in.GetID(), Action: action, Actor: actor(by)}
	for _, repo := range repos {
		if fullName.MatchString(repo.GetFullName()) {
			e.Repos = append(e.Repos, repo.GetFullName())
		}
	}
	return w.desk.InstallationChanged(ctx, e)
}

// withoutNUL leaves out the character that PostgreSQL's texts cannot hold: none of what is told needs it, and a delivery with it
// would be tried for a day. In JSON it stands as \u0000 alone, and a backslash always has one character after it.
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

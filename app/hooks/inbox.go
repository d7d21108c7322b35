package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

// patience is how long a delivery is tried again before it counts as one that can never be processed. What it told is
// not lost with it: the next event of its pull request, or the next look at it, carries the whole state again.
const patience = 24 * time.Hour

// InboxWorker processes stored deliveries: one event, one use case of the desk. Processing one twice changes nothing.
type InboxWorker struct {
	river.WorkerDefaults[store.InboxArgs]
	store *store.Store
	desk  *app.Desk
	log   *slog.Logger
}

// NewInboxWorker returns the worker of store.InboxArgs.
func NewInboxWorker(s *store.Store, desk *app.Desk, log *slog.Logger) *InboxWorker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &InboxWorker{store: s, desk: desk, log: log}
}

// Work implements river.Worker.
func (w *InboxWorker) Work(ctx context.Context, job *river.Job[store.InboxArgs]) error {
	err := w.inOrder(ctx, job.Args.Row)
	var limited github.RateLimited
	if errors.As(err, &limited) {
		return river.JobSnooze(limited.RetryAfter)
	}
	return err
}

// turn is how long to wait between two looks whether a topic's other worker has come to an end.
const turn = 20 * time.Millisecond

// inOrder works a delivery after everything of its topic that came in before it, and beside nothing of its topic: two
// events of one second are told apart by nothing but their order of arrival.
func (w *InboxWorker) inOrder(ctx context.Context, row int64) error {
	for {
		delivery, done, err := w.store.Delivery(ctx, row)
		if errors.Is(err, store.ErrNotFound) || done {
			return nil
		}
		if err != nil {
			return fmt.Errorf("load delivery %d: %w", row, err)
		}
		if delivery.Topic == "" {
			return w.Process(ctx, row)
		}
		ran, err := w.store.Alone(ctx, "inbox "+delivery.Topic, func(ctx context.Context) error { return w.upTo(ctx, delivery) })
		if ran || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(turn):
		}
	}
}

// upTo works the topic's undone deliveries, oldest first, this one last. A close waits for none that cannot be worked yet:
// what it overtakes is older, so it changes nothing afterwards.
func (w *InboxWorker) upTo(ctx context.Context, last store.Delivery) error {
	rows, err := w.store.Undone(ctx, last.Topic, last.Row)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.Process(ctx, row); err != nil {
			if row != last.Row && closes(last) {
				err = errors.Join(err, w.Process(ctx, last.Row))
			}
			return err
		}
	}
	return nil
}

func closes(d store.Delivery) bool {
	var e struct{ Action string }
	return d.Event == "pull_request" && json.Unmarshal(d.Body, &e) == nil && e.Action == "closed"
}

// errUnprocessable marks a delivery that no retry can help.
var errUnprocessable = errors.New("cannot be processed")

// Process handles one delivery, once. An error means: try again.
func (w *InboxWorker) Process(ctx context.Context, row int64) error {
	delivery, done, err := w.store.Delivery(ctx, row)
	if errors.Is(err, store.ErrNotFound) || done {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load delivery %d: %w", row, err)
	}
	note, err := w.handle(ctx, delivery)
	log := w.log.With("delivery", delivery.ID, "event", delivery.Event)
	if err == nil {
		log.Info("delivery processed", "note", note)
		return w.store.FinishDelivery(ctx, row, note)
	}
	if errors.Is(err, errUnprocessable) || app.KindOf(err) != "" || w.given(ctx, delivery) {
		log.Warn("delivery given up", "err", err)
		return w.store.FailDelivery(ctx, row, err.Error())
	}
	return fmt.Errorf("process delivery %s: %w", delivery.ID, err)
}

// given says that a delivery was tried for long enough.
func (w *InboxWorker) given(ctx context.Context, d store.Delivery) bool {
	now, err := w.store.Now(ctx)
	return err == nil && !d.ReceivedAt.IsZero() && now.Sub(d.ReceivedAt) > patience
}

func (w *InboxWorker) handle(ctx context.Context, d store.Delivery) (note string, err error) {
	defer func() { // as an error it is tried for as long as any other; past this function it would be tried for ever
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if d.Source == SourceSlack {
		return SlackNotConnected, nil
	}
	event, err := gh.ParseWebHook(d.Event, d.Body)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	switch e := event.(type) {
	case *gh.PullRequestEvent:
		return w.pullRequest(ctx, e)
	case *gh.IssueCommentEvent:
		return w.comment(ctx, e)
	}
	return "not an event ocpctl listens to", nil
}

func (w *InboxWorker) pullRequest(ctx context.Context, e *gh.PullRequestEvent) (string, error) {
	repo, pr := e.GetRepo().GetFullName(), e.GetPullRequest()
	if repo == "" || e.GetInstallation().GetID() == 0 || pr.GetNumber() == 0 || pr.GetUpdatedAt().IsZero() {
		return "", fmt.Errorf("%w: repository, installation, pull request number and updated_at are needed", errUnprocessable)
	}
	return w.desk.SyncPullRequest(ctx, app.PullRequestEvent{
		PR:    known(e.GetInstallation().GetID(), repo, github.Of(pr)),
		Actor: e.GetSender().GetLogin(), ActorID: e.GetSender().GetID(), Action: e.GetAction(), Label: e.GetLabel().GetName(),
	})
}

func (w *InboxWorker) comment(ctx context.Context, e *gh.IssueCommentEvent) (string, error) {
	repo, comment := e.GetRepo().GetFullName(), e.GetComment()
	if !e.GetIssue().IsPullRequest() {
		// Issues and pull requests share their numbers: one that was seen as a pull request is no issue.
		_, err := w.store.PullRequest(ctx, repo, e.GetIssue().GetNumber())
		if errors.Is(err, store.ErrNotFound) {
			return "a comment on an issue, not on a pull request", nil
		}
		if err != nil {
			return "", fmt.Errorf("look for the pull request: %w", err)
		}
	}
	if repo == "" || e.GetInstallation().GetID() == 0 || e.GetIssue().GetNumber() == 0 || comment.GetID() == 0 {
		return "", fmt.Errorf("%w: repository, installation, issue number and comment id are needed", errUnprocessable)
	}
	return w.desk.Comment(ctx, app.CommentEvent{
		Installation: e.GetInstallation().GetID(), Repo: repo, Number: e.GetIssue().GetNumber(),
		ID: comment.GetID(), Author: comment.GetUser().GetLogin(), AuthorID: comment.GetUser().GetID(), Action: e.GetAction(),
		Body: strings.ReplaceAll(comment.GetBody(), "\x00", ""), // PostgreSQL stores none, and an answer may quote it
		Bot:  comment.GetUser().GetType() == "Bot" || e.GetSender().GetType() == "Bot",
	})
}

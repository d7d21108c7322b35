package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/github"
	wire "github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// patience is how long after its first failed try a delivery is retried before it counts as unprocessable; how long it waited for that
// try does not count. The information about a pull request is not lost: its next event, or the next polling, contains the whole state
// again.
const patience = 24 * time.Hour

// pullRequests handles GitHub's events: pulls.Service.
type pullRequests interface {
	SyncPullRequest(ctx context.Context, e pulls.PullRequestEvent) (note string, err error)
	PullRequestGone(ctx context.Context, repo string, number int, why string) (note string, err error)
	Comment(ctx context.Context, e pulls.CommentEvent) (note string, err error)
	CommentGivenUp(ctx context.Context, e pulls.CommentEvent) error
	EndEarly(ctx context.Context, e pulls.CommentEvent) error
	CheckAction(ctx context.Context, e pulls.CheckEvent) (note string, err error)
	Dispatch(ctx context.Context, e pulls.DispatchEvent) (note string, err error)
	Environment(ctx context.Context, e pulls.EnvironmentEvent) (note string, err error)
	EnvironmentGivenUp(ctx context.Context, e pulls.EnvironmentEvent, why error) error
	RepositoryMoved(ctx context.Context, e pulls.RepositoryEvent) (note string, err error)
	InstallationChanged(ctx context.Context, e pulls.InstallationEvent) (note string, err error)
}

// slackRequests handles what people do in Slack: slackapp.Service.
type slackRequests interface {
	OpenWindow(ctx context.Context, r inbound.Request) error
	Handle(ctx context.Context, r inbound.Request) (note string, err error)
	GivenUp(ctx context.Context, r inbound.Request) error
}

// runEvents handles what happens to workflow runs: runs.Service.
type runEvents interface {
	Changed(ctx context.Context, e runs.Event) (note string, err error)
}

// records is what the inbox looks up itself: pullrequests.Store.
type records interface {
	PullRequest(ctx context.Context, repo string, number int) (pullrequests.PullRequest, error)
	EndedOnHead(ctx context.Context, repo, head string) (clusters []string, err error)
}

// InboxWorker processes stored deliveries: one event, one use case. Processing one twice changes nothing.
type InboxWorker struct {
	river.WorkerDefaults[queue.InboxArgs]
	store   *store.Store
	records records
	pulls   pullRequests
	runs    runEvents
	inSlack slackRequests
	app     int64
	log     *slog.Logger
}

// NewInboxWorker returns the worker of queue.InboxArgs. appID is the App's id: check events of other Apps are ignored.
func NewInboxWorker(s *store.Store, pulls *pulls.Service, runs *runs.Service, slack *slackapp.Service, appID int64, log *slog.Logger) *InboxWorker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &InboxWorker{store: s, records: s.PullRequests, pulls: pulls, runs: runs, inSlack: slack, app: appID, log: log}
}

// overtakes reports whether a delivery need not wait for earlier ones that cannot be processed yet: a close, the removal of one of
// our labels, and events of a repository as a whole, after which much can no longer be processed. What it overtakes is older, so it
// changes nothing afterwards.
func overtakes(d inbox.Delivery) bool {
	if d.Event == onRepository || d.Event == repositorySeen {
		return true
	}
	if d.Event != onPullRequest {
		return false
	}
	e, err := read(d.Body)
	return err == nil && (e.Action == actionClosed || unlabeled(e))
}

// formerly returns the repository's earlier name, or its current one, for a delivery that concerns a repository as a whole; empty for
// any other.
func formerly(d inbox.Delivery) string {
	switch d.Event {
	case onRepository:
		if e, err := read(d.Body); err == nil {
			return e.formerly()
		}
	case repositorySeen:
		var s sighting
		if err := json.Unmarshal(d.Body, &s); err == nil {
			return s.Repository
		}
	}
	return ""
}

// errUnprocessable marks a delivery that no retry can help.
var errUnprocessable = errors.New("cannot be processed")

// Process handles one delivery, once. An error means: retry. The delivery's note contains it too.
func (w *InboxWorker) Process(ctx context.Context, row int64) error {
	return w.process(ctx, row, false)
}

// process is Process. opened: the window that it leads to in Slack was opened already.
func (w *InboxWorker) process(ctx context.Context, row int64, opened bool) error {
	delivery, done, err := w.store.Inbox.Delivery(ctx, row)
	if errors.Is(err, store.ErrNotFound) || done {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load delivery %d: %w", row, err)
	}
	ctx = forOneDelivery(tracing.With(ctx, tracing.Cause{Correlation: delivery.ID, Traceparent: delivery.Traceparent}))
	ctx, span := tracing.Start(ctx, tracing.Internal, "delivery "+delivery.Event)
	defer span.End()
	if endsOnly(delivery) {
		ctx = github.ToEnd(ctx)
	}
	if !opened {
		w.openWindow(ctx, delivery)
	}
	note, err := w.handle(ctx, delivery)
	log := w.log.With("delivery", delivery.ID, "event", delivery.Event)
	if err == nil {
		log.InfoContext(ctx, "delivery processed", "note", note)
		return w.store.Inbox.FinishDelivery(ctx, row, note)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout) // the try may have used up its time
	defer cancel()
	if final(err) || w.given(ctx, delivery) {
		log.WarnContext(ctx, "delivery given up", "err", err)
		if got := w.replyToGivenUp(ctx, delivery, err); got != nil {
			return fmt.Errorf("tell that delivery %s is given up: %w", delivery.ID, got)
		}
		return w.store.Inbox.FailDelivery(ctx, row, err.Error())
	}
	return errors.Join(fmt.Errorf("process delivery %s: %w", delivery.ID, err), w.store.Inbox.RetryDelivery(ctx, row, err.Error(), retryAfter(err)))
}

// retryAfter returns how long GitHub or Slack wants to be left alone; 0: neither said so.
func retryAfter(err error) time.Duration {
	var byGitHub github.RateLimited
	var bySlack wire.RateLimited
	errors.As(err, &byGitHub)
	errors.As(err, &bySlack)
	return max(byGitHub.RetryAfter, bySlack.RetryAfter)
}

// noteTimeout is the time limit for noting the result of a try.
const noteTimeout = 5 * time.Second

// final reports whether an error is permanent: a body that cannot be read, a refusal by the service, or an installation, repository
// or pull request that GitHub does not show to the App or refuses.
func final(err error) bool {
	if retryAfter(err) > 0 {
		return false
	}
	refused := errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrRefused) || errors.Is(err, app.ErrNoPullRequest)
	return refused || errors.Is(err, errUnprocessable) || app.KindOf(err) != ""
}

// replyToGivenUp informs somebody who waits for an answer: the author of a comment, a job that waits for an environment, and whoever asked
// in Slack. Everything else is noticed again by polling. What cannot be read has nobody who waits.
func (w *InboxWorker) replyToGivenUp(ctx context.Context, d inbox.Delivery, why error) error {
	if d.Source == SourceSlack {
		r, err := readSlack(d)
		if err != nil {
			return nil
		}
		return w.inSlack.GivenUp(ctx, r)
	}
	if d.Source != SourceGitHub || d.Event != onComment && d.Event != onRule {
		return nil
	}
	e, err := decode(d.Event, d.Body)
	switch {
	case err != nil:
		return nil
	case d.Event == onComment && sound(e) == nil:
		return w.pulls.CommentGivenUp(ctx, said(e))
	case d.Event == onRule && place(e, e.Repository.FullName) == nil:
		return w.pulls.EnvironmentGivenUp(ctx, waiting(e), why)
	}
	return nil
}

// given reports that a delivery was retried for long enough.
func (w *InboxWorker) given(ctx context.Context, d inbox.Delivery) bool {
	if d.FailingSince == nil {
		return false
	}
	now, err := w.store.Now(ctx)
	return err == nil && now.Sub(*d.FailingSince) > patience
}

func (w *InboxWorker) handle(ctx context.Context, d inbox.Delivery) (note string, err error) {
	defer func() { // returned as an error it is retried as long as any other; a panic would be retried for ever
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if d.Source == SourceSlack {
		return w.slack(ctx, d)
	}
	if d.Source == SourceSweep {
		return w.sighting(ctx, d)
	}
	return w.event(ctx, d)
}

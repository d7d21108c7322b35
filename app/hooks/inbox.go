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
	"github.com/ocpctl/ocpctl/app/slash"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

// patience is how long a delivery is tried again before it counts as one that can never be processed. What it told is
// not lost with it: the next event of its pull request, or the next look at it, carries the whole state again.
const patience = 24 * time.Hour

// pullRequests are what the inbox hands GitHub's events to: pulls.Service.
type pullRequests interface {
	SyncPullRequest(ctx context.Context, e pulls.PullRequestEvent) (note string, err error)
	PullRequestGone(ctx context.Context, repo string, number int, why, actor string) (note string, err error)
	Comment(ctx context.Context, e pulls.CommentEvent) (note string, err error)
	CommentGivenUp(ctx context.Context, e pulls.CommentEvent) error
	EndEarly(ctx context.Context, e pulls.CommentEvent) error
	CheckAction(ctx context.Context, e pulls.CheckEvent) (note string, err error)
	Dispatch(ctx context.Context, e pulls.DispatchEvent) (note string, err error)
	RepositoryMoved(ctx context.Context, e pulls.RepositoryEvent) (note string, err error)
	InstallationChanged(ctx context.Context, e pulls.InstallationEvent) (note string, err error)
}

// slashCommands are what the inbox hands Slack's commands to: slash.Service.
type slashCommands interface {
	Handle(ctx context.Context, e slash.Command) (note string, err error)
}

// records are what the inbox looks up itself: store.Store.
type records interface {
	PullRequest(ctx context.Context, repo string, number int) (store.PullRequest, error)
	EndedOnHead(ctx context.Context, repo, head string) (clusters []string, err error)
}

// InboxWorker processes stored deliveries: one event, one use case. Processing one twice changes nothing.
type InboxWorker struct {
	river.WorkerDefaults[store.InboxArgs]
	store   *store.Store
	records records
	pulls   pullRequests
	slash   slashCommands
	app     int64
	log     *slog.Logger
}

// NewInboxWorker returns the worker of store.InboxArgs. appID is the App's own number: what happens to checks of another
// means nothing.
func NewInboxWorker(s *store.Store, pulls *pulls.Service, slack *slash.Service, appID int64, log *slog.Logger) *InboxWorker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &InboxWorker{store: s, records: s, pulls: pulls, slash: slack, app: appID, log: log}
}

// overtakes says whether a delivery waits for none that cannot be worked yet: a close, a label of ours that was taken off, and what
// happened to a repository as a whole, after which much cannot be worked any more. What it overtakes is older, so it changes
// nothing afterwards.
func overtakes(d store.Delivery) bool {
	if d.Event == onRepository || d.Event == repositorySeen {
		return true
	}
	if d.Event != onPullRequest {
		return false
	}
	e, err := read(d.Body)
	return err == nil && (e.Action == actionClosed || unlabeled(e))
}

// formerly is what the repository was called of which a delivery is as a whole, or is still; empty: it is of none.
func formerly(d store.Delivery) string {
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

// Process handles one delivery, once. An error means: try again. It stands in the delivery's note, too.
func (w *InboxWorker) Process(ctx context.Context, row int64) error {
	delivery, done, err := w.store.Delivery(ctx, row)
	if errors.Is(err, store.ErrNotFound) || done {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load delivery %d: %w", row, err)
	}
	ctx = forOneDelivery(ctx)
	if endsOnly(delivery) {
		ctx = github.ToEnd(ctx)
	}
	note, err := w.handle(ctx, delivery)
	log := w.log.With("delivery", delivery.ID, "event", delivery.Event)
	if err == nil {
		log.Info("delivery processed", "note", note)
		return w.store.FinishDelivery(ctx, row, note)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout) // the try may have used up its time
	defer cancel()
	if final(err) || w.given(ctx, delivery) {
		log.Warn("delivery given up", "err", err)
		if told := w.tellGivenUp(ctx, delivery); told != nil {
			return fmt.Errorf("tell that delivery %s is given up: %w", delivery.ID, told)
		}
		return w.store.FailDelivery(ctx, row, err.Error())
	}
	var limited github.RateLimited
	errors.As(err, &limited)
	return errors.Join(fmt.Errorf("process delivery %s: %w", delivery.ID, err), w.store.RetryDelivery(ctx, row, err.Error(), limited.RetryAfter))
}

// noteTimeout is how long it may take to note how a try went.
const noteTimeout = 5 * time.Second

// final says whether an error stays, however often it is tried: what cannot be read, what the service refuses, and an
// installation, repository or pull request that GitHub does not show to the App or refuses to it.
func final(err error) bool {
	var limited github.RateLimited
	if errors.As(err, &limited) {
		return false
	}
	refused := errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrRefused) || errors.Is(err, app.ErrNoPullRequest)
	return refused || errors.Is(err, errUnprocessable) || app.KindOf(err) != ""
}

// tellGivenUp says so to whoever waits for an answer: the author of a comment. Everything else is told of again by a look.
func (w *InboxWorker) tellGivenUp(ctx context.Context, d store.Delivery) error {
	if d.Source != SourceGitHub || d.Event != onComment {
		return nil
	}
	e, err := decode(d.Event, d.Body)
	if err != nil || sound(e) != nil {
		return nil // what cannot be read has no author
	}
	return w.pulls.CommentGivenUp(ctx, said(e))
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
		return w.slack(ctx, d)
	}
	if d.Source == SourceSweep {
		return w.sighting(ctx, d)
	}
	return w.event(ctx, d)
}

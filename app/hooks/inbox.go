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
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

const (
	// patience is how long after its first failed try a delivery is retried before it counts as unprocessable; how long it waited for
	// that try does not count. The information about a pull request is not lost: its next event, or the next polling, contains the
	// whole state again.
	patience = 24 * time.Hour
	// refusedPatience is the same for a delivery whose tries end with GitHub's refusal: a 401, 403 or 404 about a repository, a pull
	// request, a person or an installation that GitHub's own event has just named. For minutes GitHub gives such answers to what is right.
	refusedPatience = 15 * time.Minute
)

// pullRequests handles GitHub's events: pulls.Service.
type pullRequests interface {
	SyncPullRequest(ctx context.Context, e pulls.PullRequestEvent) (note string, err error)
	PullRequestGone(ctx context.Context, repo string, number int, why lifecycle.Reason) (note string, err error)
	Comment(ctx context.Context, e pulls.CommentEvent) (note string, err error)
	CommentGivenUp(ctx context.Context, e pulls.CommentEvent, why error) error
	LabelsGivenUp(ctx context.Context, e pulls.PullRequestEvent, why error) error
	CheckActionGivenUp(ctx context.Context, e pulls.CheckEvent, why error) error
	EndEarly(ctx context.Context, e pulls.CommentEvent) error
	CheckAction(ctx context.Context, e pulls.CheckEvent) (note string, err error)
	Dispatch(ctx context.Context, e pulls.DispatchEvent) (note string, err error)
	Environment(ctx context.Context, e pulls.EnvironmentEvent) (note string, err error)
	EnvironmentGivenUp(ctx context.Context, e pulls.EnvironmentEvent, why error) error
	MergeGroup(ctx context.Context, e pulls.MergeGroupEvent) (note string, err error)
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

// mayOvertake reports whether a delivery need not wait for earlier ones that cannot be processed yet: a close, the removal of one of
// our labels, and events of a repository as a whole, after which much can no longer be processed. What it overtakes is older, so it
// changes nothing afterwards.
func mayOvertake(d inbox.Delivery) bool {
	if d.Event == onRepository || d.Event == repositorySeen {
		return true
	}
	if d.Event != onPullRequest {
		return false
	}
	e, err := decodeBody(d.Event, d.Body)
	return err == nil && (e.Action == actionClosed || removesOurLabel(e))
}

// formerly returns the repository's earlier name, or its current one, for a delivery that concerns a repository as a whole; empty for
// any other.
func formerRepository(d inbox.Delivery) string {
	switch d.Event {
	case onRepository:
		if e, err := decodeBody(d.Event, d.Body); err == nil {
			return e.formerName()
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
	return w.processDelivery(ctx, row, false)
}

// processDelivery is Process. opened: the window that it leads to in Slack was opened already.
func (w *InboxWorker) processDelivery(ctx context.Context, row int64, opened bool) error {
	delivery, done, err := w.store.Inbox.Delivery(ctx, row)
	if errors.Is(err, db.ErrNotFound) || done {
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
	note, err := w.handleDelivery(ctx, delivery)
	log := w.log.With("delivery", delivery.ID, "event", delivery.Event)
	if err == nil {
		log.InfoContext(ctx, "delivery processed", "note", note)
		return w.store.Inbox.FinishDelivery(ctx, row, note)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout) // the try may have used up its time
	defer cancel()
	if reason, over := w.isGivenUp(ctx, delivery, err); over {
		log.WarnContext(ctx, "delivery given up", "reason", reason, "err", err)
		if got := w.replyToGivenUp(ctx, delivery, err); got != nil {
			return fmt.Errorf("tell that delivery %s is given up: %w", delivery.ID, got)
		}
		return w.store.Inbox.FailDelivery(ctx, row, reason, err.Error())
	}
	again := w.store.Inbox.RetryDelivery(ctx, row, err.Error(), isRefusal(err), retryAfter(err))
	return errors.Join(fmt.Errorf("process delivery %s: %w", delivery.ID, err), again)
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

// isFinal reports whether an error is permanent: a body that cannot be read, or a refusal by the service other than that it is busy.
func isFinal(err error) bool {
	kind := app.KindOf(err)
	return retryAfter(err) == 0 && (errors.Is(err, errUnprocessable) || kind != "" && kind != app.Busy)
}

// isRefusal reports whether an error is GitHub's refusal of what a delivery needs. A person without permission is an answer, and no error.
func isRefusal(err error) bool {
	return retryAfter(err) == 0 && (app.IsRefused(err) || errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrRefused))
}

// isGivenUp reports whether a delivery that failed is not tried again, and the reason if that is a finding.
func (w *InboxWorker) isGivenUp(ctx context.Context, d inbox.Delivery, err error) (reason inbox.Reason, isGivenUp bool) {
	if isFinal(err) {
		return mismatchReason(err), true
	}
	now, failed := w.store.Now(ctx)
	switch {
	case failed != nil:
		return "", false
	case isRefusal(err):
		return inbox.ReasonRefused, d.RefusedSince != nil && now.Sub(*d.RefusedSince) > refusedPatience
	}
	return inbox.ReasonGivenUp, d.FailingSince != nil && now.Sub(*d.FailingSince) > patience
}

// replyToGivenUp informs somebody who waits for an answer: whoever wrote a comment, set a label or clicked a button, a job that waits for
// an environment, and whoever asked in Slack. Everything else is noticed again by polling. What cannot be read has nobody who waits.
func (w *InboxWorker) replyToGivenUp(ctx context.Context, d inbox.Delivery, why error) (err error) {
	defer func() { // what panicked while it was processed may panic here, too; it is a finding anyway
		if v := recover(); v != nil {
			w.log.ErrorContext(ctx, "nobody was told that a delivery is given up", "delivery", d.ID, "err", fmt.Sprint(v))
			err = nil
		}
	}()
	if d.Source == SourceSlack {
		r, err := readSlack(d)
		if err != nil {
			return nil
		}
		return w.inSlack.GivenUp(ctx, r)
	}
	if d.Source != SourceGitHub {
		return nil
	}
	e, err := decodeStored(d.Event, d.Body)
	if err != nil || checkPlace(e, e.Repository.FullName) != nil {
		return nil
	}
	switch d.Event {
	case onPullRequest:
		if changed, err := pullEvent(e); err == nil {
			return w.pulls.LabelsGivenUp(ctx, changed, why)
		}
	case onComment, onReview, onReviewComment:
		if checkComment(d.Event, e) == nil {
			return w.pulls.CommentGivenUp(ctx, toCommentEvent(d.Event, e), why)
		}
	case onCheckRun:
		if on, err := parseClick(e); err == nil {
			return w.pulls.CheckActionGivenUp(ctx, toCheckEvent(e, on, d.ID), why)
		}
	case onRule:
		return w.pulls.EnvironmentGivenUp(ctx, toEnvironmentEvent(e), why)
	}
	return nil
}

func (w *InboxWorker) handleDelivery(ctx context.Context, d inbox.Delivery) (note string, err error) {
	defer func() { // returned as an error it is retried as long as any other; a panic would be retried for ever
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if d.Source == SourceSlack {
		return w.handleSlack(ctx, d)
	}
	if d.Source == SourcePoll {
		return w.handleSighting(ctx, d)
	}
	return w.handleGitHub(ctx, d)
}

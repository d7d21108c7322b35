package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
)

const (
	readMark  = "github deliveries" // how far the reading got
	firstRead = 24 * time.Hour      // how far back the first reading goes
	keptThere = 72 * time.Hour      // by GitHub

	// overlap is the time before the last reading that is read again, for redeliveries that failed again and for deliveries that were
	// listed late.
	overlap = 30 * time.Minute
	// readTimeout is for one reading, which may take a hundred pages; it is a job of its own kind, so it delays nobody.
	readTimeout = 3 * time.Minute
	askAtOnce   = 200 // redeliveries requested in one run
)

// pauses are the minimum times before each request for a redelivery. None is longer than the overlap, so that another failure is
// noticed.
var pauses = []time.Duration{0, 5 * time.Minute, 20 * time.Minute}

// Missed reads the list of GitHub's deliveries and requests those again that never reached the inbox: GitHub itself tries only once.
type Missed struct {
	river.WorkerDefaults[queue.MissedArgs]
	store         *store.Store
	github        *github.Client
	installations []int64
	every         time.Duration
	log           *slog.Logger
}

// NewMissed returns the worker of queue.MissedArgs. installations are those that this server handles; none: all.
func NewMissed(s *store.Store, client *github.Client, installations []int64, every time.Duration, log *slog.Logger) *Missed {
	return &Missed{store: s, github: client, installations: installations, every: every, log: log}
}

// Periodic returns the periodic job.
func (m *Missed) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(m.every), func() (river.JobArgs, *river.InsertOpts) {
		return queue.MissedArgs{}, nil
	}, &river.PeriodicJobOpts{RunOnStart: true, ID: "missed"})
}

// Timeout implements river.Worker.
func (m *Missed) Timeout(*river.Job[queue.MissedArgs]) time.Duration { return readTimeout }

// Work implements river.Worker.
func (m *Missed) Work(ctx context.Context, _ *river.Job[queue.MissedArgs]) error { return m.Read(ctx) }

// Read reads the deliveries since the last reading, and requests those again that never arrived. It stores its position only if it
// got to the end; otherwise the next reading repeats all of it.
func (m *Missed) Read(ctx context.Context) error {
	now, err := m.store.Now(ctx)
	if err != nil {
		return err
	}
	since, err := m.beginOfReading(ctx, now)
	if err != nil {
		return err
	}
	sent, err := m.github.HookDeliveries(ctx, since)
	if errors.Is(err, github.ErrCut) && len(sent) > 0 {
		// No later reading could get further, so this one counts as complete.
		m.log.ErrorContext(ctx, "GitHub sent more than is read in one go; what failed in between is not asked for again", "from", since, "to", sent[len(sent)-1].At, "err", err)
		err = nil
	}
	if err != nil {
		return err
	}
	lost, err := m.listLost(ctx, sent)
	if err != nil {
		return err
	}
	asked, all, err := m.askAgain(ctx, lost)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		m.log.WarnContext(ctx, "webhooks never came", "count", len(lost), "asked_again", asked, "since", since)
	} else {
		m.log.DebugContext(ctx, "webhooks read", "count", len(sent), "since", since)
	}
	if !all {
		return nil
	}
	return m.store.Inbox.SetMark(ctx, readMark, now)
}

// beginOfReading returns where a reading begins.
func (m *Missed) beginOfReading(ctx context.Context, now time.Time) (time.Time, error) {
	mark, err := m.store.Inbox.Mark(ctx, readMark)
	switch oldest := now.Add(-keptThere); {
	case err != nil:
		return time.Time{}, err
	case mark.IsZero():
		return now.Add(-firstRead), nil
	case mark.Before(oldest):
		m.log.ErrorContext(ctx, "nobody read what GitHub sent for longer than it keeps it; polling sees what is closed, and labels set meanwhile have to be set again",
			"from", mark, "to", oldest)
		return oldest, nil
	default:
		return mark.Add(-overlap), nil
	}
}

// listLost returns, oldest first, the newest tries of deliveries that GitHub got no success response for and that are not in the inbox. A
// delivery with a success response that is not there was ignored on purpose.
func (m *Missed) listLost(ctx context.Context, sent []github.HookDelivery) ([]github.HookDelivery, error) {
	answered := map[string]bool{}
	for _, d := range sent {
		answered[d.GUID] = answered[d.GUID] || d.StatusCode >= http.StatusOK && d.StatusCode < http.StatusMultipleChoices
	}
	newest := map[string]github.HookDelivery{}
	var ids []string
	for _, d := range sent { // newest first
		if _, again := newest[d.GUID]; again || answered[d.GUID] || !m.wouldBeStored(d) {
			continue
		}
		newest[d.GUID] = d
		ids = append(ids, d.GUID)
	}
	slices.Reverse(ids)
	missing, err := m.store.Inbox.MissingDeliveries(ctx, SourceGitHub, ids)
	if err != nil {
		return nil, err
	}
	var lost []github.HookDelivery
	for _, id := range missing {
		lost = append(lost, newest[id])
	}
	return lost, nil
}

// wouldBeStored reports whether the listener would store such a delivery, as far as the list shows.
func (m *Missed) wouldBeStored(d github.HookDelivery) bool {
	if aboutRun(d.Event) { // the runs that matter are asked about anyway, and most are not ours
		return false
	}
	return slices.Contains(Events()[d.Event], d.Action) && (len(m.installations) == 0 || slices.Contains(m.installations, d.Installation))
}

// askAgain requests redeliveries, each only as often and as early as allowed. all: none that is allowed was left for the next run.
func (m *Missed) askAgain(ctx context.Context, lost []github.HookDelivery) (asked int, all bool, err error) {
	for _, d := range lost {
		if asked == askAtOnce {
			return asked, false, nil
		}
		may, err := m.mayRequest(ctx, d.GUID)
		if err != nil {
			return asked, false, err
		}
		if !may {
			continue
		}
		asked++
		switch err := m.github.Redeliver(ctx, d.ID); {
		case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrRefused):
			m.log.ErrorContext(ctx, "a webhook is lost: GitHub does not send it again", "delivery", d.GUID, "event", d.Event, "at", d.At, "err", err)
		case err != nil:
			return asked, false, errors.Join(fmt.Errorf("have %s sent again: %w", d.GUID, err), m.store.Inbox.NotAsked(ctx, d.GUID))
		}
	}
	return asked, true, nil
}

// mayRequest reports whether a delivery may be requested now, and counts the request.
func (m *Missed) mayRequest(ctx context.Context, guid string) (bool, error) {
	for before, pause := range pauses {
		may, err := m.store.Inbox.AskAgain(ctx, guid, before+1, pause)
		if may || err != nil {
			return may, err
		}
	}
	return false, nil
}

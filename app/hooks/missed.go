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
	"github.com/ocpctl/ocpctl/store"
)

const (
	readMark  = "github deliveries" // how far the reading came
	firstRead = 24 * time.Hour      // how far back the first one goes
	keptThere = 72 * time.Hour      // by GitHub

	// overlap is how much of what was read is read again: what failed again after it was asked for, and what was late.
	overlap = 30 * time.Minute
	// readTimeout is of one reading, which may be of a hundred pages; a job of its own kind, which holds nobody up.
	readTimeout = 3 * time.Minute
	askAtOnce   = 200 // redeliveries asked for in one run
)

// pauses are the least time before each try to have a delivery sent again, none longer than the overlap: what fails once more is
// seen to.
var pauses = []time.Duration{0, 5 * time.Minute, 20 * time.Minute}

// Missed reads what GitHub sent and has sent again what never reached the inbox: GitHub itself tries once.
type Missed struct {
	river.WorkerDefaults[store.MissedArgs]
	store         *store.Store
	github        *github.Client
	installations []int64
	every         time.Duration
	log           *slog.Logger
}

// NewMissed returns the worker of store.MissedArgs. installations are those that are listened to; none: all.
func NewMissed(s *store.Store, client *github.Client, installations []int64, every time.Duration, log *slog.Logger) *Missed {
	return &Missed{store: s, github: client, installations: installations, every: every, log: log}
}

// Periodic has it read.
func (m *Missed) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(m.every), func() (river.JobArgs, *river.InsertOpts) {
		return store.MissedArgs{}, nil
	}, &river.PeriodicJobOpts{RunOnStart: true, ID: "missed"})
}

// Timeout implements river.Worker.
func (m *Missed) Timeout(*river.Job[store.MissedArgs]) time.Duration { return readTimeout }

// Work implements river.Worker.
func (m *Missed) Work(ctx context.Context, _ *river.Job[store.MissedArgs]) error { return m.Read(ctx) }

// Read reads since the last reading, and asks again for what never came. It remembers how far it came only when it came to the
// end: else the next one does all of it.
func (m *Missed) Read(ctx context.Context) error {
	now, err := m.store.Now(ctx)
	if err != nil {
		return err
	}
	since, err := m.since(ctx, now)
	if err != nil {
		return err
	}
	sent, err := m.github.HookDeliveries(ctx, since)
	if errors.Is(err, github.ErrCut) && len(sent) > 0 {
		// No reading gets past that end, so one that stops there is whole.
		m.log.Error("GitHub sent more than is read in one go; what failed in between is not asked for again", "from", since, "to", sent[len(sent)-1].At, "err", err)
		err = nil
	}
	if err != nil {
		return err
	}
	lost, err := m.lost(ctx, sent)
	if err != nil {
		return err
	}
	asked, all, err := m.askAgain(ctx, lost)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		m.log.Warn("webhooks never came", "count", len(lost), "asked_again", asked, "since", since)
	} else {
		m.log.Debug("webhooks read", "count", len(sent), "since", since)
	}
	if !all {
		return nil
	}
	return m.store.SetMark(ctx, readMark, now)
}

// since is where a reading begins.
func (m *Missed) since(ctx context.Context, now time.Time) (time.Time, error) {
	mark, err := m.store.Mark(ctx, readMark)
	switch oldest := now.Add(-keptThere); {
	case err != nil:
		return time.Time{}, err
	case mark.IsZero():
		return now.Add(-firstRead), nil
	case mark.Before(oldest):
		m.log.Error("nobody read what GitHub sent for longer than it keeps it; the sweep sees what is closed, and labels set meanwhile have to be set again",
			"from", mark, "to", oldest)
		return oldest, nil
	default:
		return mark.Add(-overlap), nil
	}
}

// lost are the newest tries of what GitHub got no good answer for and the inbox does not have, oldest first. What was answered
// well and is not there was ignored, in words.
func (m *Missed) lost(ctx context.Context, sent []github.HookDelivery) ([]github.HookDelivery, error) {
	answered := map[string]bool{}
	for _, d := range sent {
		answered[d.GUID] = answered[d.GUID] || d.StatusCode >= http.StatusOK && d.StatusCode < http.StatusMultipleChoices
	}
	newest := map[string]github.HookDelivery{}
	var ids []string
	for _, d := range sent { // newest first
		if _, again := newest[d.GUID]; again || answered[d.GUID] || !m.meant(d) {
			continue
		}
		newest[d.GUID] = d
		ids = append(ids, d.GUID)
	}
	slices.Reverse(ids)
	missing, err := m.store.MissingDeliveries(ctx, SourceGitHub, ids)
	if err != nil {
		return nil, err
	}
	var lost []github.HookDelivery
	for _, id := range missing {
		lost = append(lost, newest[id])
	}
	return lost, nil
}

// meant says whether the door would keep such a delivery, as far as the list tells.
func (m *Missed) meant(d github.HookDelivery) bool {
	return slices.Contains(Events()[d.Event], d.Action) && (len(m.installations) == 0 || slices.Contains(m.installations, d.Installation))
}

// askAgain has deliveries sent again, each so often and no sooner than it may be. all: none of those that may be was left for the
// next run.
func (m *Missed) askAgain(ctx context.Context, lost []github.HookDelivery) (asked int, all bool, err error) {
	for _, d := range lost {
		if asked == askAtOnce {
			return asked, false, nil
		}
		may, err := m.may(ctx, d.GUID)
		if err != nil {
			return asked, false, err
		}
		if !may {
			continue
		}
		asked++
		switch err := m.github.Redeliver(ctx, d.ID); {
		case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrRefused):
			m.log.Error("a webhook is lost: GitHub does not send it again", "delivery", d.GUID, "event", d.Event, "at", d.At, "err", err)
		case err != nil:
			return asked, false, fmt.Errorf("have %s sent again: %w", d.GUID, err)
		}
	}
	return asked, true, nil
}

// may says whether a delivery may be asked for now, and counts it as asked for.
func (m *Missed) may(ctx context.Context, guid string) (bool, error) {
	for before, pause := range pauses {
		may, err := m.store.AskAgain(ctx, guid, before+1, pause)
		if may || err != nil {
			return may, err
		}
	}
	return false, nil
}

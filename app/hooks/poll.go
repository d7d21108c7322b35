package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

const (
	lookAtOnce = 1000 // pull requests polled in one run; the rest is polled in the next one
	lookEach   = 100  // in one query
	looks      = 6    // runs per polling period, so that calls to GitHub are spread evenly

	// LeastLook is the shortest period in which every pull request can be polled once.
	LeastLook = looks * time.Second

	// sure is the minimum time between two polls that both find something gone before it counts: GitHub makes errors, and lags.
	sure = time.Minute
	// still is the time without events after which a pull request is processed again, whatever is known: for events that could not be
	// processed, or never arrived.
	still = 10 * time.Minute
)

// Poller polls the pull requests of wanted clusters and makes deliveries of changes that no webhook reported. It decides nothing; a
// failed query means nothing.
type Poller struct {
	river.WorkerDefaults[queue.LookArgs]
	store  *store.Store
	github *github.Client
	every  time.Duration
	log    *slog.Logger
	only   []int64
}

// NewPoller returns the worker of queue.LookArgs, which polls each pull request once in the given period. only are the App's
// installations that this server handles; none: all.
func NewPoller(s *store.Store, client *github.Client, every time.Duration, log *slog.Logger, only ...int64) *Poller {
	return &Poller{store: s, github: client, every: every, log: log, only: only}
}

// isForeign reports that this server does not handle an installation.
func (s *Poller) isForeign(installation int64) bool {
	return len(s.only) > 0 && !slices.Contains(s.only, installation)
}

// Periodic returns the periodic job, which polls a part at a time.
func (s *Poller) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(s.every/looks), func() (river.JobArgs, *river.InsertOpts) {
		return queue.LookArgs{}, nil
	}, &river.PeriodicJobOpts{RunOnStart: true, ID: "look"})
}

// Work implements river.Worker.
func (s *Poller) Work(ctx context.Context, _ *river.Job[queue.LookArgs]) error { return s.Look(ctx) }

// Look polls the pull requests whose last poll is too long ago, and then merge queues.
func (s *Poller) Look(ctx context.Context) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	return s.pollOnce(ctx, now)
}

// queueTime is what merge queues get of a run's time, however long pull requests take.
const queueTime = 8 * time.Second

// pollOnce polls pull requests for a part of the time that is left, so that merge queues get the rest.
func (s *Poller) pollOnce(ctx context.Context, now time.Time) error {
	part, cancel := ctx, context.CancelFunc(func() {})
	if end, ends := ctx.Deadline(); ends {
		part, cancel = context.WithDeadline(ctx, end.Add(-queueTime))
	}
	defer cancel()
	if err := s.pollPulls(part, now); err != nil {
		if ctx.Err() != nil || part.Err() == nil {
			return err
		}
		s.log.WarnContext(ctx, "not all pull requests were polled; the rest comes first at the next poll", "err", err)
	}
	return s.lookAtQueues(ctx, now)
}

func (s *Poller) pollPulls(ctx context.Context, now time.Time) error {
	pulls, err := s.store.PullRequests.PullsToLook(ctx, now.Add(-s.every), lookAtOnce)
	if err != nil {
		return err
	}
	in := map[int64][]pullrequests.PullRequest{}
	for _, pr := range pulls {
		in[pr.Installation] = append(in[pr.Installation], pr)
	}
	for len(in) > 0 { // a part of each by turns, so that a slow one takes little of the others' time
		for _, installation := range slices.Sorted(maps.Keys(in)) {
			some := in[installation][:min(lookEach, len(in[installation]))]
			if err := s.lookAt(ctx, installation, some, now); err != nil {
				return err
			}
			if in[installation] = in[installation][len(some):]; len(in[installation]) == 0 {
				delete(in, installation)
			}
		}
	}
	return nil
}

// lookAt polls some pull requests of an installation. Whatever the result, their turn is over: an installation that does not respond
// delays no other one.
func (s *Poller) lookAt(ctx context.Context, installation int64, pulls []pullrequests.PullRequest, now time.Time) error {
	missed, err := s.listMissed(ctx, pulls)
	if err != nil {
		return err
	}
	ends, err := s.store.PullRequests.PullsEnding(ctx, pulls)
	if err != nil {
		return err
	}
	refs := make([]github.PullRef, len(pulls))
	for i, pr := range pulls {
		refs[i] = github.PullRef{Repo: pr.Repo, Number: pr.Number}
	}
	found, err := s.github.Pulls(ctx, installation, refs)
	switch {
	case errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrRefused):
		if err := s.whyUnreadable(ctx, installation, pulls, missed, now); err != nil {
			return err
		}
	case err != nil:
		if ctx.Err() != nil {
			return errors.Join(err, s.store.PullRequests.Looked(context.WithoutCancel(ctx), pulls...))
		}
		s.log.WarnContext(ctx, "pull requests not looked at", "installation", installation, "count", len(pulls), "err", err)
	}
	elsewhere, err := s.findElsewhere(ctx, installation, pulls, found, missed)
	if err != nil {
		return err
	}
	for i, look := range found {
		if look.Gone && elsewhere[pulls[i].Repo] {
			continue
		}
		if err := s.judgePull(ctx, pulls[i], look, past{missed[absenceMark(pulls[i])], ends[i]}, now); err != nil {
			return err
		}
	}
	return s.store.PullRequests.Looked(ctx, pulls...)
}

// findElsewhere finds repositories that an installation can no longer reach but another can, and makes a delivery of it: they were moved
// to another owner. If GitHub's answer is unclear, a repository counts as moved too: unknown is not gone.
func (s *Poller) findElsewhere(ctx context.Context, installation int64, pulls []pullrequests.PullRequest, found []github.PullLook, missed map[string]time.Time) (map[string]bool, error) {
	out := map[string]bool{}
	for i, look := range found {
		repo, since := pulls[i].Repo, missed[absenceMark(pulls[i])]
		if _, asked := out[repo]; asked || !look.Gone || since.IsZero() {
			continue
		}
		there, err := s.github.InstallationOf(ctx, repo)
		switch {
		case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrSuspended), err == nil && (there == installation || s.isForeign(there)):
			out[repo] = false
		case err != nil:
			out[repo] = true
			s.log.WarnContext(ctx, "it is not known which installation reaches a repository", "repository", repo, "err", err)
		default:
			out[repo] = true
			seen := sighting{Installation: there, Repository: repo, Action: actionAdded, Since: since.UTC().Format(time.RFC3339)}
			if err := s.saveSighting(ctx, seen); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// absenceMark is the mark of a pull request that polling did not find; it records the first such poll in a row.
func absenceMark(pr pullrequests.PullRequest) string {
	return "absent " + pullTopic(pr.Repo, pr.Number)
}

func (s *Poller) listMissed(ctx context.Context, pulls []pullrequests.PullRequest) (map[string]time.Time, error) {
	names := make([]string, len(pulls))
	for i, pr := range pulls {
		names[i] = absenceMark(pr)
	}
	return s.store.Inbox.Marks(ctx, names)
}

// past is what earlier polls found: since when the pull request is missing, and when a cluster of it ends because it counts as
// closed. Zero: not so.
type past struct{ missed, ends time.Time }

// judgePull makes a delivery of a poll of a pull request whose last known state is pr.
func (s *Poller) judgePull(ctx context.Context, pr pullrequests.PullRequest, look github.PullLook, was past, now time.Time) error {
	missed := was.missed
	seen := sighting{Installation: pr.Installation, Repository: pr.Repo, Number: pr.Number}
	lost := pullrequests.Nameless(pr.Repo) // another repository has taken its name: GitHub does not have it for us until its current name is known
	switch {
	case look.Err != nil && !lost:
		s.log.WarnContext(ctx, "a pull request could not be looked at", "pr", pullTopic(pr.Repo, pr.Number), "err", look.Err)
		return nil
	case look.Gone, lost:
		certain, since, err := s.isAbsent(ctx, pr, missed, now)
		if err != nil || !certain {
			return err
		}
		seen.Since = since
		return s.saveSighting(ctx, seen)
	case look.RenamedTo != "":
		return s.saveSighting(ctx, repositoryMoved(pr, look, now))
	}
	is := toPullRequest(pr.Installation, pr.Repo, look.PR)
	slices.Sort(is.Labels)
	seen.State, seen.Archived, seen.Still = &is, look.PR.Archived, now.Sub(is.UpdatedAt) > still
	if !missed.IsZero() {
		seen.Since = missed.UTC().Format(time.RFC3339)
	}
	// A closed state may be known from a query without an event: then nothing was concluded from it yet.
	if !missed.IsZero() || seen.Still || seen.Archived || !is.Open || isNews(pr, is) {
		if err := s.saveState(ctx, seen, was.ends); err != nil {
			return err
		}
	}
	if missed.IsZero() {
		return nil
	}
	return s.store.Inbox.DropMark(ctx, absenceMark(pr)) // only after the sighting was stored
}

// isAbsent reports whether it is certain that a pull request does not exist, and since when.
func (s *Poller) isAbsent(ctx context.Context, pr pullrequests.PullRequest, missed, now time.Time) (certain bool, since string, err error) {
	if missed.IsZero() {
		s.log.InfoContext(ctx, "a pull request is not there; looking again", "pr", pullTopic(pr.Repo, pr.Number))
		return false, "", s.store.Inbox.SetMark(ctx, absenceMark(pr), now)
	}
	return now.Sub(missed) >= sure, missed.UTC().Format(time.RFC3339), nil
}

// repositoryMoved is a repository with a new name or owner. The same rename may happen again later, and only the time distinguishes the two;
// processing one twice changes nothing.
func repositoryMoved(pr pullrequests.PullRequest, look github.PullLook, now time.Time) sighting {
	action := actionRenamed
	before, _, _ := strings.Cut(pr.Repo, "/")
	if after, _, _ := strings.Cut(look.RenamedTo, "/"); !strings.EqualFold(before, after) {
		action = actionMoved
	}
	return sighting{
		Installation: pr.Installation, Repository: pr.Repo, Action: action, To: look.RenamedTo,
		RepositoryID: cmp.Or(look.PR.RepoID, pr.RepoID), Since: now.UTC().Truncate(time.Hour).Format(time.RFC3339),
	}
}

// isNews reports whether a pull request differs from its last known state in anything that matters. An older state is not news: not all
// of GitHub's servers have the newest state at once.
func isNews(was, is pullrequests.PullRequest) bool {
	return !is.UpdatedAt.Before(was.UpdatedAt) && (is.Open != was.Open || is.Merged != was.Merged || is.Draft != was.Draft ||
		is.RepoID != was.RepoID && is.RepoID*was.RepoID != 0 || is.Head != was.Head || is.Base != was.Base || !slices.Equal(ourLabels(is.Labels), ourLabels(was.Labels)))
}

// ourLabels returns our labels, in one spelling and order.
func ourLabels(labels []string) []string {
	var out []string
	for _, label := range labels {
		label = strings.ToLower(label)
		if strings.HasPrefix(label, chatops.LabelPrefix) || strings.HasPrefix(label, chatops.TTLLabelPrefix) {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return out
}

// whyUnreadable finds out why a whole installation does not respond. The App itself asks: only GitHub's answer to the App proves that it was
// removed, suspended or installed anew.
func (s *Poller) whyUnreadable(ctx context.Context, installation int64, pulls []pullrequests.PullRequest, missed map[string]time.Time, now time.Time) error {
	of := map[string][]pullrequests.PullRequest{}
	for _, pr := range pulls {
		of[pr.Repo] = append(of[pr.Repo], pr)
	}
	for _, repo := range slices.Sorted(maps.Keys(of)) {
		seen := sighting{Installation: installation, Repository: repo}
		there, err := s.github.InstallationOf(ctx, repo)
		switch {
		case errors.Is(err, github.ErrNotFound), err == nil && s.isForeign(there):
			seen.Action = actionRemoved
		case errors.Is(err, github.ErrSuspended):
			seen.Action = actionSuspended
		case err == nil && there != installation:
			seen.Installation, seen.Action = there, actionAdded
		default:
			if err != nil {
				s.log.WarnContext(ctx, "an installation does not answer", "installation", installation, "repository", repo, "err", err)
			}
			continue
		}
		certain := true
		for _, pr := range of[repo] { // all get the mark, by which their return is noticed
			sure, since, err := s.isAbsent(ctx, pr, missed[absenceMark(pr)], now)
			if err != nil {
				return err
			}
			certain, seen.Since = certain && sure, max(seen.Since, since)
		}
		if !certain && seen.Action != actionAdded {
			continue
		}
		if err := s.saveSighting(ctx, seen); err != nil {
			return err
		}
	}
	return nil
}

// saveState stores the state that was seen. If it did not change but a cluster still has an end that an open pull request should not
// have, it is processed again for that end: an event that reversed it may have been lost.
func (s *Poller) saveState(ctx context.Context, seen sighting, ends time.Time) error {
	fresh, err := s.keepSighting(ctx, seen)
	if err != nil || fresh || ends.IsZero() || !seen.Still || !seen.State.Open {
		return err
	}
	seen.Ends = ends.UTC().Format(time.RFC3339Nano)
	return s.saveSighting(ctx, seen)
}

// saveSighting stores a sighting as a delivery, which wakes the inbox.
func (s *Poller) saveSighting(ctx context.Context, seen sighting) error {
	_, err := s.keepSighting(ctx, seen)
	return err
}

// keepSighting is save; fresh is false if the same was seen before.
func (s *Poller) keepSighting(ctx context.Context, seen sighting) (fresh bool, err error) {
	d, err := seen.toDelivery()
	if err != nil {
		return false, err
	}
	if fresh, err = s.store.Inbox.SaveDelivery(ctx, d); err != nil {
		return false, fmt.Errorf("keep what was seen: %w", err)
	}
	if fresh {
		s.log.InfoContext(ctx, "seen by polling", "delivery", d.ID, "event", d.Event, "topic", d.Topic)
	}
	return fresh, nil
}

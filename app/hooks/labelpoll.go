package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	labelsEvery = 10 * time.Minute
	labelLag    = 2 * time.Minute // since a label was added; until then, its webhook may be on its way
	labelPages  = 5               // of a hundred repositories, of an installation in one run; the next run goes on from there
	mostUnknown = 100             // pull requests of an installation that one run asks about
)

// LabelPoller looks for labels that were lost: on open pull requests that have one of ours, and no cluster. It makes deliveries of what it
// sees, which are processed like the event that never came, or was given up. It makes at most 30 calls for each installation in a run.
type LabelPoller struct {
	river.WorkerDefaults[queue.LookForLabelsArgs]
	store        *store.Store
	github       *github.Client
	repositories []app.Repository
	log          *slog.Logger
	only         []int64
	next         map[int64]int // the page of an installation's repositories with which the next run begins
	asked        map[int64]int // how many of an installation's pull requests were asked about, so that none is left out for ever
}

// NewLabelPoller returns the worker of queue.LookForLabelsArgs. table are the repositories that this server handles, and only are its
// installations; none: all.
func NewLabelPoller(s *store.Store, client *github.Client, table []app.Repository, log *slog.Logger, only ...int64) *LabelPoller {
	return &LabelPoller{store: s, github: client, repositories: table, log: log, only: only, next: map[int64]int{}, asked: map[int64]int{}}
}

// Periodic returns the periodic job.
func (s *LabelPoller) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(labelsEvery), func() (river.JobArgs, *river.InsertOpts) {
		return queue.LookForLabelsArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "look_for_labels"})
}

// Work implements river.Worker.
func (s *LabelPoller) Work(ctx context.Context, _ *river.Job[queue.LookForLabelsArgs]) error {
	return s.Look(ctx)
}

// Look looks through all installations. One that does not answer delays no other one.
func (s *LabelPoller) Look(ctx context.Context) error {
	installed, err := s.github.Installations(ctx)
	if err != nil {
		return err
	}
	for _, one := range installed {
		if one.Suspended || len(s.only) > 0 && !slices.Contains(s.only, one.ID) {
			continue
		}
		if err := s.lookInInstallation(ctx, one.ID); err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.log.WarnContext(ctx, "labels not looked for", "installation", one.ID, "err", err)
		}
	}
	return nil
}

// lookInInstallation looks through some of an installation's repositories.
func (s *LabelPoller) lookInInstallation(ctx context.Context, installation int64) error {
	page := max(1, s.next[installation])
	s.next[installation] = 0
	var lost []github.PullRef
	for range labelPages {
		repos, next, err := s.github.Repositories(ctx, installation, page)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(slices.DeleteFunc(repos, s.isForeign), github.MaxRepositories) {
			labelled, err := s.github.LabelledPulls(ctx, installation, some, chatops.LabelPrefix)
			if err != nil {
				if labelled == nil {
					return err
				}
				s.log.WarnContext(ctx, "labels of some repositories not looked for", "installation", installation, "err", err)
			}
			if lost, err = s.withoutCluster(ctx, installation, labelled, lost); err != nil {
				return err
			}
		}
		if page = next; page == 0 {
			break
		}
	}
	s.next[installation] = page
	if len(lost) > mostUnknown {
		from := s.asked[installation] % len(lost)
		s.asked[installation] += mostUnknown
		lost = slices.Concat(lost[from:], lost[:from])[:mostUnknown]
	}
	for some := range slices.Chunk(lost, github.MaxLabelled) {
		if err := s.askWhoLabelled(ctx, installation, some); err != nil {
			return err
		}
	}
	return nil
}

// isForeign reports whether the server does not handle a repository.
func (s *LabelPoller) isForeign(repo string) bool {
	return len(s.repositories) > 0 && !slices.ContainsFunc(s.repositories, func(line app.Repository) bool { return line.Holds(repo) })
}

// withoutCluster adds to the pull requests those on which something may be lost: they have no wanted cluster of the label's profile, and no
// delivery about them waits.
func (s *LabelPoller) withoutCluster(ctx context.Context, installation int64, labelled []github.LabelledPull, lost []github.PullRef) ([]github.PullRef, error) {
	for _, one := range labelled {
		if one.Label = strings.ToLower(one.Label); slices.Contains(lost, one.PullRef) || one.Label == chatops.KeepLabel {
			continue
		}
		rows, _, err := s.store.List(ctx, store.Filter{Repo: one.Repo, Number: one.Number, Limit: 500})
		if err != nil {
			return nil, fmt.Errorf("look for the clusters of %s: %w", pullTopic(one.Repo, one.Number), err)
		}
		if slices.ContainsFunc(rows, func(r clusters.Row) bool {
			return r.Desired == lifecycle.Present && chatops.LabelPrefix+r.Profile == one.Label
		}) {
			continue
		}
		waiting, err := s.store.Inbox.Undone(ctx, pullTopic(one.Repo, one.Number), installation)
		if err != nil {
			return nil, err
		}
		if len(waiting) == 0 {
			lost = append(lost, one.PullRef)
		}
	}
	return lost, nil
}

// askWhoLabelled asks who added the labels of pull requests, and makes a delivery of each label that may have been lost.
func (s *LabelPoller) askWhoLabelled(ctx context.Context, installation int64, refs []github.PullRef) error {
	found, err := s.github.Labelings(ctx, installation, refs)
	if err != nil {
		return err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	for _, pr := range found {
		if pr.Err != nil || pr.Gone || !pr.PR.Open || pr.RenamedTo != "" || pr.PR.Archived {
			continue // the next run, or the poll of pull requests, sees more
		}
		is := toPullRequest(installation, pr.Repo, pr.PR)
		slices.Sort(is.Labels)
		for label, by := range newestLabelings(pr.Added, is.Labels) {
			if now.Sub(by.At) < labelLag {
				continue
			}
			seen := sighting{Installation: installation, Repository: pr.Repo, Number: pr.Number, State: &is, Still: true}
			if now.Sub(by.At) < patience { // what was asked for earlier is not meant any more
				seen.Label, seen.By, seen.ByID, seen.Bot, seen.LabeledAt = label, by.By, by.ByID, by.Bot, by.At
			}
			d, err := seen.toDelivery()
			if err != nil {
				return err
			}
			fresh, err := s.store.Inbox.SaveDelivery(ctx, d)
			if err != nil {
				return fmt.Errorf("keep what was seen: %w", err)
			}
			if fresh {
				s.log.InfoContext(ctx, "a label without a cluster was found", "delivery", d.ID, "topic", d.Topic, "label", label, "set_at", by.At)
			}
		}
	}
	return nil
}

// newestLabelings returns who added each of the labels that ask for a cluster last.
func newestLabelings(added []github.Labeling, labels []string) map[string]github.Labeling {
	out := map[string]github.Labeling{}
	for _, one := range added {
		has := slices.ContainsFunc(labels, func(label string) bool { return strings.EqualFold(label, one.Label) })
		if name := strings.ToLower(one.Label); has && strings.HasPrefix(name, chatops.LabelPrefix) && name != chatops.KeepLabel {
			out[one.Label] = one
		}
	}
	return out
}

// labelEvent is the event of a label that polling found, as GitHub sends it when somebody adds a label.
func (s sighting) labelEvent() pulls.PullRequestEvent {
	return pulls.PullRequestEvent{
		PR: *s.State, Actor: s.By, ActorID: s.ByID, Bot: s.Bot, Action: pulls.ActionLabeled, Label: s.Label, LabeledAt: s.LabeledAt, Seen: true,
	}
}

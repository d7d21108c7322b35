package hooks

import (
	"cmp"
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
	labelTime   = 5 * time.Minute // for one run; it is a job of its own kind, so it delays nobody
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
	last         int64             // the installation that was begun last; the next run begins after it
	next         map[int64]int     // the page of an installation's repositories with which the next run begins
	asked        map[labelPage]int // how many pull requests of a page were asked about, so that none is left out for ever
}

// labelPage is a page of an installation's repositories.
type labelPage struct {
	installation int64
	page         int
}

// NewLabelPoller returns the worker of queue.LookForLabelsArgs. table are the repositories that this server handles, and only are its
// installations; none: all.
func NewLabelPoller(s *store.Store, client *github.Client, table []app.Repository, log *slog.Logger, only ...int64) *LabelPoller {
	return &LabelPoller{store: s, github: client, repositories: table, log: log, only: only, next: map[int64]int{}, asked: map[labelPage]int{}}
}

// Periodic returns the periodic job.
func (s *LabelPoller) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(labelsEvery), func() (river.JobArgs, *river.InsertOpts) {
		return queue.LookForLabelsArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "look_for_labels"})
}

// Timeout implements river.Worker.
func (s *LabelPoller) Timeout(*river.Job[queue.LookForLabelsArgs]) time.Duration { return labelTime }

// Work implements river.Worker.
func (s *LabelPoller) Work(ctx context.Context, _ *river.Job[queue.LookForLabelsArgs]) error {
	return s.Look(ctx)
}

// Look looks through all installations. One that does not answer delays no other one: if a run's time is over, the next run begins with the
// installation after that.
func (s *LabelPoller) Look(ctx context.Context) error {
	installed, err := s.github.Installations(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(installed, func(a, b github.Installed) int { return cmp.Compare(a.ID, b.ID) })
	from := max(0, slices.IndexFunc(installed, func(one github.Installed) bool { return one.ID > s.last }))
	for _, one := range slices.Concat(installed[from:], installed[:from]) {
		if one.Suspended || len(s.only) > 0 && !slices.Contains(s.only, one.ID) {
			continue
		}
		s.last = one.ID
		if err := s.lookInInstallation(ctx, one.ID); err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.log.WarnContext(ctx, "labels not looked for", "installation", one.ID, "err", err)
		}
	}
	return nil
}

// lookInInstallation looks through some of an installation's repositories, one page after the other. A page that could not be looked at is
// left out, unless the run's time was over.
func (s *LabelPoller) lookInInstallation(ctx context.Context, installation int64) error {
	most := mostUnknown
	for range labelPages {
		next, asked, err := s.lookAtPage(ctx, labelPage{installation, max(1, s.next[installation])}, most)
		if err != nil && ctx.Err() != nil {
			return err
		}
		s.next[installation] = next
		if most -= asked; err != nil || next == 0 || most == 0 {
			return err
		}
	}
	return nil
}

// lookAtPage looks through a page of an installation's repositories, and asks about at most that many pull requests. next is the page after
// it, 0 if there is none or if it is not known.
func (s *LabelPoller) lookAtPage(ctx context.Context, at labelPage, most int) (next, asked int, err error) {
	repos, next, err := s.github.Repositories(ctx, at.installation, at.page)
	if err != nil {
		return 0, 0, err
	}
	var lost []github.PullRef
	var failed error
	for some := range slices.Chunk(slices.DeleteFunc(repos, s.isForeign), github.MaxRepositories) {
		labelled, err := s.github.LabelledPulls(ctx, at.installation, some, chatops.LabelPrefix)
		if err != nil {
			if ctx.Err() != nil {
				return next, 0, err
			}
			failed = cmp.Or(failed, err) // the others' are looked for
			s.log.WarnContext(ctx, "labels of some repositories not looked for", "installation", at.installation, "err", err)
		}
		if lost, err = s.withoutCluster(ctx, at.installation, labelled, lost); err != nil {
			return next, 0, err
		}
	}
	if len(lost) > most {
		from := s.asked[at] % len(lost)
		s.asked[at] += most
		lost = slices.Concat(lost[from:], lost[:from])[:most]
	}
	for some := range slices.Chunk(lost, github.MaxLabelled) {
		if err := s.askWhoLabelled(ctx, at.installation, some); err != nil {
			return next, 0, err
		}
	}
	return next, len(lost), failed
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

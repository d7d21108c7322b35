package hooks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// commitForm matches a full commit id.
var commitForm = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// endings are the reasons for which GitHub says that a commit leaves a merge queue.
var endings = []string{"merged", "invalidated", "dequeued"}

// endedUnseen is the reason if polling found it.
const endedUnseen = "gone"

// mergeGroup passes on that a commit came into a merge queue, or left it.
func (w *InboxWorker) mergeGroup(ctx context.Context, e webhook) (string, error) {
	err := checkPlace(e, e.Repository.FullName)
	if !commitForm.MatchString(e.MergeGroup.HeadSHA) {
		err = errors.Join(err, fmt.Errorf("%w: merge_group.head_sha is required, but it is %s", errUnprocessable, quoteShort(e.MergeGroup.HeadSHA)))
	}
	if err != nil {
		return "", err
	}
	number, queued := github.QueuedPull(e.MergeGroup.HeadRef)
	if !queued {
		return "not a branch of a merge queue", nil
	}
	of := pulls.MergeGroupEvent{
		Installation: e.Installation.ID, Repo: e.Repository.FullName, Head: e.MergeGroup.HeadSHA, Number: number,
		Actor: actorOf(e.Sender), ActorID: e.Sender.ID,
	}
	if e.Sender.isBot() {
		of.Actor, of.ActorID = "", 0
	}
	if e.Action == actionDestroyed {
		if of.Ended = e.Reason; !slices.Contains(endings, e.Reason) {
			of.Ended = endedUnseen
		}
	}
	return w.pulls.MergeGroup(ctx, of)
}

const (
	queueMark    = "merge queue "     // before a repository's name: when its queues were last looked at
	queuesSince  = 7 * 24 * time.Hour // how long after its last gate a repository's queue is looked at
	queuesAtOnce = 50                 // repositories in one run; the rest is looked at in the next one
)

// lookAtQueues looks at the branches of merge queues, of each repository once in a period, and makes deliveries of commits that came or left
// without an event. Whatever the result, a repository's turn is over: one that does not respond delays no other one.
func (s *Poller) lookAtQueues(ctx context.Context, now time.Time) error {
	repos, err := s.store.Outbox.QueueRepositories(ctx, now.Add(-queuesSince))
	if err != nil {
		return err
	}
	names := make([]string, len(repos))
	for i, in := range repos {
		names[i] = queueMark + in.Repo
	}
	looked, err := s.store.Inbox.Marks(ctx, names)
	if err != nil {
		return err
	}
	repos = slices.DeleteFunc(repos, func(in outbox.QueueRepository) bool { return now.Sub(looked[queueMark+in.Repo]) < s.every })
	slices.SortStableFunc(repos, func(a, b outbox.QueueRepository) int {
		return looked[queueMark+a.Repo].Compare(looked[queueMark+b.Repo])
	})
	for _, in := range repos[:min(len(repos), queuesAtOnce)] {
		if err := s.store.Inbox.SetMark(ctx, queueMark+in.Repo, now); err != nil {
			return err
		}
		queued, err := s.github.QueueBranches(ctx, in.Installation, in.Repo)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.log.WarnContext(ctx, "a merge queue was not looked at", "repo", in.Repo, "err", err)
			continue
		}
		if err := s.compareQueue(ctx, in, queued, now); err != nil {
			return err
		}
	}
	return nil
}

// compareQueue compares a merge queue with what is known of it.
func (s *Poller) compareQueue(ctx context.Context, in outbox.QueueRepository, queued []github.Queued, now time.Time) error {
	known, err := s.store.Outbox.MergeGroupsOf(ctx, in.Repo)
	if err != nil {
		return err
	}
	seen := sighting{Installation: in.Installation, Repository: in.Repo}
	for _, q := range queued {
		if !slices.ContainsFunc(known, func(g outbox.MergeGroup) bool { return g.Head == q.SHA }) {
			seen.Head, seen.Number = q.SHA, q.Pull
			if err := s.saveSighting(ctx, seen); err != nil {
				return err
			}
		}
	}
	for _, g := range known {
		there := slices.ContainsFunc(queued, func(q github.Queued) bool { return q.SHA == g.Head })
		if g.EndedAt == nil && !there && now.Sub(g.AskedAt) >= sure {
			seen.Head, seen.Number, seen.Action = g.Head, g.Number, endedUnseen
			if err := s.saveSighting(ctx, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

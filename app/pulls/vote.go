package pulls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// voteByComment votes on every pending approval of the pull request. An approving vote is for one commit: the one that the
// command names, else the one that approval was requested for before the command was written (see beforehand). The reply is
// saved with the last vote.
func (s *Service) voteByComment(ctx context.Context, c command) (reply, note string, err error) {
	waiting, moved, err := s.listWaiting(ctx, c)
	if err != nil {
		return "", "", err
	}
	approves := c.Verb == chatops.VerbApprove
	if approves {
		if waiting, err = c.ofOneCommit(waiting, len(moved) > 0); err != nil {
			return "", "", err
		}
	}
	if len(waiting) == 0 {
		return "", "", failTo(app.NotFound, fmt.Sprintf("@%s, nothing in this pull request waits for approval. `/ocp status` shows its clusters.", c.event.Author))
	}
	origin := c.originWith(lifecycle.Noted(c.Reason))
	if approves {
		origin = c.originWith(lifecycle.Noted(cmp.Or(c.Line, c.by)))
	}
	var replies []string
	var against error
	answered := false
	for i, a := range waiting {
		last := i == len(waiting)-1
		if last {
			origin = c.onceWith(lifecycle.Noted(origin.Why), func(out clusters.Outcome) string {
				return joinParagraphs(append(slices.Clone(replies), describeVote(c.event.Author, out.Approval, approves)))
			})
		}
		now, err := s.core.Vote(ctx, c.request.Principal, a.ID, approves, origin)
		var said *app.Error
		switch {
		case errors.As(err, &said): // an obstacle to the vote is an answer
			replies, against = append(replies, fmt.Sprintf("@%s, `%s`: %s", c.event.Author, a.ClusterName, chatops.Said(said.Message, c.event.Author))), err
		case err != nil:
			return "", "", err
		default:
			replies, answered = append(replies, describeVote(c.event.Author, now.Approval, approves)), last
		}
	}
	note = string(c.Verb) + ": " + strings.Join(replies, " ")
	reply = joinParagraphs(replies)
	if answered {
		reply = ""
	}
	if against != nil {
		return "", "", declined{reply, note}
	}
	return reply, note, nil
}

// ofOneCommit returns the approvals that an approving command means: all pending ones, of one commit. A full commit id is enough
// to name it. Without one, or with an abbreviation, which a later commit can share, approval for the commit must have been
// requested before the command was written. moved: the pull request turned out to be at another commit than was known.
func (c command) ofOneCommit(waiting []clusters.Approval, moved bool) ([]clusters.Approval, error) {
	head := c.pr.Head
	named := c.Commit != "" && strings.HasPrefix(head, c.Commit)
	switch {
	case len(waiting) == 0:
		return nil, nil
	case c.Commit != "" && !named:
		return nil, failTo(app.Stale, messages.OtherCommit(c.event.Author, c.Command, head))
	case named && len(c.Commit) == len(head):
		return waiting, nil
	case moved:
		return nil, failTo(app.Stale, messages.NewCommit(c.event.Author, c.Command, head))
	}
	if i := slices.IndexFunc(waiting, func(a clusters.Approval) bool { return !c.wasRequestedBefore(a) }); i >= 0 {
		return nil, failTo(app.Stale, messages.NotAwaited(c.event.Author, c.Command, waiting[i].ClusterName, head))
	}
	return waiting, nil
}

// wasRequestedBefore reports whether approval was requested, and the commit was there, before the command was written. Both times are
// GitHub's and have whole seconds, so of two events in one second neither counts as earlier. If GitHub gives no time for the
// request, ours counts, plus the most that the clocks may differ.
func (c command) wasRequestedBefore(a clusters.Approval) bool {
	asked := a.CreatedAt.Add(clocksDiffer)
	if a.AskedAt != nil {
		asked = *a.AskedAt
	}
	return asked.Truncate(time.Second).Before(c.event.At) && c.pr.HeadAt.Before(c.event.At)
}

// clocksDiffer is how far GitHub's clock and ours may differ.
const clocksDiffer = 5 * time.Second

func joinParagraphs(replies []string) string { return strings.Join(replies, "\n\n") }

// listWaiting returns the approvals that a command votes on; moved lists those that were voided for a newer commit.
func (s *Service) listWaiting(ctx context.Context, c command) (all []clusters.Approval, moved []string, err error) {
	rows, err := s.listLive(ctx, c.pr.Repo, c.pr.Number)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		if !row.NeedsApproval || c.Profile != "" && row.Profile != c.Profile {
			continue
		}
		if c.Verb == chatops.VerbApprove {
			said, err := s.rebindApproval(ctx, row, c.pr)
			if err != nil {
				return nil, nil, err
			}
			moved = append(moved, said...)
		}
		page, _, err := s.store.Approvals(ctx, store.ApprovalFilter{Cluster: row.ID, State: clusters.ApprovalPending, Kind: clusters.ApproveCreate})
		if err != nil {
			return nil, nil, fmt.Errorf("look for approvals of %s: %w", row.ID, err)
		}
		all = append(all, page...)
	}
	return all, moved, nil
}

// describeVote returns the reply about a vote's result.
func describeVote(actor string, now clusters.Approval, approves bool) string {
	switch {
	case !approves:
		return fmt.Sprintf("@%s refused `%s`, so it is not created.", actor, now.ClusterName)
	case now.State == clusters.ApprovalPending:
		return fmt.Sprintf("@%s approved `%s`: %d of %d votes.", actor, now.ClusterName, app.CountApprovals(now), now.Needs)
	}
	return fmt.Sprintf("@%s approved `%s` at `%s`. It starts now, or when it reaches the front of the queue.", actor, now.ClusterName, chatops.ShortSHA(now.Head))
}

// rebindApproval voids an approval of another head: a vote is for exactly what it was given for.
func (s *Service) rebindApproval(ctx context.Context, row clusters.Row, pr pullrequests.PullRequest) ([]string, error) {
	if !row.NeedsApproval || pr.Head == "" {
		return nil, nil
	}
	moved, err := s.store.RebindApproval(ctx, row.ID, pr.Head, pr.HeadAt)
	if err != nil {
		return nil, fmt.Errorf("bind the approval of %s anew: %w", row.ID, err)
	}
	if !moved {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s waits for approval of %s", row.Name, pr.Head)}, nil
}

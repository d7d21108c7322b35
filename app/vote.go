package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/store"
)

// voteByComment gives the author's word, for or against, to everything of the pull request that waits for one. It is given to
// the newest commit, which GitHub is asked for: where that moved on unseen, nothing was approved. The answer is saved with the
// last of the votes.
func (d *Desk) voteByComment(ctx context.Context, c command) (reply, note string, err error) {
	waiting, moved, err := d.waiting(ctx, c)
	switch {
	case err != nil:
		return "", "", err
	case len(moved) > 0:
		return "", "", fail(Stale, "@%s, the pull request moved on to %s meanwhile, so nothing was approved. Look at that commit, and approve it then.",
			c.event.Author, quoted(chatops.ShortSHA(c.pr.Head)))
	case len(waiting) == 0:
		return "", "", fail(NotFound, "@%s, nothing of this pull request waits for approval. `/ocp status` shows what it has.", c.event.Author)
	}
	approves := c.Verb == chatops.VerbApprove
	if i := slices.IndexFunc(waiting, c.unseen); approves && i >= 0 {
		return "", "", fail(Stale, "@%s, `%s` waits for the word on %s only since after you wrote that, so nothing was approved. Look at that commit, and approve it then.",
			c.event.Author, waiting[i].ClusterName, quoted(chatops.ShortSHA(waiting[i].Head)))
	}
	deed := c.deed(c.Reason)
	if approves {
		deed = c.deed(c.Line)
	}
	var words []string
	var against error
	answered := false
	for i, a := range waiting {
		last := i == len(waiting)-1
		now, err := d.vote(ctx, c.request.Principal, a.ID, approves, deed, func(by store.Deed) (store.Approval, error) {
			if !last {
				return d.store.Vote(ctx, a.ID, approves, by)
			}
			return d.store.VoteOnce(ctx, a.ID, approves, by, c.cause, func(now store.Approval) store.Reply {
				return c.reply(paragraphs(append(slices.Clone(words), voted(c.event.Author, now, approves))))
			})
		})
		var said *Error
		switch {
		case errors.As(err, &said): // what stands against the vote is an answer
			words, against = append(words, fmt.Sprintf("@%s, `%s`: %s", c.event.Author, a.ClusterName, chatops.Said(said.Message, c.event.Author))), err
		case err != nil:
			return "", "", err
		default:
			words, answered = append(words, voted(c.event.Author, now.Approval, approves)), last
		}
	}
	note = string(c.Verb) + ": " + strings.Join(words, " ")
	reply = paragraphs(words)
	if answered {
		reply = ""
	}
	if against != nil {
		return "", "", declined{reply, note}
	}
	return reply, note, nil
}

// clocksDiffer is how far GitHub's clock and ours may be apart.
const clocksDiffer = 5 * time.Second

// unseen says that whoever wrote the command cannot have meant this: it was asked for afterwards. A comment may come late, after
// a push that its author never saw.
func (c command) unseen(a store.Approval) bool {
	return !c.event.At.IsZero() && a.CreatedAt.Truncate(time.Second).After(c.event.At.Add(clocksDiffer))
}

func paragraphs(words []string) string { return strings.Join(words, "\n\n") }

// waiting is what a command's vote means; moved says what of it is no longer what was asked for.
func (d *Desk) waiting(ctx context.Context, c command) (all []store.Approval, moved []string, err error) {
	rows, err := d.live(ctx, c.pr.Repo, c.pr.Number)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		if !row.NeedsApproval || c.Profile != "" && row.Profile != c.Profile {
			continue
		}
		if c.Verb == chatops.VerbApprove {
			said, err := d.rebind(ctx, row, c.pr.Head)
			if err != nil {
				return nil, nil, err
			}
			moved = append(moved, said...)
		}
		page, _, err := d.store.Approvals(ctx, store.ApprovalFilter{Cluster: row.ID, State: store.ApprovalPending, Kind: store.ApproveCreate})
		if err != nil {
			return nil, nil, fmt.Errorf("look for approvals of %s: %w", row.ID, err)
		}
		all = append(all, page...)
	}
	return all, moved, nil
}

// voted says what a vote came to.
func voted(actor string, now store.Approval, approves bool) string {
	switch {
	case !approves:
		return fmt.Sprintf("@%s refused `%s`; it does not begin.", actor, now.ClusterName)
	case now.State == store.ApprovalPending:
		return fmt.Sprintf("@%s approved `%s`: %d of %d votes.", actor, now.ClusterName, approvers(now), now.Needs)
	}
	return fmt.Sprintf("@%s approved `%s` at `%s`; it begins now, or once it is its turn.", actor, now.ClusterName, chatops.ShortSHA(now.Head))
}

// rebind makes what was approved of another head void: a vote is for exactly what it was given to.
func (d *Desk) rebind(ctx context.Context, row store.Row, head string) ([]string, error) {
	if !row.NeedsApproval || head == "" {
		return nil, nil
	}
	moved, err := d.store.RebindApproval(ctx, row.ID, head)
	if err != nil {
		return nil, fmt.Errorf("bind the approval of %s anew: %w", row.ID, err)
	}
	if !moved {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s waits for approval of %s", row.Name, head)}, nil
}

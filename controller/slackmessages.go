package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// A cluster that was asked for in Slack has one message there, which is updated in place, and below it a thread with what happened.
// Slack takes one message per second in a channel, and every message in a thread marks the channel as unread. So progress alone
// changes the message rarely, and the thread gets what happened in batches; a result is shown at once.

const (
	slackEditPause   = 10 * time.Second // least time between two edits that only show a place in the queue
	slackThreadPause = time.Minute      // least time between two posts in a thread that only show progress
)

// showInSlack updates a subscriber in Slack to its cluster's version. done reports that nothing is left to show there.
func (c *Controller) showInSlack(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (done bool, err error) {
	switch {
	case c.Teller == nil:
		return false, errNoSlack
	case sub.Kind == clusters.KindSlackThread:
		return c.showThread(ctx, sub, row)
	}
	m, hash, err := c.slackMessage(ctx, sub, row)
	if err != nil {
		return false, fmt.Errorf("render %s for %s: %w", row.ID, sub.ID, err)
	}
	if hash == sub.ShownBody {
		return false, c.Store.Outbox.Shown(ctx, sub.ID, sub.ExternalID, row.Cluster.Version, hash)
	}
	rank, err := c.rankMessage(ctx, sub)
	if err != nil {
		return false, err
	}
	if rank == notices.Behind && row.Status == lifecycle.Pending { // of later progress, slackMessage leaves what is worth an edit
		if err := c.delayInSlack(ctx, sub, row, slackEditPause); err != nil {
			return false, err
		}
	}
	ts, err := c.postInSlack(ctx, sub, slack.Place{Channel: sub.Channel}, sub.ExternalID, sub.ID, m, rank)
	if errors.Is(err, slack.ErrGone) {
		c.logDeleted(ctx, sub)
		return true, c.Store.Outbox.MuteSlack(ctx, sub.Cluster)
	}
	if err != nil {
		return false, fmt.Errorf("show %s at %s: %w", row.ID, sub.ID, err)
	}
	err = c.Store.Outbox.Shown(ctx, sub.ID, ts, row.Cluster.Version, hash)
	if err == nil && sub.ExternalID == 0 {
		err = c.Store.Outbox.WakeThread(ctx, sub.Cluster)
	}
	return false, err
}

// rankMessage returns how soon a cluster's message has to be shown: a first one before edits, and before both the edit that somebody
// who pressed a button waits for.
func (c *Controller) rankMessage(ctx context.Context, sub outbox.Subscriber) (notices.Rank, error) {
	if sub.ExternalID == 0 {
		return notices.Usual, nil
	}
	awaited, err := c.Store.Outbox.IsAwaited(ctx, sub)
	if err != nil || !awaited {
		return notices.Behind, err
	}
	return notices.Awaited, nil
}

// slackMessage renders a cluster's message, and a hash of the part whose change is worth an edit.
func (c *Controller) slackMessage(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (m slack.Message, hash string, err error) {
	v := blocks.ClusterView{Card: row.Card, Links: c.Links, Asker: sub.Person}
	if soonBegun(v.Card) {
		v.Card = news(clusters.KindComment, v.Card)
	}
	if v.Detail, err = c.detail(ctx, row); err != nil {
		return m, "", err
	}
	v.Detail.Mention = nil // names on GitHub
	if v.Detail.Log, err = c.Store.Attempts.LogTail(ctx, row.JobID, chat.LogLines); err != nil {
		return m, "", err
	}
	if v.Approval, err = c.pendingApproval(ctx, row); err != nil {
		return m, "", err
	}
	if v.Approved, err = c.listApprovers(ctx, row); err != nil {
		return m, "", err
	}
	newsworthy := v
	newsworthy.Card = news(clusters.KindComment, row.Card)
	newsworthy.Detail.Timeline, newsworthy.Detail.Conditions, newsworthy.Detail.Log = nil, nil, nil
	part := blocks.Cluster(newsworthy)
	raw, err := json.Marshal(part.Blocks)
	return blocks.Cluster(v), hashOf(part.Text, string(raw), fmt.Sprint(c.progressPeriod(row.Card))), err
}

// pendingApproval returns the approval without which a cluster does not start; nil: it waits for none.
func (c *Controller) pendingApproval(ctx context.Context, row clusters.Row) (*chat.Waiting, error) {
	if !row.NeedsApproval {
		return nil, nil
	}
	a, voters, err := c.approval(ctx, row.ID, clusters.ApprovalPending)
	if err != nil || a.ID == "" {
		return nil, err
	}
	return &chat.Waiting{
		ID: a.ID, Cluster: a.ClusterName, Team: a.Team, By: row.Owner, Why: a.Why, Head: a.Head, Votes: len(voters), Needs: a.Needs, Until: a.ExpiresAt,
	}, nil
}

// listApprovers returns the names of those who approved a cluster; none: it needed, or has, no approval.
func (c *Controller) listApprovers(ctx context.Context, row clusters.Row) (names []string, err error) {
	if row.Spec.Approval == "" || row.NeedsApproval {
		return nil, nil
	}
	_, voters, err := c.approval(ctx, row.ID, clusters.ApprovalApproved)
	if err != nil || len(voters) == 0 {
		return nil, err
	}
	name, err := c.names(ctx, voters)
	if err != nil {
		return nil, err
	}
	for _, id := range voters {
		names = append(names, name(id))
	}
	return names, nil
}

// approval returns a cluster's newest approval in a state, with those who approved it; a zero one: there is none.
func (c *Controller) approval(ctx context.Context, cluster string, state clusters.ApprovalState) (a clusters.Approval, voters []string, err error) {
	page, _, err := c.Store.Approvals(ctx, store.ApprovalFilter{State: state, Kind: clusters.ApproveCreate, Cluster: cluster, Limit: 1})
	if err != nil || len(page) == 0 {
		return a, nil, err
	}
	for _, v := range page[0].Votes {
		if v.Approves {
			voters = append(voters, v.Principal)
		}
	}
	return page[0], voters, nil
}

// postInSlack updates the message ts, or posts one if it is 0, in its turn. If an earlier post may have arrived, it is looked for first.
func (c *Controller) postInSlack(ctx context.Context, sub outbox.Subscriber, to slack.Place, ts int64, marker string, m slack.Message, rank notices.Rank) (int64, error) {
	take := c.Store.Notices.TakeTurn
	if ts != 0 {
		take = c.Store.Notices.TakeEdit
	}
	if wait, err := take(ctx, sub.Workspace, sub.Channel, rank); err != nil || wait > 0 {
		return 0, awaitTurn(wait, rank, err)
	}
	since, err := c.Store.Outbox.Posting(ctx, sub)
	if err != nil {
		return 0, err
	}
	if ts == 0 && !since.IsZero() {
		ts, err = c.find(ctx, to, marker, since)
	}
	begun := time.Now()
	switch {
	case err != nil:
	case ts != 0:
		err = c.Teller.Update(ctx, sub.Channel, ts, m)
	default:
		ts, err = c.Teller.Post(ctx, to, m, marker)
	}
	if since.IsZero() && slack.NotTaken(err) {
		err = errors.Join(err, c.Store.Outbox.NotPosted(ctx, sub.ID))
	}
	if (errors.Is(err, slack.ErrChannel) || errors.Is(err, slack.ErrRefused)) && !slack.TokenRefused(err) {
		err = errors.Join(err, c.Store.Notices.ChannelRefused(ctx, sub.Workspace, sub.Channel, slack.CodeOf(err), time.Since(begun)))
	}
	return ts, c.recordAnswer(ctx, sub.Workspace, sub.Channel, err)
}

// find looks for a message whose post was cut off; 0: it is not there. If somebody deleted the thread's first message, a post in the
// thread stands beside it.
func (c *Controller) find(ctx context.Context, in slack.Place, marker string, since time.Time) (ts int64, err error) {
	ts, found, err := c.Teller.Find(ctx, in, marker, since)
	if err == nil && !found && in.Thread != 0 {
		ts, _, err = c.Teller.Find(ctx, slack.Place{Channel: in.Channel}, marker, since)
	}
	return ts, err
}

// delayInSlack returns later if progress was shown a moment ago. All changes until then become one post.
func (c *Controller) delayInSlack(ctx context.Context, sub outbox.Subscriber, row clusters.Row, pause time.Duration) error {
	switch row.Status {
	case lifecycle.Pending, lifecycle.Creating, lifecycle.Destroying:
	default:
		return nil
	}
	if sub.ShownAt == nil || sub.ExternalID == 0 {
		return nil
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	if left := sub.ShownAt.Add(pause).Sub(now); left > 0 {
		return later{wait: left}
	}
	return nil
}

func (c *Controller) logDeleted(ctx context.Context, sub outbox.Subscriber) {
	c.Log.InfoContext(ctx, "not posted again: somebody deleted it", "cluster", sub.Cluster, "effect", "publish", "place", sub.Kind, "channel", sub.Channel)
}

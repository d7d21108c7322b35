package notifier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

const (
	// threadPatience is how long a notice waits for the message in whose thread it stands. Then it stands alone.
	threadPatience = 10 * time.Minute
	// threadPause is how often it looks.
	threadPause = 5 * time.Second
)

// postNotices posts notices in one message. What an earlier try may have left is looked for first.
func (n *Notifier) postNotices(ctx context.Context, seen *sights, list []notices.Notice, now time.Time) error {
	head, ids := list[0], idsOf(list)
	if err := n.tellAlone(ctx, list); err != nil {
		return err
	}
	to, err := n.findPlace(ctx, head, now)
	if err != nil {
		return err
	}
	m, err := n.renderNotices(ctx, seen, list)
	if err != nil {
		return err
	}
	at := spot{head.Workspace, cmp.Or(head.Person, head.Channel)}
	if err := laterIf(n.Store.Notices.TakeTurn(ctx, at.workspace, at.id, notices.Usual)); err != nil {
		return err
	}
	begun := time.Now()
	if head.Person != "" {
		to.Channel, err = n.Slack.OpenDirect(ctx, head.Person)
		if errors.Is(err, slack.ErrNever) {
			n.Log.WarnContext(ctx, "notices given up: this person cannot be reached in Slack", "notices", ids, "workspace", at.workspace, "err", err)
			return n.Store.Notices.GiveUp(ctx, ids, "this person cannot be reached")
		}
		if err != nil {
			return n.recordAnswer(ctx, at, begun, err)
		}
	}
	if since := head.PostingAt; since != nil {
		return n.lookFor(ctx, at, list, to, *since)
	}
	if err := n.Store.Notices.Posting(ctx, ids); err != nil {
		return err
	}
	ts, err := n.Slack.Post(ctx, to, m, head.ID)
	if errors.Is(err, slack.ErrGone) && to.Thread != 0 { // somebody deleted the thread's message
		to.Thread = 0
		ts, err = n.Slack.Post(ctx, to, m, head.ID)
	}
	if err == nil {
		return errors.Join(n.Store.Notices.Posted(ctx, list, to.Channel, ts), n.recordAnswer(ctx, at, begun, nil))
	}
	answer := n.recordAnswer(ctx, at, begun, err)
	if slack.NotTaken(err) {
		return errors.Join(answer, n.Store.Notices.NotPosted(ctx, ids))
	}
	return answer
}

// tellAlone tells those whom notices mention in a direct message, if their channel takes no messages: it was archived, or the bot is not in
// it any more. The notices themselves wait for the channel.
func (n *Notifier) tellAlone(ctx context.Context, list []notices.Notice) error {
	var direct []notices.Notice
	for _, one := range list {
		if one.Channel != "" && one.Mention != "" {
			direct = append(direct, notices.Notice{
				Cause: one.Cause, Kind: one.Kind, Cluster: one.Cluster, Workspace: one.Workspace, Person: one.Mention, Facts: one.Facts,
			})
		}
	}
	if len(direct) == 0 {
		return nil
	}
	closed, err := n.Store.Notices.Closed(ctx, list[0].Workspace, list[0].Channel)
	if err != nil || !closed {
		return err
	}
	return n.Store.Notices.Save(ctx, direct)
}

// spot is what turns are taken for: a channel or a person.
type spot struct{ workspace, id string }

// lookFor looks for a message whose post was cut off. If it is there, the notices stand in it, and are brought up to date next; else
// they are posted next.
func (n *Notifier) lookFor(ctx context.Context, at spot, list []notices.Notice, in slack.Place, since time.Time) error {
	begun := time.Now()
	ts, found, err := n.Slack.Find(ctx, in, list[0].ID, since)
	if err == nil && !found && in.Thread != 0 { // it may stand alone, because the thread's message was deleted
		ts, found, err = n.Slack.Find(ctx, slack.Place{Channel: in.Channel}, list[0].ID, since)
	}
	if err != nil {
		return n.recordAnswer(ctx, at, begun, err)
	}
	if !found {
		return n.Store.Notices.NotPosted(ctx, idsOf(list))
	}
	stale := append([]notices.Notice{}, list...)
	for i := range stale {
		stale[i].Wanted = 0 // which facts it shows is not known
	}
	return n.Store.Notices.Posted(ctx, stale, in.Channel, ts)
}

// updateMessage brings a posted message up to date. One that somebody deleted is not posted again.
func (n *Notifier) updateMessage(ctx context.Context, one notices.Notice) error {
	list, err := n.Store.Notices.Together(ctx, one)
	if err != nil {
		return err
	}
	m, err := n.renderNotices(ctx, newSights(n.Store), list) // what was looked at before may be older than these rows say
	if err != nil {
		return err
	}
	at := spot{one.Workspace, cmp.Or(one.Person, one.Channel)}
	if err := laterIf(n.Store.Notices.TakeEdit(ctx, at.workspace, at.id, rankEdit(list))); err != nil {
		return err
	}
	begun := time.Now()
	err = n.Slack.Update(ctx, one.PostedIn, one.ExternalID, m)
	if errors.Is(err, slack.ErrGone) {
		n.Log.InfoContext(ctx, "notice not updated: it was deleted, or is too old to be changed", "notice", one.ID, "channel", one.PostedIn)
		return n.Store.Notices.GiveUp(ctx, idsOf(list), "its message was deleted, or is too old to be changed")
	}
	if err := n.recordAnswer(ctx, at, begun, err); err != nil {
		return err
	}
	return n.Store.Notices.Posted(ctx, list, one.PostedIn, one.ExternalID)
}

// rankEdit returns how soon an edit has to be shown: what became of a pressed button, at once.
func rankEdit(list []notices.Notice) notices.Rank {
	for _, one := range list {
		if factsOf(one).Done != "" {
			return notices.Awaited
		}
	}
	return notices.Behind
}

// findPlace returns where a notice is posted; of a direct message, not yet the channel.
func (n *Notifier) findPlace(ctx context.Context, one notices.Notice, now time.Time) (slack.Place, error) {
	to := slack.Place{Channel: one.Channel}
	if one.Thread == "" {
		return to, nil
	}
	m, err := n.Store.Notices.MessageOf(ctx, one.Cluster)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return to, nil
	case err != nil:
		return to, err
	case !m.Muted && m.Timestamp == 0 && now.Sub(one.CreatedAt) < threadPatience:
		return to, later{threadPause}
	case !m.Muted:
		to.Thread = m.Timestamp
	}
	return to, nil
}

// laterIf returns later if nothing may be posted for a while.
func laterIf(wait time.Duration, err error) error {
	if err != nil || wait == 0 {
		return err
	}
	return later{min(wait, notices.AskAgain)}
}

// recordAnswer records what Slack said to a request that began then, for everything else that is to be posted there. After an error that goes away, or that a person has to
// solve, it returns later: the next turn comes when it makes sense to try again. Any other error is left to River's retries.
func (n *Notifier) recordAnswer(ctx context.Context, at spot, begun time.Time, err error) error {
	var limited slack.RateLimited
	var kept error
	switch {
	case err == nil:
		return n.Store.Notices.Reached(ctx, at.workspace, at.id)
	case errors.As(err, &limited) && limited.Channel:
		kept = n.Store.Notices.HoldChannel(ctx, at.workspace, at.id, limited.RetryAfter)
	case errors.As(err, &limited):
		kept = n.Store.Notices.HoldWorkspace(ctx, at.workspace, limited.RetryAfter)
	case slack.TokenRefused(err):
		kept = n.Store.Notices.ChannelProblem(ctx, at.workspace, "", slack.CodeOf(err))
	case slack.NotTaken(err): // so the token is accepted
		kept = errors.Join(n.Store.Notices.ChannelProblem(ctx, at.workspace, "", ""),
			n.Store.Notices.ChannelRefused(ctx, at.workspace, at.id, cmp.Or(slack.CodeOf(err), "refused"), time.Since(begun)))
	default:
		return fmt.Errorf("tell %s: %w", at.id, err)
	}
	if kept != nil {
		return errors.Join(err, kept)
	}
	n.Log.WarnContext(ctx, "notice delayed", "workspace", at.workspace, "channel", at.id, "err", err)
	return later{time.Second}
}

func idsOf(list []notices.Notice) (ids []string) {
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	return ids
}

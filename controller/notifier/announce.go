package notifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

// An announcement that is left to another process is looked at again after at least leastLeft and at most mostLeft.
const (
	leastLeft = 10 * time.Second
	mostLeft  = 2 * time.Hour
)

type announceWorker struct {
	river.WorkerDefaults[queue.AnnounceArgs]
	n *Notifier
}

// Work finds out who hears of an announcement and writes their notices. Done twice, it writes nothing the second time.
func (w *announceWorker) Work(ctx context.Context, job *river.Job[queue.AnnounceArgs]) error {
	a, err := w.n.Store.Notices.Announcement(ctx, job.Args.Cause)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := w.n.whoHears(ctx, a)
	var turn later
	if errors.As(err, &turn) {
		return river.JobSnooze(turn.wait)
	}
	if err != nil {
		return fmt.Errorf("find out who hears of %s: %w", a.Cause, err)
	}
	return w.n.Store.Notices.Announced(ctx, a.ID, list)
}

// whoHears reads what hear needs to know. An announcement is left to a process that has Slack and, if it is a weekly report, knows the schedule: while
// servers are replaced, some may have another configuration. Where no process has Slack, nobody hears of it after a day.
func (n *Notifier) whoHears(ctx context.Context, a clusters.Announcement) ([]notices.Notice, error) {
	now, err := n.Store.Now(ctx)
	age := now.Sub(a.CreatedAt)
	if err != nil || age > tooOld {
		return nil, err
	}
	if n.Slack == nil || a.Event == string(blocks.Weekly) && n.Weekly == nil {
		return nil, later{min(max(age, leastLeft), mostLeft)} // twice as old the next time
	}
	workspace, err := n.bots.workspaceOf(ctx, n.Slack, now)
	if err != nil {
		return nil, err
	}
	e, err := n.readEvent(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return noticesFor(e, workspace, n.AdminChannel), nil
}

func (n *Notifier) readEvent(ctx context.Context, a clusters.Announcement, workspace string) (e event, err error) {
	e = event{cause: a.Cause, kind: blocks.Event(a.Event), cluster: a.Cluster}
	var told told
	if err := json.Unmarshal(a.Facts, &told); err != nil {
		return e, fmt.Errorf("read the facts of %s: %w", a.Cause, err)
	}
	e.facts = told.toFacts(e.kind)
	if place, ok := strings.CutPrefix(told.To, "slack:"); ok {
		in, id, _ := strings.Cut(place, "/")
		e.to = person{in, id}
	} else if told.To != "" {
		in, id, err := n.Store.Notices.PersonOf(ctx, workspace, told.To)
		if err != nil {
			return e, err
		}
		e.to = person{in, id}
	}
	if e.kind == blocks.Weekly {
		return e, n.readWeek(ctx, &e, told)
	}
	if e.kind == blocks.SubscriptionEnded {
		e.subscribed = []notices.Subscription{{Workspace: told.Workspace, Channel: told.Channel}}
		return e, nil
	}
	if a.Cluster == "" {
		if told.Finding == lifecycle.Orphan && told.Team != "" { // resources of a team, and of no known cluster
			e.subscribed, err = n.Store.Notices.Subscribed(ctx, string(e.kind), told.Team, "")
		}
		return e, err
	}
	if err := n.readCluster(ctx, &e, workspace); err != nil {
		return e, err
	}
	if told.Finding == lifecycle.Orphan {
		e.to = e.owner // whoever had the cluster may know what it is
	}
	return e, nil
}

// readCluster reads who has to do with the announcement's cluster.
func (n *Notifier) readCluster(ctx context.Context, e *event, workspace string) error {
	row, err := n.Store.Cluster(ctx, e.cluster)
	if err != nil {
		return err
	}
	switch m, err := n.Store.Notices.MessageOf(ctx, e.cluster); {
	case err == nil:
		e.message = &m
	case !errors.Is(err, db.ErrNotFound):
		return err
	}
	holder, err := n.Store.Notices.HolderOf(ctx, e.cluster)
	if err != nil {
		return err
	}
	in, id, err := n.Store.Notices.PersonOf(ctx, workspace, holder)
	if err != nil {
		return err
	}
	e.owner = person{in, id}
	for _, channel := range slices.Sorted(maps.Keys(row.Spec.Notify)) {
		if !slices.Contains(row.Spec.Notify[channel], string(e.kind)) {
			continue
		}
		outside, err := n.isOutside(ctx, channel)
		if err != nil {
			return err
		}
		if outside {
			n.Log.WarnContext(ctx, "the repository's file names a channel that another organization may read, so nothing is posted there", "channel", channel, "repo", row.Repo())
			continue
		}
		e.named = append(e.named, channel)
	}
	e.subscribed, err = n.Store.Notices.Subscribed(ctx, string(e.kind), row.Team, row.Repo())
	return err
}

// isOutside reports whether another organization reads a channel, was invited to it, or Slack does not let us look. Whoever may push to a
// repository names its channels, but only platform admins may choose a channel that others read, as with a subscription.
func (n *Notifier) isOutside(ctx context.Context, channel string) (bool, error) {
	c, err := n.Slack.Channel(ctx, channel)
	switch {
	case errors.Is(err, slack.ErrRefused):
		return true, nil
	case errors.Is(err, slack.ErrChannel), errors.Is(err, slack.ErrNever): // the post will say so
		return false, nil
	}
	return c.External, err
}

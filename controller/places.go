package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// shown is one rendering: a hash of its content, and the function that posts it. The id is that of the object on GitHub, 0 if it does
// not exist yet or never has an id.
type shown struct {
	hash string
	post func(ctx context.Context, at place) (int64, error)
}

// place is where on GitHub something is posted.
type place struct {
	id   int64 // 0: it does not exist yet, or its id is unknown
	sure bool  // the id, or that there is none, is certain; otherwise GitHub is asked what an earlier try left
}

// render renders what a subscriber shows of the cluster.
func (c *Controller) render(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (shown, error) {
	switch sub.Kind {
	case clusters.KindComment:
		return c.comment(ctx, sub, row)
	case clusters.KindCheck:
		return c.check(ctx, sub, row)
	case clusters.KindDeployment:
		return c.deployment(sub, row), nil
	case clusters.KindLabel:
		return c.label(ctx, sub, row)
	}
	return shown{}, fmt.Errorf("unknown kind of subscriber %q", sub.Kind)
}

// comment renders the cluster's one comment on its pull request. Timeline, conditions and the end of the log are updated with other
// changes; they alone cause no edit. The check shows the progress.
func (c *Controller) comment(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (shown, error) {
	card := news(sub.Kind, row.Card) // the rest would be outdated until the next edit
	causes, err := c.detailCausingEdit(ctx, row)
	if err != nil {
		return shown{}, err
	}
	hash := hashOf(fmt.Sprintf("%s%t", chat.Comment(card, causes, c.Links), isArrivalKnown(row.Card)))
	return shown{hash: hash, post: func(ctx context.Context, at place) (int64, error) {
		detail, err := c.detail(ctx, row)
		if err != nil {
			return 0, err
		}
		if detail.Log, err = c.Store.Attempts.LogTail(ctx, row.JobID, chat.LogLines); err != nil {
			return 0, err
		}
		shownCard := card
		shownCard.Progress.ETA, shownCard.Progress.Late = row.Progress.ETA, row.Progress.Late // as of this edit: that it moves is no reason for another one
		body := chat.Comment(shownCard, detail, c.Links)
		return c.GitHub.UpsertComment(ctx, github.CommentTarget{
			Installation: sub.Installation, Repo: sub.Repo, Number: sub.Number,
			ExternalID: at.id, Sure: at.sure, Marker: "cluster:" + row.ID,
		}, body)
	}}, nil
}

// isArrivalKnown reports whether it is known when a cluster that is being created may be ready.
func isArrivalKnown(card lifecycle.Card) bool {
	return card.Status == lifecycle.Creating && (!card.Progress.ETA.IsZero() || !card.Progress.Late.IsZero())
}

// detailCausingEdit returns the part of detail whose change is worth an edit of a comment.
func (c *Controller) detailCausingEdit(ctx context.Context, row clusters.Row) (d chat.Detail, err error) {
	if d.Mention = row.Spec.Mention; len(d.Mention) > 0 {
		logins, err := c.Store.People.LoginsOf(ctx, row.RequestedBy)
		if err != nil {
			return d, err
		}
		d.Requester = logins[row.RequestedBy]
	}
	d.Tests, err = c.Store.TestReports.Of(ctx, row.ID)
	return d, err
}

// detail returns what the pages show about a cluster as far as everybody may read it: its moves, without the people who made them.
func (c *Controller) detail(ctx context.Context, row clusters.Row) (chat.Detail, error) {
	d, err := c.detailCausingEdit(ctx, row)
	if err != nil {
		return d, err
	}
	d.Approval, d.Advice = row.Spec.Approval, row.Spec.Advice
	if d.Approvers, err = c.Store.People.CurrentLogins(ctx, row.Spec.Approvers); err != nil {
		return d, err
	}
	events, err := c.Store.Timeline(ctx, row.ID)
	if err != nil {
		return d, err
	}
	for _, e := range events {
		m, moved := stepOf(row, e)
		if last := len(d.Timeline) - 1; !moved || last >= 0 && d.Timeline[last].What == m.What && d.Timeline[last].Why == m.Why {
			continue // an attempt begins with what the move before it announced, and a runner's report may come before the decision
		}
		d.Timeline = append(d.Timeline, m)
	}
	conditions, err := c.Store.Attempts.Conditions(ctx, row.ID)
	for _, q := range conditions {
		message := chat.BriefCondition(row.Card, q.Type, q.Message)
		d.Conditions = append(d.Conditions, chat.Condition{Type: q.Type, Status: q.Status, Reason: q.Reason, Message: message, At: q.At})
	}
	return d, err
}

// stepOf returns the step that an event of a cluster's timeline tells; moved is false if it tells none.
func stepOf(row clusters.Row, e store.Event) (m chat.Moment, moved bool) {
	_, phase, moved := strings.Cut(e.To, "/")
	why := e.Why
	if e.Brief != "" && chat.TellsFailure(row.Card) {
		why = e.Brief
	}
	return chat.Moment{At: e.At, What: strings.ReplaceAll(phase, "_", " "), Why: why}, moved
}

// check renders the cluster's check run on one commit. Whatever it shows is asked for in the commit's gate, too. On a commit that is no longer the pull request's head it says so, and then
// stays as it is.
func (c *Controller) check(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (shown, error) {
	run := chat.Check(showBegun(row.Card), c.Links)
	if sub.Left {
		head, err := c.head(ctx, row.ID)
		if err != nil {
			return shown{}, err
		}
		run = chat.LeftCheck(row.Card, head)
	}
	if row.PR == nil { // it is the cluster of a merge queue's commit, which nobody acts on from there
		run.Actions = nil
	}
	said, name := run, chat.CheckName(row.Profile, sub.Number)
	if !sub.Left {
		said = chat.Check(news(sub.Kind, row.Card), c.Links)
		locked, err := c.Store.Outbox.CommentLocked(ctx, row.ID)
		if err != nil {
			return shown{}, err
		}
		if locked {
			run.Summary, said.Summary = chat.WithLockedNotice(run.Summary), chat.WithLockedNotice(said.Summary)
		}
	}
	return shown{
		hash: hashOf(fmt.Sprintf("%s %+v %d", name, said, c.progressPeriod(row.Card))),
		post: func(ctx context.Context, at place) (int64, error) {
			id, err := c.GitHub.UpsertCheckRun(ctx, github.CheckTarget{
				Installation: sub.Installation, Repo: sub.Repo, Head: sub.Head,
				Name: name, ExternalKey: row.ID, ExternalID: at.id, Sure: at.sure,
			}, run)
			if err != nil {
				return id, err
			}
			return id, c.Store.Outbox.AskGate(ctx, outbox.Gate{Installation: sub.Installation, Repo: sub.Repo, Head: sub.Head, Profile: row.Profile}, fmt.Sprintf("%s:%d", sub.ID, row.Version))
		},
	}, nil
}

// head returns the commit on which a cluster is shown now.
func (c *Controller) head(ctx context.Context, cluster string) (string, error) {
	subs, err := c.Store.Outbox.Subscribers(ctx, cluster)
	for _, sub := range subs {
		if sub.Kind == clusters.KindCheck && !sub.Left {
			return sub.Head, nil
		}
	}
	if err == nil {
		err = errors.New("no check is on the pull request's head")
	}
	return "", err
}

// deployment renders the cluster as a deployment of the commit it was requested for. There is none before that commit is approved: a
// deployment would say that a stranger's commit is being deployed.
func (c *Controller) deployment(sub outbox.Subscriber, row clusters.Row) shown {
	if row.NeedsApproval && sub.ExternalID == 0 {
		return shown{hash: sub.ShownBody}
	}
	d := chat.DeploymentOf(news(sub.Kind, row.Card), c.Links)
	return shown{
		hash: hashOf(fmt.Sprintf("%+v", d)),
		post: func(ctx context.Context, at place) (int64, error) {
			return c.GitHub.UpsertDeployment(ctx, github.DeploymentTarget{
				Installation: sub.Installation, Repo: sub.Repo, Head: sub.Head, ExternalKey: row.ID, Cluster: row.ID, ExternalID: at.id, Sure: at.sure,
			}, d)
		},
	}
}

// labelOff is what a removed label shows. An existing label shows nothing, because somebody else set it.
const labelOff = "off"

// label removes the label that requested the cluster, once, when it is no longer true. If a newer cluster exists for it, the label
// belongs to that one.
func (c *Controller) label(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (shown, error) {
	as := shown{hash: sub.ShownBody}
	if gone, _ := chat.LabelGone(row.Card); !gone {
		return as, nil
	}
	newest, err := c.Store.ClusterForPR(ctx, sub.Repo, sub.Number, row.Profile)
	if err != nil || newest.ID != row.ID {
		return as, err
	}
	return shown{hash: labelOff, post: func(ctx context.Context, _ place) (int64, error) {
		return 0, c.GitHub.RemoveLabel(ctx, sub.Installation, sub.Repo, sub.Number, chat.LabelPrefix+row.Profile)
	}}, nil
}

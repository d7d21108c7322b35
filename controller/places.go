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
)

// shown is one rendering: what it says, as a hash, and the way to have it said. The id is that of the place on GitHub, 0 where
// it has none yet, or never has.
type shown struct {
	hash string
	post func(ctx context.Context, at place) (int64, error)
}

// place is where words are posted on GitHub.
type place struct {
	id   int64 // 0: there is none yet, or it is not known
	sure bool  // the id, or that there is none, is certain; else GitHub is asked what an earlier try left there
}

// render writes what a place is to show of the cluster.
func (c *Controller) render(ctx context.Context, sub store.Subscriber, row store.Row) (shown, error) {
	switch sub.Kind {
	case store.KindComment:
		return c.comment(ctx, sub, row)
	case store.KindCheck:
		return c.check(ctx, sub, row)
	case store.KindDeployment:
		return c.deployment(sub, row), nil
	case store.KindLabel:
		return c.label(ctx, sub, row)
	}
	return shown{}, fmt.Errorf("no words for the place %q", sub.Kind)
}

// comment renders the cluster's one comment on its pull request. Timeline, conditions and the log's end come along with whatever
// else there is to say: none of them is a reason to edit a comment. How far it is stands in the check.
func (c *Controller) comment(ctx context.Context, sub store.Subscriber, row store.Row) (shown, error) {
	detail, err := c.detail(ctx, row)
	if err != nil {
		return shown{}, err
	}
	hash := hashOf(chat.Comment(news(sub.Kind, row.Card), chat.Detail{Mention: detail.Mention}, c.Links))
	row.Progress = lifecycle.Progress{} // it would stand there for minutes
	if detail.Log, err = c.Store.LogTail(ctx, row.JobID, chat.LogLines); err != nil {
		return shown{}, err
	}
	body := chat.Comment(row.Card, detail, c.Links)
	return shown{hash: hash, post: func(ctx context.Context, at place) (int64, error) {
		return c.GitHub.UpsertComment(ctx, github.CommentTarget{
			Installation: sub.Installation, Repo: sub.Repo, Number: sub.Number,
			ExternalID: at.id, Sure: at.sure, Marker: "cluster:" + row.ID,
		}, body)
	}}, nil
}

// detail is what the pages show of a cluster, as far as it is anybody's to read: its moves, and nobody who made them.
func (c *Controller) detail(ctx context.Context, row store.Row) (chat.Detail, error) {
	d := chat.Detail{Mention: row.Spec.Mention, Approval: row.Spec.Approval, Approvers: row.Spec.Approvers, Advice: row.Spec.Advice}
	events, err := c.Store.Timeline(ctx, row.ID)
	if err != nil {
		return d, err
	}
	for _, e := range events {
		_, phase, moved := strings.Cut(e.To, "/")
		m := chat.Moment{At: e.At, What: strings.ReplaceAll(phase, "_", " "), Why: chat.Brief(row.Card, e.Why)}
		if last := len(d.Timeline) - 1; !moved || e.From == e.To && last >= 0 && d.Timeline[last].Why == m.Why {
			continue // an attempt begins at what the move before it announced
		}
		d.Timeline = append(d.Timeline, m)
	}
	conditions, err := c.Store.Conditions(ctx, row.ID)
	for _, q := range conditions {
		d.Conditions = append(d.Conditions, chat.Condition{Type: q.Type, Status: q.Status, Reason: q.Reason, Message: chat.Brief(row.Card, q.Message), At: q.At})
	}
	return d, err
}

// check renders the cluster's check run on one commit. One that the pull request moved on from says so, and no more after that.
func (c *Controller) check(ctx context.Context, sub store.Subscriber, row store.Row) (shown, error) {
	run := chat.Check(row.Card, c.Links)
	if sub.Left {
		head, err := c.head(ctx, row.ID)
		if err != nil {
			return shown{}, err
		}
		run = chat.LeftCheck(row.Card, head)
	}
	said := run
	if !sub.Left {
		said = chat.Check(news(sub.Kind, row.Card), c.Links)
	}
	return shown{
		hash: hashOf(fmt.Sprintf("%+v %d", said, c.progressPeriod(row.Card))),
		post: func(ctx context.Context, at place) (int64, error) {
			return c.GitHub.UpsertCheckRun(ctx, github.CheckTarget{
				Installation: sub.Installation, Repo: sub.Repo, Head: sub.Head,
				Name: "ocpctl/" + row.Profile, ExternalKey: row.ID, ExternalID: at.id, Sure: at.sure,
			}, run)
		},
	}, nil
}

// head is the commit on which a cluster is shown now.
func (c *Controller) head(ctx context.Context, cluster string) (string, error) {
	subs, err := c.Store.Subscribers(ctx, cluster)
	for _, sub := range subs {
		if sub.Kind == store.KindCheck && !sub.Left {
			return sub.Head, nil
		}
	}
	if err == nil {
		err = errors.New("no check is on the pull request's head")
	}
	return "", err
}

// deployment renders the cluster as a deployment of the commit it was asked for. Before somebody approved that commit there is
// none: a deployment would say that a stranger's commit is on its way into an environment.
func (c *Controller) deployment(sub store.Subscriber, row store.Row) shown {
	if row.NeedsApproval && sub.ExternalID == 0 {
		return shown{hash: sub.ShownBody}
	}
	d := chat.DeploymentOf(row.Card, c.Links)
	return shown{
		hash: hashOf(fmt.Sprintf("%+v", chat.DeploymentOf(news(sub.Kind, row.Card), c.Links))),
		post: func(ctx context.Context, at place) (int64, error) {
			return c.GitHub.UpsertDeployment(ctx, github.DeploymentTarget{
				Installation: sub.Installation, Repo: sub.Repo, Head: sub.Head, ExternalKey: row.ID, ExternalID: at.id, Sure: at.sure,
			}, d)
		},
	}
}

// labelOff is what a label shows that was taken off. Before, it shows nothing: whoever set it did.
const labelOff = "off"

// label takes the label off that asked for the cluster, once, when it would no longer tell the truth. Where a newer cluster
// was made for it since, it is that one's.
func (c *Controller) label(ctx context.Context, sub store.Subscriber, row store.Row) (shown, error) {
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

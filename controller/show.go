package controller

import (
	"context"
	"time"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

// comment renders the cluster's one comment on its pull request.
func (c *Controller) comment(sub store.Subscriber, row store.Row, now time.Time) shown {
	body := chat.Comment(row.Card, c.Links, now)
	return shown{hash: hashOf(body), post: orAnew(func(ctx context.Context, external int64) (int64, error) {
		return c.Poster.UpsertComment(ctx, github.CommentTarget{
			Installation: sub.Installation, Repo: sub.Repo, Number: sub.Number,
			ExternalID: external, Marker: "cluster:" + row.ID,
		}, body)
	})}
}

// check renders the cluster's check run on the commit it was asked for.
func (c *Controller) check(sub store.Subscriber, row store.Row, now time.Time) shown {
	run := chat.Check(row.Card, c.Links, now)
	return shown{
		hash: hashOf(run.Title, run.Summary, run.Status, run.Conclusion),
		post: orAnew(func(ctx context.Context, external int64) (int64, error) {
			return c.Poster.UpsertCheckRun(ctx, github.CheckTarget{
				Installation: sub.Installation, Repo: sub.Repo, Head: sub.Head,
				Name: "ocpctl/" + row.Profile, ExternalKey: row.ID, ExternalID: external,
			}, run)
		}),
	}
}

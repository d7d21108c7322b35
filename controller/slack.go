package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store"
)

// SlackSender sends messages to a person in Slack.
type SlackSender interface {
	Send(ctx context.Context, to slack.Target, m slack.Message) (int64, error)
}

// errNoSlack needs a person to fix the configuration.
var errNoSlack = fmt.Errorf("%w: this process has no bot token; set slack.bot_token_ref", slack.ErrRefused)

// inSlack posts an answer to the person in Slack who asked. Slack cannot find a message by a marker: after a crash between posting
// and storing, the same person gets the text twice; what it reports was done once. A text that can never be delivered is given up and
// logged.
func (c *Controller) inSlack(ctx context.Context, r store.Reply) error {
	if c.Teller == nil {
		return errNoSlack
	}
	id, err := c.Teller.Send(ctx, slack.Target{Channel: r.Channel, User: r.Person}, slack.Message{Text: slack.Text(r.Body)})
	if errors.Is(err, slack.ErrNever) {
		c.Log.ErrorContext(ctx, "answer given up: this person cannot be reached in Slack", "effect", "reply", "reply", r.ID, "workspace", r.Workspace, "err", err)
		return c.Store.Outbox.GiveUpReply(ctx, r.ID)
	}
	if err != nil {
		return err
	}
	return c.Store.Outbox.Replied(ctx, r.ID, id)
}

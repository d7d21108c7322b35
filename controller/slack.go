package controller

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
)

// SlackSender is the client of Slack, slack.Client.
type SlackSender interface {
	// Send sends a message to one person.
	Send(ctx context.Context, to slack.Target, m slack.Message) (int64, error)
	// Post posts a message that Find finds by its marker.
	Post(ctx context.Context, to slack.Place, m slack.Message, marker string) (ts int64, err error)
	// Update replaces a message.
	Update(ctx context.Context, channel string, ts int64, m slack.Message) error
	// Find looks for a message by its marker.
	Find(ctx context.Context, in slack.Place, marker string, since time.Time) (ts int64, found bool, err error)
}

// errNoSlack needs a person to fix the configuration.
var errNoSlack = fmt.Errorf("%w: this process has no bot token; set slack.bot_token_ref", slack.ErrRefused)

// inSlack posts an answer to the person in Slack who asked. Nobody can find an ephemeral message again: after a crash between posting
// and storing, the same person gets the text twice; what it reports was done once. A text that can never be delivered is given up and
// logged.
func (c *Controller) inSlack(ctx context.Context, r clusters.Reply) error {
	if c.Teller == nil {
		return errNoSlack
	}
	m := slack.Message{Text: slack.Text(r.Body)}
	if r.Blocks != nil {
		var err error
		if m, err = slack.DecodeMessage(r.Body, r.Blocks); err != nil {
			return err
		}
	}
	// A person has turns of their own: an answer does not wait for the messages that others see in the channel.
	if wait, err := c.Store.Notices.TakeTurn(ctx, r.Workspace, r.Person, notices.Usual); err != nil || wait > 0 {
		return awaitTurn(wait, notices.Usual, err)
	}
	to := slack.Target{Channel: r.Channel, User: r.Person}
	if r.Thread != "" {
		var err error
		if to.Thread, err = strconv.ParseInt(r.Thread, 10, 64); err != nil {
			return fmt.Errorf("read the thread of an answer: %w", err)
		}
	}
	id, err := c.Teller.Send(ctx, to, m)
	if err == nil { // recorded before anything else: a text whose post is not known is sent again
		err = c.Store.Outbox.Replied(ctx, r.ID, id)
		return errors.Join(err, c.recordAnswer(ctx, r.Workspace, r.Person, nil))
	}
	err = c.recordAnswer(ctx, r.Workspace, r.Person, err)
	if errors.Is(err, slack.ErrNever) {
		c.Log.ErrorContext(ctx, "answer given up: this person cannot be reached in Slack", "effect", "reply", "reply", r.ID, "workspace", r.Workspace, "err", err)
		return c.Store.Outbox.GiveUpReply(ctx, r.ID)
	}
	return err
}

// awaitTurn says that nothing may be posted before a wait, unless it could not be asked for.
func awaitTurn(wait time.Duration, rank notices.Rank, err error) error {
	if err != nil {
		return err
	}
	return later{wait: min(wait, notices.AskAgain), shared: rank != notices.Awaited, kept: rank == notices.Awaited}
}

// recordAnswer records what Slack answered to a message in a channel, for everything else that is to be posted there, and returns its error.
func (c *Controller) recordAnswer(ctx context.Context, workspace, channel string, err error) error {
	var limited slack.RateLimited
	var recordErr error
	switch {
	case err == nil:
		recordErr = c.Store.Notices.Reached(ctx, workspace, channel)
	case errors.As(err, &limited) && limited.Channel:
		recordErr = c.Store.Notices.HoldChannel(ctx, workspace, channel, limited.RetryAfter)
	case errors.As(err, &limited):
		recordErr = c.Store.Notices.HoldWorkspace(ctx, workspace, limited.RetryAfter)
	case slack.TokenRefused(err):
		recordErr = c.Store.Notices.ChannelProblem(ctx, workspace, "", slack.CodeOf(err))
	case errors.Is(err, slack.ErrChannel), errors.Is(err, slack.ErrGone), errors.Is(err, slack.ErrNever): // the token is accepted
		recordErr = c.Store.Notices.ChannelProblem(ctx, workspace, "", "")
	}
	return errors.Join(err, recordErr)
}

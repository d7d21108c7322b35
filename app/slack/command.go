package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// The most that one answer in Slack lists.
const (
	slackCards   = 10
	slackWaiting = 10
)

// command does what somebody typed and answers the person, once per command.
func (s *Service) command(ctx context.Context, e inbound.Request) (note string, err error) {
	c := command{event: e, cause: "slack:" + e.Workspace + ":" + e.ID}
	done, err := s.store.Outbox.Answered(ctx, c.cause)
	if err != nil || done {
		return "already answered", err
	}
	asked, reply := chatops.ParseSlack(e.Text)
	note = "not understood"
	if asked != nil {
		c.SlackCommand = *asked
		reply, err = s.bySlack(ctx, c)
		note = string(c.Verb)
		var said *app.Error
		if errors.As(err, &said) {
			reply, note = chatops.Said(said.Message, ""), note+": "+said.Message
		} else if err != nil {
			return "", fmt.Errorf("%s: %w", c.Verb, err)
		}
	}
	if reply == "" { // it was saved with the change
		return note, nil
	}
	if err := s.store.Outbox.SaveReply(ctx, c.reply(reply)); err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	return note, nil
}

// command is a slash command on its way through the service.
type command struct {
	event inbound.Request
	who   policy.Principal
	cause string
	chatops.SlackCommand
}

// reply returns the answer to the person, which is posted once.
func (c command) reply(body string) store.Reply {
	return store.Reply{Cause: c.cause, Workspace: c.event.Workspace, Channel: c.event.Channel, Person: c.event.User, Body: body}
}

// bySlack runs the command's use case. It returns the answer; empty: it was saved with the change.
func (s *Service) bySlack(ctx context.Context, c command) (reply string, err error) {
	switch c.Verb {
	case chatops.VerbHelp:
		return chatops.SlackHelp(), nil
	case chatops.VerbLink:
		return s.linkBySlack(ctx, c)
	}
	if c.who, err = s.who(ctx, c.event); err != nil {
		return "", err
	}
	if len(c.who.Seats) == 0 {
		return "", app.Fail(app.Denied, messages.NoRoleOnSlack)
	}
	switch c.Verb {
	case chatops.VerbApprovals:
		return s.approvalsBySlack(ctx, c)
	case chatops.VerbApprove, chatops.VerbRefuse:
		return "", s.voteBySlack(ctx, c)
	case chatops.VerbStatus:
		return s.statusBySlack(ctx, c)
	}
	return "", app.Fail(app.Invalid, messages.NotOnSlack(c.Verb))
}

// linkBySlack answers only the person, with a link that links their account to whoever signs in there.
func (s *Service) linkBySlack(ctx context.Context, c command) (string, error) {
	account := string(profiles.SourceSlack) + ":" + subject(c.event)
	link, err := s.credentials.AccountLink(ctx, account, c.event.User, store.Origin{Actor: account, Source: string(policy.SourceSlack), Why: "/ocp link"})
	if err != nil {
		return "", err
	}
	return messages.LinkSlackAccount(subject(c.event), link.URL.Reveal(), link.ExpiresAt), nil
}

func (s *Service) approvalsBySlack(ctx context.Context, c command) (string, error) {
	page, next, err := s.core.Approvals(ctx, c.who, store.ApprovalFilter{State: store.ApprovalPending, Limit: slackWaiting})
	if err != nil {
		return "", err
	}
	list := make([]chatops.Waiting, 0, len(page))
	for _, a := range page {
		list = append(list, s.waiting(a))
	}
	return chatops.SlackWaiting(list, next != "", chatops.Links{UI: s.ui}), nil
}

// waiting returns an approval in the form that messages need.
func (s *Service) waiting(a app.Approval) chatops.Waiting {
	return chatops.Waiting{
		ID: a.ID, Cluster: a.ClusterName, Team: a.Team, By: s.core.NameOf(a.RequestedBy), Password: a.Kind == store.ApproveKubeadmin, Why: a.Why, Head: a.Head,
		Votes: app.CountApprovals(a.Approval), Needs: a.Needs, Until: a.ExpiresAt, WhyNot: a.WhyNot,
	}
}

// voteBySlack adds the person's vote. The answer is saved with it, so that a command that is processed again does not get the
// answer that it came too late.
func (s *Service) voteBySlack(ctx context.Context, c command) error {
	id, err := s.meant(ctx, c.who, c.Ref)
	if err != nil {
		return err
	}
	approves := c.Verb == chatops.VerbApprove
	_, err = s.core.Vote(ctx, c.who, id, approves, app.Origin{Source: policy.SourceSlack, Why: c.Why, Reply: &store.ReplyOnce{Cause: c.cause, Build: func(out store.Outcome) store.Reply {
		return c.reply(chatops.SlackVoted(s.waiting(app.Approval{Approval: out.Approval}), approves, out.Approval.State != store.ApprovalPending))
	}}})
	return err
}

const approvalID = "apr_"

// meant returns the id of the approval that somebody means: by its id, or by its cluster's id or name. A cluster has at most one
// pending: a password can only be requested for a cluster that has started.
func (s *Service) meant(ctx context.Context, p policy.Principal, ref string) (id string, err error) {
	if strings.HasPrefix(ref, approvalID) {
		return ref, nil
	}
	page, _, err := s.core.Approvals(ctx, p, store.ApprovalFilter{State: store.ApprovalPending, Cluster: ref})
	if err != nil {
		return "", err
	}
	if len(page) == 0 {
		return "", app.Fail(app.NotFound, messages.NoApprovalOf(ref))
	}
	return page[0].ID, nil
}

// statusBySlack shows the named cluster, or the newest live ones that the person may see.
func (s *Service) statusBySlack(ctx context.Context, c command) (string, error) {
	var rows []store.Row
	var next string
	var err error
	if c.Ref != "" {
		var row store.Row
		row, err = s.core.Cluster(ctx, c.who, c.Ref)
		rows = []store.Row{row}
	} else {
		rows, next, err = s.core.List(ctx, c.who, store.Filter{Live: true, Limit: slackCards})
	}
	if err != nil {
		return "", err
	}
	cards := make([]lifecycle.Card, 0, len(rows))
	for _, row := range rows {
		cards = append(cards, row.Card)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return "", fmt.Errorf("read the clock: %w", err)
	}
	return chatops.SlackStatus(cards, next != "", chatops.Links{UI: s.ui}, now), nil
}

package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	api "github.com/slack-go/slack"
)

// Person returns what Slack knows of a person. ErrNever: there is none of that id, or the bot may not see them.
func (c *Client) Person(ctx context.Context, id string) (Person, error) {
	home, err := c.whoAmI(ctx)
	if err != nil {
		return Person{}, err
	}
	got, err := c.api.GetUserInfoContext(ctx, id, api.GetUserInfoOptionIncludeLocale(false))
	if err != nil {
		return Person{}, explainError("ask Slack who "+id+" is", err, ofPerson)
	}
	p := Person{
		ID: got.ID, Workspace: got.TeamID, Org: got.Enterprise.EnterpriseID, Email: strings.ToLower(got.Profile.Email), Confirmed: got.IsEmailConfirmed,
		Name: cmp.Or(got.Profile.DisplayName, got.Profile.RealName, got.RealName, got.Name),
		Bot:  got.IsBot || got.IsWorkflowBot || got.IsConnectorBot || got.ID == "USLACKBOT", Deactivated: got.Deleted, Guest: got.IsRestricted || got.IsUltraRestricted,
	}
	// Slack calls people in a shared channel no strangers: what counts is whose members they are.
	elsewhere := p.Workspace != "" && p.Workspace != home.Workspace && (home.Org == "" || p.Org != home.Org)
	p.Stranger = got.IsStranger || elsewhere
	return p, nil
}

// whoAmI returns whose token this is, which never changes.
func (c *Client) whoAmI(ctx context.Context) (*Identity, error) {
	if known := c.home.Load(); known != nil {
		return known, nil
	}
	asked, err := c.Identity(ctx)
	if err != nil {
		return nil, err
	}
	c.home.Store(&asked)
	return &asked, nil
}

// GroupMembers returns the members of a user group, by id. ErrGone: there is no such group.
func (c *Client) GroupMembers(ctx context.Context, group string) ([]string, error) {
	members, err := c.api.GetUserGroupMembersContext(ctx, group)
	if err != nil {
		return nil, explainError("list the members of the user group "+group, err, ofGroup)
	}
	return members, nil
}

// A channel's members are read in at most mostPages pages. https://docs.slack.dev/reference/methods/conversations.members
const (
	membersPerPage = 500
	mostPages      = 20
)

// InChannel reports whether a person is in a channel. ErrChannel: there is none, or it is private and the bot is not in it. ErrTooMany: they
// are not among the first 10,000 members.
func (c *Client) InChannel(ctx context.Context, channel, person string) (bool, error) {
	page := &api.GetUsersInConversationParameters{ChannelID: channel, Limit: membersPerPage}
	for range mostPages {
		members, next, err := c.api.GetUsersInConversationContext(ctx, page)
		if err != nil {
			return false, explainError("list the members of the channel "+channel, err, ofChannel)
		}
		if slices.Contains(members, person) {
			return true, nil
		}
		if next == "" {
			return false, nil
		}
		page.Cursor = next
	}
	return false, fmt.Errorf("list the members of the channel %s: %w", channel, ErrTooMany)
}

// Channel returns what Slack knows of a channel, and whether the bot is in it. ErrChannel: there is none, or it is private and the bot
// is not in it.
func (c *Client) Channel(ctx context.Context, id string) (Channel, error) {
	got, err := c.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: id})
	if err != nil {
		return Channel{}, explainError("ask Slack about the channel "+id, err, ofChannel)
	}
	return Channel{
		ID: got.ID, Name: got.Name, Member: got.IsMember, Archived: got.IsArchived, Direct: got.IsIM || got.IsMpIM,
		External: got.IsExtShared || got.IsPendingExtShared,
	}, nil
}

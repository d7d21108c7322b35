package slack

import (
	"context"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
)

// The callback ids of the shortcuts, as the app's manifest has them.
const (
	shortcutCreate  = "ocp_create"         // opens the form
	shortcutList    = "ocp_clusters"       // shows the person's clusters
	shortcutMessage = "ocp_create_message" // opens the form, filled in from a command in a message
)

// handleShortcut opens what a shortcut is for. What cannot be opened is answered in words.
func (s *Service) handleShortcut(ctx context.Context, r inbound.Request) (note string, err error) {
	return s.handleOnce(ctx, r, func() (slack.Message, string, error) {
		if r.Action != shortcutCreate && r.Action != shortcutList && r.Action != shortcutMessage {
			return blocks.Answer("ocpctl does not know this shortcut, so nothing was done. `/ocp help` lists the commands."), "unknown shortcut " + r.Action, nil
		}
		p, err := s.identifyRequester(ctx, r)
		if err == nil && len(p.Seats) == 0 {
			err = app.Fail(app.Denied, messages.NoRoleOnSlack)
		}
		if err != nil {
			return slack.Message{}, r.Action, err
		}
		if r.Action == shortcutList {
			answer, err := s.showList(ctx, r, p)
			return answer, r.Action, err
		}
		return slack.Message{}, r.Action, s.openForm(ctx, r, p, requestIn(r))
	})
}

// typedCommand matches a command in the text of a message.
var typedCommand = regexp.MustCompile(`(?m)(?:^|[\s` + "`" + `])` + regexp.QuoteMeta(chatops.Prefix) + `[ \t]+(create\b[^\n` + "`" + `]*)`)

// requestIn returns the request in a message to which a shortcut was applied; empty: there is none.
func requestIn(r inbound.Request) app.CreateRequest {
	found := typedCommand.FindStringSubmatch(r.Text)
	if found == nil {
		return app.CreateRequest{}
	}
	c, _ := chatops.ParseSlack(strings.TrimSpace(found[1]))
	if c == nil || c.Verb != chatops.VerbCreate {
		return app.CreateRequest{}
	}
	return app.CreateRequest{Profile: c.Profile, Name: c.Name, Region: c.Region, Version: c.Version, Team: c.Team, TTL: c.TTL, OffhoursOptIn: c.OffHours, Pool: c.Pool, Account: c.Account}
}

// showList returns, as an error, the window with the person's clusters.
func (s *Service) showList(ctx context.Context, r inbound.Request, p policy.Principal) (slack.Message, error) {
	c := chatops.SlackCommand{Filter: chatops.ListFilter{Query: "owner:me"}}
	c.Verb = chatops.VerbList
	list, err := s.performCommand(ctx, r, p, c)
	if err != nil {
		return slack.Message{}, err
	}
	return slack.Message{}, inWindow{blocks.Shown(messages.MyClusters, list), list}
}

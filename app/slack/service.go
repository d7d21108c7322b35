// Package slack does what people ask for in Slack, by calling package app, and answers the person who asked: commands, buttons, forms
// and App Home.
//
// It must never decide who may do what, or answer one person where others read it, unless the answer is meant for them.
package slack

import (
	"context"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/notify"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
)

// Slack is what the service asks Slack, and what it shows to one person at once: slack.Client. Messages are written to the store and
// posted later.
type Slack interface {
	// Person returns what Slack knows of a person. slack.ErrNever: there is none.
	Person(ctx context.Context, id string) (slack.Person, error)
	// GroupMembers returns the members of a user group, by id.
	GroupMembers(ctx context.Context, group string) ([]string, error)
	// Channel returns what Slack knows of a channel, and whether the bot is in it.
	Channel(ctx context.Context, id string) (slack.Channel, error)
	// InChannel reports whether a person is in a channel. slack.ErrTooMany: it has too many members to tell.
	InChannel(ctx context.Context, channel, person string) (bool, error)
	// OpenDirect returns the channel of the direct messages with a person.
	OpenDirect(ctx context.Context, person string) (channel string, err error)
	// OpenForm opens a form within three seconds of its trigger. slack.ErrExpired: it is too late.
	OpenForm(ctx context.Context, trigger string, form api.ModalViewRequest) (id string, err error)
	// ReplaceWindow replaces an open form by the id that it was opened with. slack.ErrGone: there is none, or it was closed.
	ReplaceWindow(ctx context.Context, external string, form api.ModalViewRequest) error
	// UpdateForm replaces an open form; with a hash only if nobody replaced it since. slack.ErrGone: it was closed or replaced.
	UpdateForm(ctx context.Context, id, hash string, form api.ModalViewRequest) error
	// ShowHome replaces a person's App Home.
	ShowHome(ctx context.Context, person string, home api.HomeTabViewRequest) error
}

// Service handles what people do in Slack. It is safe for concurrent use.
type Service struct {
	core        *app.Service
	credentials *credentials.Service
	admin       *admin.Service
	notify      *notify.Service
	slack       Slack // nil: only answers in words work
	store       *store.Store
	emails      []string // domains whose confirmed e-mail addresses count as identities
	ui          string
	policy      policy.Settings
	catalogue   func() catalogue.Catalogue
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, links *credentials.Service, oversight *admin.Service, client Slack, c app.Config) *Service {
	return &Service{
		core: core, credentials: links, admin: oversight, notify: notify.New(core, c), slack: client, store: c.Store, ui: c.UI, policy: c.Policy,
		catalogue: c.Catalogue, emails: c.SlackEmails,
	}
}

// Handle does what a request asks for, once however often it comes. note says what became of it.
func (s *Service) Handle(ctx context.Context, r inbound.Request) (note string, err error) {
	note, err = s.handleRequest(ctx, r)
	if err == nil && r.Kind != inbound.Change && r.Kind != inbound.HomeOpened && r.Kind != inbound.Lifecycle {
		err = s.refreshHome(ctx, r.Workspace, r.User) // what they did may show there
	}
	return note, err
}

func (s *Service) handleRequest(ctx context.Context, r inbound.Request) (note string, err error) {
	switch r.Kind {
	case inbound.Command, inbound.Mention, inbound.Direct:
		return s.handleCommand(ctx, r)
	case inbound.Press:
		return s.handlePress(ctx, r)
	case inbound.Shortcut:
		return s.handleShortcut(ctx, r)
	case inbound.Change:
		return s.changeForm(ctx, r)
	case inbound.Submission:
		return s.submitForm(ctx, r)
	case inbound.HomeOpened:
		return s.openHome(ctx, r)
	case inbound.Lifecycle:
		return s.appChanged(ctx, r)
	}
	return "not a request ocpctl listens to", nil
}

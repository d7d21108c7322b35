package slack

import (
	"context"
	"errors"
	"fmt"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

// Slack lets a window open only within three seconds of what somebody did, and what it shows needs some twenty statements of the database.
// So the window is opened before anything is asked (OpenWindow), and says to wait until the form, the list or a refusal replaces it. It is
// found again by an id of ours, whichever process replaces it.

// inWindow is an answer that is shown in the window of its request. instead is the answer in words for whoever has no such window.
type inWindow struct {
	view    api.ModalViewRequest
	instead slack.Message
}

// Error implements error. It returns the answer in words.
func (w inWindow) Error() string { return w.instead.Text }

// OpenWindow opens the window that a request leads to, if it leads to one and Slack still lets it open. It asks only Slack: nobody knows
// yet who the person is, and the window shows nothing but that it is being prepared.
func (s *Service) OpenWindow(ctx context.Context, r inbound.Request) error {
	title := windowTitle(r)
	if title == "" || s.slack == nil {
		return nil
	}
	view := blocks.Opening(title)
	view.ExternalID = windowID(r)
	_, err := s.slack.OpenForm(ctx, r.Trigger, view)
	if err != nil && !errors.Is(err, slack.ErrExpired) { // expired: it is too late, or an earlier try opened it
		return fmt.Errorf("open a window: %w", err)
	}
	return nil
}

// windowID is the id of a request's window, by which it is replaced.
func windowID(r inbound.Request) string { return "ocpctl:" + r.ID }

// windowTitle returns the title of the window that a request leads to; empty: it leads to none.
func windowTitle(r inbound.Request) string {
	if r.Trigger == "" {
		return ""
	}
	switch r.Kind {
	case inbound.Command:
		if c, _ := chatops.ParseSlack(r.Text); c != nil && c.Verb == chatops.VerbCreate && asksForForm(*c) {
			return messages.CreateFormTitle
		}
	case inbound.Press:
		p, err := blocks.DecodePress(r.Value)
		if _, known := commandOf(p); err != nil || !known {
			return ""
		}
		switch {
		case p.Verb == chatops.VerbOpenForm:
			return messages.CreateFormTitle
		case p.Verb == chatops.VerbRefuse, asksMore(p):
			return verbTitle(p.Verb)
		}
	case inbound.Shortcut:
		switch r.Action {
		case shortcutCreate, shortcutMessage:
			return messages.CreateFormTitle
		case shortcutList:
			return messages.MyClusters
		}
	}
	return ""
}

func verbTitle(verb chatops.Verb) string {
	title, _ := messages.VerbFormTitles(verb)
	return title
}

// asksForForm reports whether a create names no profile, so that a form asks for what is missing.
func asksForForm(c chatops.SlackCommand) bool { return c.Profile == "" && !c.DryRun }

// giveAnswer saves the answer to a request, or shows it in the request's window. If there is none (it was too late for it, or it was closed),
// the answer is given in words.
func (s *Service) giveAnswer(ctx context.Context, r inbound.Request, view *api.ModalViewRequest, words slack.Message) error {
	title := windowTitle(r)
	if title == "" || s.slack == nil {
		return s.saveAnswer(ctx, r, words)
	}
	if view == nil {
		shown := blocks.Shown(title, words)
		view = &shown
	}
	err := s.slack.ReplaceWindow(ctx, windowID(r), *view)
	if errors.Is(err, slack.ErrGone) || errors.Is(err, slack.ErrRefused) {
		return s.saveAnswer(ctx, r, words)
	}
	if err != nil {
		return fmt.Errorf("show it in the window: %w", err)
	}
	return nil
}

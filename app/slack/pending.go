package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// TO BE REPLACED at the merge with sl-service and sl-intake.

func (s *Service) who(ctx context.Context, r inbound.Request) (policy.Principal, error) {
	return s.onSlack(ctx, r)
}

func formTitle(string) string { return messages.CreateFormTitle }

func (s *Service) submitVerb(context.Context, inbound.Request, policy.Principal) (slack.Message, map[string]string, error) {
	return slack.Message{}, nil, app.Fail(app.Invalid, messages.NoForms)
}

func (s *Service) place(ctx context.Context, r inbound.Request) (place store.SlackPlace, instead bool, err error) {
	place = store.SlackPlace{Workspace: r.Workspace, Channel: r.Channel, Person: r.User}
	if r.Channel != "" {
		channel, err := s.slack.Channel(ctx, r.Channel)
		if err == nil && channel.Member {
			return place, false, nil
		}
		instead = true
	}
	place.Channel, err = s.slack.OpenDirect(ctx, r.User)
	return place, instead, err
}

func (s *Service) once(ctx context.Context, r inbound.Request, do func() (answer slack.Message, note string, err error)) (note string, err error) {
	done, err := s.store.Outbox.Answered(ctx, causeOf(r))
	if err != nil || done {
		return "answered before", err
	}
	answer, note, err := do()
	var said *app.Error
	switch {
	case errors.As(err, &said):
		answer, note = blocks.Answer(inWords(said)), note+": "+said.Message
	case err != nil:
		return "", fmt.Errorf("%s: %w", note, err)
	}
	if answer.Text == "" {
		return note, nil
	}
	return note, s.answer(ctx, r, answer)
}

func inWords(e *app.Error) string { return e.Message }

func (s *Service) answer(ctx context.Context, r inbound.Request, m slack.Message) error {
	if err := s.store.Outbox.SaveReply(ctx, replyTo(r, m)); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func causeOf(r inbound.Request) string { return "slack:" + r.Workspace + ":" + r.ID }

func replyTo(r inbound.Request, m slack.Message) store.Reply {
	return store.Reply{
		Cause: causeOf(r), Workspace: r.Workspace, Channel: cmp.Or(r.Channel, r.User), Person: r.User, Body: m.Text, Blocks: encode(m.Blocks),
	}
}

func encode(list []api.Block) json.RawMessage {
	if list == nil {
		list = []api.Block{}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return raw
}

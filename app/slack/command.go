package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// handleCommand does what somebody typed, in a command, a mention or a direct message, and answers that person.
func (s *Service) handleCommand(ctx context.Context, r inbound.Request) (note string, err error) {
	return s.handleOnce(ctx, r, func() (slack.Message, string, error) {
		c, reply := chatops.ParseSlack(r.Text)
		if c == nil {
			return blocks.Answer(reply), "not understood", nil
		}
		p, err := s.whoFor(ctx, r, c.Verb)
		if err != nil {
			return slack.Message{}, string(c.Verb), err
		}
		answer, err := s.performCommand(ctx, r, p, *c)
		return answer, string(c.Verb), err
	})
}

// whoFor returns who acts; nobody for a command that needs no role. Everybody may read the help, and take a link of their account back.
func (s *Service) whoFor(ctx context.Context, r inbound.Request, verb chatops.Verb) (policy.Principal, error) {
	switch verb {
	case chatops.VerbHelp, chatops.VerbUnlink:
		return policy.Principal{}, nil
	case chatops.VerbLink:
		_, err := s.requireMember(ctx, r)
		return policy.Principal{}, err
	}
	return s.identifyRequester(ctx, r)
}

// question is an answer that asks which of several things the person means. Nothing was done.
type question struct{ slack.Message }

// Error implements error. It returns the text of the question.
func (q question) Error() string { return q.Text }

// handleOnce does a request and saves its answer. People's mistakes become answers; only what may pass by itself is an error. A request
// that was answered is done: it is worked again if its process died, or if Slack sent it twice.
func (s *Service) handleOnce(ctx context.Context, r inbound.Request, do func() (answer slack.Message, note string, err error)) (note string, err error) {
	done, err := s.store.Outbox.Answered(ctx, causeOf(r))
	if err != nil || done {
		return "answered before", err
	}
	answer, note, err := do()
	var shown inWindow
	if errors.As(err, &shown) {
		return note, s.giveAnswer(ctx, r, &shown.view, shown.instead)
	}
	answer, more, err := toAnswer(answer, err)
	if err != nil {
		return "", fmt.Errorf("%s: %w", note, err)
	}
	note += more
	if answer.Text == "" { // it was saved with the change
		return note, nil
	}
	return note, s.giveAnswer(ctx, r, nil, answer)
}

// toAnswer turns an error for people, or a question to them, into the answer. note is what that adds to the note of the request. Any other
// error stays.
func toAnswer(answer slack.Message, err error) (_ slack.Message, note string, _ error) {
	var refusal *app.Error
	var asks question
	switch {
	case errors.As(err, &asks):
		return asks.Message, ": asked which one", nil
	case errors.As(err, &refusal):
		return blocks.Answer(inWords(refusal)), ": " + refusal.Message, nil
	}
	return answer, "", err
}

// inWords is an application's error with what is wrong with each field.
func inWords(e *app.Error) string {
	wrong := make([]messages.FieldProblem, 0, len(e.Fields))
	for _, f := range e.Fields {
		if !f.Told {
			wrong = append(wrong, messages.FieldProblem{Field: f.Name, Problem: messages.Problem{Detail: f.Detail, Accept: f.Accept}})
		}
	}
	return sayWithProblems(e.Message, wrong)
}

// saveAnswer saves an answer to the person who made the request, once: the first stands. Only they see it.
func (s *Service) saveAnswer(ctx context.Context, r inbound.Request, m slack.Message) error {
	if err := s.store.Outbox.SaveReply(ctx, replyTo(r, m)); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// GivenUp tells whoever made a request that it is not tried any more. An answer that was saved before stands.
func (s *Service) GivenUp(ctx context.Context, r inbound.Request) error {
	switch r.Kind {
	case inbound.Command, inbound.Mention, inbound.Direct, inbound.Press, inbound.Shortcut, inbound.Submission:
		return s.saveAnswer(ctx, r, blocks.Answer(messages.GivenUpInSlack))
	}
	return nil // nobody waits for an answer
}

// causeOf identifies a request: sent again, it has the same.
func causeOf(r inbound.Request) string { return "slack:" + r.Workspace + ":" + r.ID }

// replyTo returns an answer as the store keeps it: in the thread in which it was asked for. What was asked on Home, or in a form, is
// answered in a direct message.
func replyTo(r inbound.Request, m slack.Message) clusters.Reply {
	reply := clusters.Reply{
		Cause: causeOf(r), Workspace: r.Workspace, Channel: cmp.Or(r.Channel, r.User), Person: r.User, Body: m.Text, Blocks: encodeBlocks(m.Blocks),
	}
	if r.Thread != 0 {
		reply.Thread = strconv.FormatInt(r.Thread, 10)
	}
	return reply
}

// encodeBlocks returns blocks as Slack takes them; an empty list for none.
func encodeBlocks(list []api.Block) json.RawMessage {
	if list == nil {
		list = []api.Block{}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings alone
	}
	return raw
}

// sayWithProblems adds to an answer what is wrong with each field, and what would be accepted.
func sayWithProblems(text string, wrong []messages.FieldProblem) string {
	var b strings.Builder
	b.WriteString(text)
	for i, p := range wrong {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "\n- **%s**: %s", p.Field, messages.Sentence(strings.TrimRight(p.Detail, ".")+"."))
		if accept := strings.Join(p.Accept, ", "); accept != "" {
			fmt.Fprintf(&b, " Accepted: %s.", strings.TrimRight(accept, "."))
		}
	}
	return b.String()
}

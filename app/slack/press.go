package slack

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// handlePress does what a button means, as the typed command would, and answers whoever pressed it.
func (s *Service) handlePress(ctx context.Context, r inbound.Request) (note string, err error) {
	return s.handleOnce(ctx, r, func() (slack.Message, string, error) {
		press, err := blocks.DecodePress(r.Value)
		if err != nil {
			return blocks.Answer(messages.UnknownButton), "unknown button " + r.Action, nil
		}
		note := "pressed " + string(press.Verb)
		c, ok := commandOf(press)
		if !ok {
			return blocks.Answer(messages.UnknownButton), note + ", which is unknown", nil
		}
		p, err := s.whoFor(ctx, r, c.Verb)
		if err != nil {
			return slack.Message{}, note, err
		}
		if press.Notice, err = s.noticeOf(ctx, press); err != nil {
			return slack.Message{}, note, err
		}
		t := task{request: r, by: p, SlackCommand: c, notice: press.Notice, seen: press.End}
		if asksMore(press) {
			answer, err := s.openForPress(ctx, t, press)
			return answer, note, hideID(press, err)
		}
		answer, refusal := s.runTask(ctx, t)
		refusal = hideID(press, refusal)
		if err := s.refreshNotice(ctx, t, refusal); err != nil {
			return slack.Message{}, note, err
		}
		return answer, note, refusal
	})
}

// hideID replaces the answer that somebody has no such cluster, if a button named it: they read its name beside the button, and never its id.
func hideID(p blocks.Press, err error) error {
	if p.Cluster != "" && app.KindOf(err) == app.NotFound {
		return app.Fail(app.NotFound, "Nothing was done, because you may not see this cluster. Its owner can share it with you.")
	}
	return err
}

// asksMore reports whether a button opens a form for what its command needs.
func asksMore(p blocks.Press) bool {
	switch p.Verb {
	case chatops.VerbOpenForm:
		return true
	case chatops.VerbShare, chatops.VerbTransfer:
		return p.Value == ""
	}
	return false
}

// commandOf returns the command that a button means; ok is false if ocpctl knows no such button.
func commandOf(p blocks.Press) (c chatops.SlackCommand, ok bool) {
	c.Verb = p.Verb
	switch p.Verb {
	case chatops.VerbPage:
		c.Filter, ok = decodeFilter(p.Value)
		return c, ok
	case chatops.VerbApprove, chatops.VerbRefuse:
		c.Ref = cmp.Or(p.Approval, p.Cluster)
		return c, c.Ref != ""
	case chatops.VerbAcceptHandover, chatops.VerbDeclineHandover:
		c.Ref = p.Value
		return c, c.Ref != ""
	case chatops.VerbOpenForm:
		return c, true
	}
	if asksMore(p) {
		c.Cluster = p.Cluster
		return c, p.Cluster != ""
	}
	text := strings.Join([]string{string(p.Verb), p.Cluster, p.Value}, " ")
	if typed, is := isRepeated(p.Verb, p.Value); is {
		text = typed
	}
	parsed, _ := chatops.ParseSlack(text)
	if parsed == nil || parsed.Verb != p.Verb {
		return c, false
	}
	if p.Cluster != "" {
		parsed.Cluster = p.Cluster
	}
	return *parsed, true
}

// repeatValue is the value of a button that repeats a typed command for one cluster. It begins with the verb, which no other value does.
func repeatValue(verb chatops.Verb, text string) string {
	return string(verb) + ": " + text
}

// isRepeated returns the command that a button repeats, as it was typed.
func isRepeated(verb chatops.Verb, value string) (text string, is bool) {
	return strings.CutPrefix(value, string(verb)+": ")
}

// openForPress opens the form that a button leads to, for whoever may at least see its cluster.
func (s *Service) openForPress(ctx context.Context, t task, press blocks.Press) (slack.Message, error) {
	if len(t.by.Seats) == 0 {
		return slack.Message{}, app.Fail(app.Denied, messages.NoRoleOnSlack)
	}
	if press.Verb == chatops.VerbOpenForm {
		return slack.Message{}, s.openFilled(ctx, t.request, t.by, decodePrefill(press.Value))
	}
	row, err := s.core.Cluster(ctx, t.by, press.Cluster)
	if err != nil {
		return slack.Message{}, err
	}
	if row.Desired != lifecycle.Present || app.IsGone(row) {
		return slack.Message{}, app.Fail(app.Conflict, messages.Unwanted(row.Card, press.Verb.Act()))
	}
	return slack.Message{}, verbForm(t, press, row.Name, sayFormTooLate(sayTyped(press.Verb, row.Name)))
}

// sayFormTooLate tells somebody that a form could not be shown, and the command that does the same.
func sayFormTooLate(command string) string {
	return fmt.Sprintf("The form could not be shown: Slack lets it open for three seconds only, or its window was closed. Press the button again, or type `%s %s`.", chatops.Prefix, command)
}

// sayTyped is a command for a cluster as somebody would type it in place of such a form.
func sayTyped(verb chatops.Verb, cluster string) string {
	switch verb {
	case chatops.VerbShare:
		return "share " + cluster + " @somebody"
	case chatops.VerbTransfer:
		return "transfer " + cluster + " @somebody"
	}
	return string(verb) + " " + cluster
}

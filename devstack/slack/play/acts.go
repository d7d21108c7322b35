package play

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// act is what a form of the page does. Next is the page that follows; empty: the same.
type act func(ctx context.Context, at spot, form url.Values) (next string, err error)

func (p *playground) acts() map[string]act {
	return map[string]act{
		"write": p.write, "click": p.click, "change": p.change, "view": p.view, "close": p.closeView, "shortcut": p.shortcut,
		"channel": p.channel, "delete": p.deleteMessage, "home": p.openHome,
	}
}

// do runs an action and returns to the page, which shows what went wrong.
func (p *playground) do(w http.ResponseWriter, r *http.Request, do act) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form could not be read", http.StatusBadRequest)
		return
	}
	at := p.at(r)
	next, err := do(r.Context(), at, r.PostForm)
	if next == "" {
		next = at.Here()
	}
	if err != nil {
		next = at.Here() + "&" + url.Values{"problem": {err.Error()}}.Encode()
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// write sends what stands in the message box: a command or a message.
func (p *playground) write(ctx context.Context, at spot, form url.Values) (next string, err error) {
	defer must.Catch(&err)
	text := strings.TrimSpace(form.Get("text"))
	command, isCommand := strings.CutPrefix(text, "/ocp")
	switch {
	case text == "":
		return "", nil
	case isCommand && (command == "" || command[0] == ' '):
		if form.Get("thread") != "" {
			//lint:ignore ST1005 these are Slack's words
			return "", errors.New("/ocp is not supported in threads. Sorry!")
		}
		must.FailIf(at.Channel == direct, "write to the app first, or type the command in a channel")
		_, err = p.slack.Command(ctx, at.As.ID, at.Channel, strings.TrimSpace(command))
	case strings.HasPrefix(text, "/"):
		return "", errors.New(strings.Fields(text)[0] + " is not a valid command. The app of this workspace has /ocp.")
	case at.Channel == direct: // the first message to the app
		must.Get(p.slack.DirectMessage(ctx, at.As.ID, text))
		return at.Link("", "D"+at.As.ID[1:], ""), nil
	default:
		_, err = p.slack.Write(ctx, at.As.ID, slack.Post{Channel: at.Channel, Thread: form.Get("thread"), Text: text})
	}
	return "", err
}

// click presses a button in a message. One with a link opens it too.
func (p *playground) click(ctx context.Context, at spot, form url.Values) (next string, err error) {
	return form.Get("url"), p.slack.Click(ctx, at.As.ID, form.Get("at"), form.Get("action"))
}

// change chooses in a menu in a message.
func (p *playground) change(ctx context.Context, at spot, form url.Values) (next string, err error) {
	return "", p.slack.ChangeField(ctx, at.As.ID, form.Get("at"), form.Get("action"), form["value"]...)
}

// view enters what changed in a modal or App Home, and then submits it, closes it, or presses a button in it.
func (p *playground) view(ctx context.Context, at spot, form url.Values) (next string, err error) {
	defer must.Catch(&err)
	v := p.slack.Modal(at.As.ID)
	if form.Get("at") != "" && (v == nil || v.ID != form.Get("at")) {
		v = p.slack.Home(at.As.ID)
	}
	must.FailIf(v == nil || v.ID != form.Get("at"), "this form is closed")
	must.Do(p.enter(ctx, at, v, form))
	do, which, _ := strings.Cut(form.Get("do"), ":")
	switch do {
	case "submit":
		_, err = p.slack.SubmitView(ctx, at.As.ID)
	case "click":
		err = p.slack.Click(ctx, at.As.ID, v.ID, which)
	}
	return "", err
}

// enter enters the fields of a form that differ from the view's state.
func (p *playground) enter(ctx context.Context, at spot, v *slack.View, form url.Values) error {
	for name := range form {
		field, ok := strings.CutPrefix(name, "has:") // every field has one, because an empty one is not sent
		if !ok {
			continue
		}
		block, action, _ := strings.Cut(field, "/")
		given := slices.DeleteFunc(slices.Clone(form["f:"+field]), func(value string) bool { return value == "" })
		if slices.Equal(given, current(v.State[block][action])) {
			continue
		}
		if err := p.slack.ChangeField(ctx, at.As.ID, v.ID, field, given...); err != nil {
			return err
		}
	}
	return nil
}

func (p *playground) closeView(ctx context.Context, at spot, _ url.Values) (next string, err error) {
	return "", p.slack.CloseView(ctx, at.As.ID)
}

func (p *playground) shortcut(ctx context.Context, at spot, form url.Values) (next string, err error) {
	return "", p.slack.UseShortcut(ctx, at.As.ID, form.Get("callback"), form.Get("message"))
}

func (p *playground) openHome(ctx context.Context, at spot, _ url.Values) (next string, err error) {
	return at.Link("", home, ""), p.slack.OpenHome(ctx, at.As.ID)
}

// channel changes the open channel.
func (p *playground) channel(ctx context.Context, at spot, form url.Values) (next string, err error) {
	switch form.Get("do") {
	case "archive":
		return "", p.slack.Archive(ctx, at.Channel)
	case "unarchive":
		return "", p.slack.Unarchive(ctx, at.Channel)
	case "kick":
		return "", p.slack.Kick(ctx, at.Channel)
	case "invite":
		return "", p.slack.Invite(ctx, slack.Bot, at.Channel)
	}
	return "", errors.New("a channel can be archived or brought back, and the app removed or invited")
}

func (p *playground) deleteMessage(_ context.Context, at spot, form url.Values) (next string, err error) {
	return "", p.slack.DeleteMessage(at.Channel, form.Get("message"))
}

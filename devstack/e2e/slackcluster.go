package e2e

import (
	"context"
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// The names of the clusters that are requested in Slack.
const (
	filledIn = "from-slack"
	approved = "after-a-yes"
)

// fromSlack checks the life of a cluster that never leaves Slack: maya requests it with the form, is mentioned when it is ready, extends
// it from a warning and offers it to rob, who accepts it and destroys it.
func (t *scenario) fromSlack(ctx context.Context) {
	var thread string
	t.step("maya opens the form with the shortcut, and fills it in", func() error { return t.fillsIn(ctx) })
	t.step("#clusters shows that it is being created", t.shown(ctx, "rob", slack.Clusters, "", 20*time.Second, filledIn+" is being created"))
	t.step("the same message shows that it is ready, with its buttons", func() (err error) {
		must.Do(t.shown(ctx, "rob", slack.Clusters, "", 30*time.Second, filledIn+" is ready", "Kubeconfig", "Destroy")())
		thread, err = t.threadOf(ctx, "maya", filledIn)
		return err
	})
	t.step("in its thread maya is mentioned", t.shown(ctx, "maya", slack.Clusters, thread, 10*time.Second, "@maya, your cluster is ready."))
	t.step("an hour before its end a warning comes", t.shown(ctx, "maya", slack.Clusters, thread, 2*t.at.Hour, filledIn+" ends soon", "@maya, your cluster ends soon."))
	t.step("she presses Extend", func() error { return t.press(ctx, "maya", slack.Clusters, thread, filledIn+" ends soon", "Extend") })
	t.step("the warning says who extended it", t.shown(ctx, "rob", slack.Clusters, thread, 10*time.Second, "Extended until", "by @maya."))
	t.step("she offers it to rob", func() error {
		_, err := t.inSlack(ctx, "maya", slack.Clusters, "transfer "+filledIn+" @rob", "is offered to rob")
		return err
	})
	t.step("he reads it in a direct message, and accepts", func() error {
		must.Do(t.shown(ctx, "rob", direct("rob"), "", 10*time.Second, filledIn+" is offered to you", "Accept")())
		return t.press(ctx, "rob", direct("rob"), "", filledIn+" is offered to you", "Accept")
	})
	t.step("it is his, and his team's", t.shown(ctx, "maya", slack.Clusters, "", 15*time.Second, filledIn+" is ready", "Rob, team payments"))
	t.step("he presses Destroy", func() error { return t.press(ctx, "rob", slack.Clusters, "", filledIn+" is ready", "Destroy") })
	t.step("its message says that nothing is left of it", t.shown(ctx, "maya", slack.Clusters, "", time.Minute, filledIn+" is gone"))
	t.step("the stand-in cloud's own count is zero", func() error { return t.nothing(ctx, filledIn) })
}

// shown waits until a conversation shows the texts.
func (t *scenario) shown(ctx context.Context, who, channel, thread string, within time.Duration, want ...string) func() error {
	return eventually(ctx, within, func() error {
		page := must.Get(t.conversation(ctx, who, channel, thread))
		return contains(words(page), want...)
	})
}

// approvedByButton checks that will, who is linked, approves with the button of the admin channel.
func (t *scenario) approvedByButton(ctx context.Context) {
	t.step("maya asks for another one in #clusters", func() error {
		must.Get(t.inSlack(ctx, "maya", slack.Clusters, "create aws-standard --name "+approved+" --ttl 101h", "waits for an approval"))
		return t.shown(ctx, "will", slack.Admins, "", 10*time.Second, approved+" is waiting for approval")()
	})
	t.step("will presses Approve in #admins, which then shows that he did", func() error {
		must.Do(t.press(ctx, "will", slack.Admins, "", approved+" is waiting for approval", "Approve"))
		return t.shown(ctx, "ada", slack.Admins, "", 10*time.Second, approved+" was waiting for approval", "It was approved by Will.")()
	})
	t.step("she destroys it with the button of its message", func() error {
		must.Do(t.shown(ctx, "maya", slack.Clusters, "", 10*time.Second, approved+" is being created")())
		must.Do(t.press(ctx, "maya", slack.Clusters, "", approved+" is being created", "Destroy"))
		return t.shown(ctx, "maya", slack.Clusters, "", time.Minute, approved+" is gone")()
	})
}

// fillsIn opens the form as maya, enters a name and a lifetime, and submits it.
func (t *scenario) fillsIn(ctx context.Context) (err error) {
	defer must.Catch(&err)
	at := url.Values{"as": {"maya"}, "channel": {slack.Clusters}}
	act := func(what string, more url.Values) error {
		form := url.Values{}
		for _, values := range []url.Values{at, more} {
			maps.Copy(form, values)
		}
		return t.post(ctx, t.at.Slack+"/playground/"+what, form)
	}
	must.Do(act("shortcut", url.Values{"callback": {"ocp_create"}}))
	var view string
	must.Do(until(ctx, 10*time.Second, func() error {
		page := must.Get(t.conversation(ctx, "maya", slack.Clusters, ""))
		_, modal, open := strings.Cut(page, `id="modal-title"`)
		must.FailIf(!open || !strings.Contains(modal, `name="f:name/name"`), "no form is open")
		_, page, _ = strings.Cut(page, `<div id="modal"`)
		view = viewID.FindStringSubmatch(page)[1]
		return contains(words(modal), "It would be accepted", "an hour")
	}))
	entered := url.Values{"at": {view}, "do": {"submit"}}
	for field, value := range map[string]string{"name": filledIn, "ttl": "2", "post": slack.Clusters} {
		entered.Set("has:"+field+"/"+field, "1")
		entered.Set("f:"+field+"/"+field, value)
	}
	return act("view", entered)
}

var (
	viewID = regexp.MustCompile(`name="at" value="(V[^"]*)"`)
	button = regexp.MustCompile(`(?s)name="at" value="([^"]*)"><input type="hidden" name="action" value="([^"]*)">(.*?)</form>`)
	topic  = regexp.MustCompile(`thread=([0-9.]+)`)
	markup = regexp.MustCompile(`<[^>]*>`)
)

// words is a page without its markup.
func words(page string) string { return html.UnescapeString(markup.ReplaceAllString(page, "")) }

// direct is somebody's direct message with the app.
func direct(who string) string {
	p, _ := slack.By(who)
	return "D" + p.ID[1:]
}

// conversation returns a channel or a thread in it as somebody sees it, as HTML.
func (t *scenario) conversation(ctx context.Context, who, channel, thread string) (string, error) {
	q := url.Values{"as": {who}, "channel": {channel}}
	if thread != "" {
		q.Set("thread", thread)
	}
	raw, _, err := t.fetch(ctx, t.at.Slack+"/playground/live?"+q.Encode(), "")
	return string(raw), err
}

// newestWith returns the newest message of a conversation with a text, as HTML.
func newestWith(page, text string) (found string, err error) {
	for _, m := range message.FindAllStringSubmatch(page, -1) {
		if strings.Contains(words(m[2]), text) {
			found = m[2]
		}
	}
	if found == "" {
		return "", fmt.Errorf("no message says %q", text)
	}
	return found, nil
}

// threadOf returns the thread of a cluster's message in #clusters.
func (t *scenario) threadOf(ctx context.Context, who, name string) (_ string, err error) {
	defer must.Catch(&err)
	page := must.Get(t.conversation(ctx, who, slack.Clusters, ""))
	m := must.Get(newestWith(page, name+" is ready"))
	at := topic.FindStringSubmatch(m)
	must.FailIf(at == nil, "the message of %s has no thread", name)
	return at[1], nil
}

// press waits for a message that has a text, and presses a button in the newest one.
func (t *scenario) press(ctx context.Context, who, channel, thread, near, label string) error {
	var m string
	if err := until(ctx, 10*time.Second, func() error {
		page, err := t.conversation(ctx, who, channel, thread)
		if err == nil {
			m, err = newestWith(page, near)
		}
		return err
	}); err != nil {
		return err
	}
	for _, b := range button.FindAllStringSubmatch(m, -1) {
		if strings.HasPrefix(strings.TrimSpace(words(b[3])), label) {
			return t.post(ctx, t.at.Slack+"/playground/click", url.Values{"as": {who}, "channel": {channel}, "thread": {thread}, "at": {b[1]}, "action": {html.UnescapeString(b[2])}})
		}
	}
	return fmt.Errorf("the message %q has no button %s", near, label)
}

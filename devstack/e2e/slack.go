package e2e

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/saml"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// slackAsks sends Slack's first request to the entry point, once signed as Slack signs and once unsigned.
// https://docs.slack.dev/authentication/verifying-requests-from-slack
func (t *scenario) slackAsks(ctx context.Context) (err error) {
	defer must.Catch(&err)
	const body = `{"type":"url_verification","challenge":"a-challenge"}`
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	for _, try := range []struct {
		signature string
		status    int
		says      string
	}{
		{slack.Sign(t.at.SlackSecret, stamp, body), http.StatusOK, "a-challenge"},
		{"v0=00", http.StatusUnauthorized, ""},
	} {
		req := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, t.at.Public+"/webhooks/slack", strings.NewReader(body)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Slack-Request-Timestamp", stamp)
		req.Header.Set("X-Slack-Signature", try.signature)
		resp := must.Get(t.web.Do(req))
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		must.Do(err)
		must.FailIf(resp.StatusCode != try.status || !strings.Contains(string(answer), try.says),
			"answered %d %s instead of %d", resp.StatusCode, answer, try.status)
	}
	return nil
}

// aWordInSlack checks an approval in Slack: maya's request on a pull request needs a platform admin. Rob, of another team, is told
// that it does not exist; ada, an auditor, that she may not approve; will links his account and approves.
func (t *scenario) aWordInSlack(ctx context.Context) {
	var c cluster
	will, err := newBrowser()
	must.Do(err)
	hears := func(what, who, channel, command string, want ...string) {
		t.step(what, func() error { _, err := t.inSlack(ctx, who, channel, command, want...); return err })
	}
	t.step("maya asks for more than four days on #44, and nothing begins", func() error {
		must.Do(t.comment(ctx, spoken, "/ocp create aws-standard --ttl 101h"))
		must.Do(t.inPhase(ctx, spoken, "awaiting_approval", 20*time.Second)())
		c, err = t.newest(ctx, spoken)
		return err
	})
	hears("in Slack rob, of another team, finds nothing of it", "rob", slack.Clusters,
		"approve "+c.Name, "You have no cluster")
	hears("ada, an auditor, sees it, and her word does not count", "ada", slack.Clusters,
		"approve "+c.Name+" fine", "platform admin", "You are an auditor")
	t.step("she presses Approve in #admins, and it counts as little", func() error {
		return t.answered(ctx, "ada", []string{"You are an auditor"}, func() error { return t.press(ctx, "ada", slack.Admins, "", c.Name, "Approve") })
	})
	must.Do(t.unlinked(ctx, will))
	hears("will is nobody there yet, and is told how to be somebody", "will", slack.Clusters, "approvals", "/ocp link")
	t.step("he types /ocp link, follows it, signs in and says yes", func() error { return t.links(ctx, will) })
	hears("now he sees what waits; where the bot is not it is a direct message", "will", slack.Random,
		"approvals", "Waiting for approval", "requested by Maya")
	hears("/ocp approve: his word counts", "will", slack.Clusters, "approve "+c.Name+" go ahead", "You approved", "It starts now")
	t.step("in #admins the buttons are gone", t.shown(ctx, "ada", slack.Admins, "", 10*time.Second, c.Name+" was waiting for approval"))
	t.step("the cluster begins", t.inPhase(ctx, spoken, "installing", 20*time.Second))
	hears("/ocp status shows it", "will", slack.Clusters, "status "+c.Name, "is being created")
	t.step("maya takes it down, and it is DESTROYED", func() error {
		must.Do(t.comment(ctx, spoken, "/ocp destroy"))
		return t.reaches(ctx, spoken, "DESTROYED", time.Minute)()
	})
	t.approvedByButton(ctx)
}

var (
	message = regexp.MustCompile(`(?s)<li class="message (\w+)[^"]*">(.*?)</li>`)
	address = regexp.MustCompile(`href="([^"]*/links/[^"]+)"`)

	linkCode = regexp.MustCompile(`value="/ocp (link [^"]+)"`)
)

// inSlack types a command as somebody, waits for the answer with the texts, and returns it as HTML.
func (t *scenario) inSlack(ctx context.Context, who, channel, text string, want ...string) (answer string, err error) {
	defer must.Catch(&err)
	err = t.answered(ctx, who, want, func() error {
		return t.post(ctx, t.at.Slack+"/playground/write", url.Values{"as": {who}, "channel": {channel}, "text": {strings.TrimSpace("/ocp " + text)}})
	})
	must.Wrap(err, "/ocp %s", text)
	list := must.Get(t.answers(ctx, who))
	return list[0], nil
}

// answered does something as somebody, and waits for the answer with the texts.
func (t *scenario) answered(ctx context.Context, who string, want []string, do func() error) (err error) {
	defer must.Catch(&err)
	before := must.Get(t.answers(ctx, who))
	must.Do(do())
	return until(ctx, 10*time.Second, func() error {
		now := must.Get(t.answers(ctx, who))
		must.FailIf(len(now) <= len(before), "it is not answered")
		return contains(html.UnescapeString(now[0]), want...)
	})
}

// answers returns a person's answers, newest first, without the immediate responses.
func (t *scenario) answers(ctx context.Context, who string) (list []string, err error) {
	raw, _, err := t.fetch(ctx, t.at.Slack+"/playground/live?channel=activity&as="+who, "")
	for _, m := range message.FindAllStringSubmatch(string(raw), -1) {
		if m[1] == slack.KindEphemeral || m[1] == slack.KindDirect {
			list = append(list, m[2])
		}
	}
	slices.Reverse(list)
	return list, err
}

// unlinked undoes an earlier run: will signs in, and his Slack account is unlinked.
func (t *scenario) unlinked(ctx context.Context, will *http.Client) error {
	if err := saml.SignIn(ctx, will, t.at.Private, "will", "demo-will", "/me"); err != nil {
		return err
	}
	account := url.Values{"account": {"slack:" + slack.Workspace + "/U0DEMOWILL"}}
	if err := submit(ctx, will, t.at.Private+"/me/unlink", account); err != nil && !strings.HasSuffix(err.Error(), "404 Not Found") {
		return err
	}
	return nil
}

// links makes will link his Slack account: he requests the link in Slack, types the account's name on the page, and in Slack the code that he
// sees there.
func (t *scenario) links(ctx context.Context, will *http.Client) (err error) {
	defer must.Catch(&err)
	answer := must.Get(t.inSlack(ctx, "will", slack.Clusters, "link", "sign in", "/links/"))
	at := address.FindStringSubmatch(answer)
	must.FailIf(at == nil, "no link in %q", answer)
	body := must.Get(submitPage(ctx, will, html.UnescapeString(at[1]), url.Values{"account": {slack.Workspace + "/U0DEMOWILL"}}))
	code := linkCode.FindStringSubmatch(body)
	must.FailIf(code == nil, "no code in %q", body)
	_, err = t.inSlack(ctx, "will", slack.Clusters, code[1], "is now linked to you")
	return err
}

package play_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/devstack/slack/play"
)

const token = "demo-slack-bot-token"

// workspace is a stand-in with its page, and the app's server.
type workspace struct {
	*slack.Server
	t *testing.T

	mu      sync.Mutex
	got     []url.Values
	respond string // to everything
}

func start(t *testing.T) *workspace {
	t.Helper()
	w := &workspace{t: t}
	app := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		w.mu.Lock()
		defer w.mu.Unlock()
		w.got = append(w.got, form)
		if strings.HasPrefix(w.respond, "{") {
			rw.Header().Set("Content-Type", "application/json")
		}
		_, _ = rw.Write([]byte(w.respond))
	}))
	t.Cleanup(app.Close)
	var err error
	w.Server, err = slack.Start(t.Context(), slack.Config{Token: token, CommandURL: app.URL, Pages: play.Handler})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Stop()) })
	return w
}

func (w *workspace) responds(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.respond = body
}

// payload returns the newest interaction that the app got.
func (w *workspace) payload() (p struct {
	Type    string
	Trigger string `json:"trigger_id"`
	Actions []struct {
		Action   string                 `json:"action_id"`
		Block    string                 `json:"block_id"`
		Selected struct{ Value string } `json:"selected_option"`
	}
	View struct {
		State struct {
			Values map[string]map[string]map[string]any
		}
	}
}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NotEmpty(w.t, w.got)
	require.NoError(w.t, json.Unmarshal([]byte(w.got[len(w.got)-1].Get("payload")), &p))
	return p
}

// call calls the Web API as the app.
func (w *workspace) call(method string, args map[string]string) (ts string) {
	w.t.Helper()
	form := url.Values{"token": {token}}
	for name, value := range args {
		form.Set(name, value)
	}
	resp, err := http.PostForm(w.API()+method, form)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	var answer struct {
		OK bool
		TS string
	}
	require.NoError(w.t, json.Unmarshal(raw, &answer))
	require.True(w.t, answer.OK, string(raw))
	return answer.TS
}

// page visits a page, or submits a form of it, and returns what is shown then.
func (w *workspace) page(path string, form url.Values) string {
	w.t.Helper()
	get := func() (*http.Response, error) { return http.Get(w.URL() + path) }
	if form != nil {
		get = func() (*http.Response, error) { return http.PostForm(w.URL()+path, form) }
	}
	resp, err := get()
	require.NoError(w.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, resp.StatusCode, string(raw))
	return string(raw)
}

func (w *workspace) has(page string, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		require.Contains(w.t, page, text)
	}
}

const buttons = `[{"type":"actions","block_id":"a","elements":[
	{"type":"button","action_id":"go","style":"primary","text":{"type":"plain_text","text":"Go"},"value":"1"},
	{"type":"button","action_id":"logs","url":"https://ui.example/logs","text":{"type":"plain_text","text":"Logs"},"value":"2"},
	{"type":"button","action_id":"stop","style":"danger","text":{"type":"plain_text","text":"Stop"},"value":"3","confirm":{
		"title":{"type":"plain_text","text":"Really?"},"text":{"type":"plain_text","text":"It ends."},
		"confirm":{"type":"plain_text","text":"Yes"},"deny":{"type":"plain_text","text":"No"}}},
	{"type":"static_select","action_id":"pick","options":[{"text":{"type":"plain_text","text":"AWS"},"value":"aws"}]}]}]`

func TestThePageShowsAPersonWhatIsTheirs(t *testing.T) {
	w := start(t)
	w.responds("*Got* `it` &lt;b&gt; <https://ui/x?a=1&amp;b=2|here> <script>")
	page := w.page("/playground/write", url.Values{"as": {"rob"}, "channel": {slack.Random}, "text": {"/ocp status"}})
	w.has(page, "A playground, not Slack", `<b>Rob</b>`, "/ocp status", "# random", "without the app", "Only visible to you",
		`<strong>Got</strong> <code>it</code> &lt;b&gt; <a href="https://ui/x?a=1&amp;b=2">here</a> &lt;script&gt;`)
	require.NotContains(t, w.page("/playground/live?as=maya&channel="+slack.Random, nil), "/ocp status")
	w.has(w.page("/playground/live?as=rob&channel=activity", nil), `class="message ack private"`, "#random")
	require.NotContains(t, w.page("/playground?as=rob", nil), "platform-private", "he is not in it")
	w.has(w.page("/playground?as=ada", nil), "platform-private")
	w.has(w.page("/playground?as=gus", nil), "# payments")
	w.has(w.page("/playground?channel="+slack.Archived, nil), "an archived channel")
}

func TestWhatIsWrittenIsSentAndShown(t *testing.T) {
	w := start(t)
	w.has(w.page("/playground/write", url.Values{"as": {"maya"}, "channel": {slack.Clusters}, "text": {"@ocpctl help @rob in #payments"}}),
		`<span class="mention">@ocpctl</span> help <span class="mention">@rob</span> in <span class="mention">#payments</span>`)
	w.has(w.page("/playground/write", url.Values{"as": {"maya"}, "channel": {slack.Clusters}, "text": {"/giphy cats"}}), "/giphy is not a valid command")
	w.has(w.page("/playground/write", url.Values{"as": {"maya"}, "channel": {"direct"}, "text": {"list"}}), "Message ocpctl", `<div class="words">list</div>`)
	ts := w.Messages()[0].TS
	page := w.page("/playground/write", url.Values{"as": {"rob"}, "channel": {slack.Clusters}, "thread": {ts}, "text": {"in the thread"}})
	w.has(page, "1 reply", `<h2>Thread</h2>`, "in the thread")
	w.has(w.page("/playground/write", url.Values{"as": {"rob"}, "channel": {slack.Clusters}, "thread": {ts}, "text": {"/ocp list"}}), "not supported in threads")
	w.has(w.page("/playground/delete", url.Values{"as": {"rob"}, "channel": {slack.Clusters}, "message": {ts}}), "This message was deleted.")
}

func TestButtonsAndMenusInAMessageWork(t *testing.T) {
	w := start(t)
	ts := w.call("chat.postMessage", map[string]string{"channel": slack.Clusters, "text": "x", "blocks": buttons})
	w.has(w.page("/playground?as=rob", nil), `<button class="primary">Go</button>`, `<h4>Really?</h4><p>It ends.</p>`, `>Yes</button>`, `<option value="aws">AWS</option>`)
	form := func(action string, more ...string) url.Values {
		v := url.Values{"as": {"rob"}, "channel": {slack.Clusters}, "at": {ts}, "action": {"a/" + action}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	w.page("/playground/click", form("go"))
	require.Equal(t, "go", w.payload().Actions[0].Action)
	w.page("/playground/change", form("pick", "value", "aws"))
	require.Equal(t, "aws", w.payload().Actions[0].Selected.Value)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm(w.URL()+"/playground/click", form("logs", "url", "https://ui.example/logs"))
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, "https://ui.example/logs", resp.Header.Get("Location"))
	w.has(w.page("/playground/click", form("jump")), `role="alert"`, "there is no button or field")
}

func TestAFormIsFilledInWithoutJavaScript(t *testing.T) {
	w := start(t)
	w.page("/playground/shortcut", url.Values{"as": {"rob"}, "channel": {slack.Clusters}, "callback": {"create"}})
	w.call("views.open", map[string]string{"trigger_id": w.payload().Trigger, "view": `{"type":"modal","callback_id":"create",
		"title":{"type":"plain_text","text":"Create"},"submit":{"type":"plain_text","text":"Go"},"blocks":[
		{"type":"input","block_id":"profile","dispatch_action":true,"label":{"type":"plain_text","text":"Profile"},"element":{"type":"static_select","action_id":"profile",
			"options":[{"text":{"type":"plain_text","text":"Small"},"value":"small"},{"text":{"type":"plain_text","text":"Large"},"value":"large"}]}},
		{"type":"input","block_id":"name","label":{"type":"plain_text","text":"Name"},"element":{"type":"plain_text_input","action_id":"name"}},
		{"type":"input","block_id":"addons","optional":true,"label":{"type":"plain_text","text":"Add-ons"},"element":{"type":"checkboxes","action_id":"addons",
			"options":[{"text":{"type":"plain_text","text":"GitOps"},"value":"gitops"},{"text":{"type":"plain_text","text":"Mesh"},"value":"mesh"}]}},
		{"type":"section","text":{"type":"mrkdwn","text":"Costs *3 $*"},"accessory":{"type":"button","action_id":"why","text":{"type":"plain_text","text":"Why"}}}]}`})
	w.has(w.page("/playground?as=rob", nil), `<h2 id="modal-title">Create</h2>`, `name="f:profile/profile"`, "Costs <strong>3 $</strong>", `<span class="muted">(optional)</span>`)
	require.NotContains(t, w.page("/playground?as=maya", nil), "modal-title")

	fields := url.Values{"as": {"rob"}, "channel": {slack.Clusters}, "at": {w.Modal("rob").ID}, "has:profile/profile": {"1"}, "has:name/name": {"1"},
		"has:addons/addons": {"1"}, "f:profile/profile": {"large"}, "f:name/name": {""}, "do": {"change"}}
	w.page("/playground/view", fields)
	require.Equal(t, []string{"block_actions", "large"}, []string{w.payload().Type, w.payload().Actions[0].Selected.Value})
	fields.Set("do", "submit")
	w.has(w.page("/playground/view", fields), "Please complete this required field.", `aria-invalid="true"`)
	fields["f:name/name"], fields["f:addons/addons"] = []string{"demo"}, []string{"gitops", "mesh"}
	w.responds(`{"response_action":"errors","errors":{"name":"This name is taken."}}`)
	w.has(w.page("/playground/view", fields), `<p class="error" role="alert">This name is taken.</p>`, `value="demo"`, `value="mesh" checked`)
	values := w.payload().View.State.Values
	require.Equal(t, "demo", values["name"]["name"]["value"])
	require.Len(t, values["addons"]["addons"]["selected_options"], 2)
	fields.Set("do", "click:"+w.blockOf("why")+"/why")
	w.page("/playground/view", fields)
	require.Equal(t, "why", w.payload().Actions[0].Action)
	w.responds("")
	fields.Set("do", "submit")
	require.NotContains(t, w.page("/playground/view", fields), "modal-title")
	w.has(w.page("/playground/view", fields), "this form is closed")
}

// blockOf finds the block of rob's modal in which an element is.
func (w *workspace) blockOf(action string) string {
	var blocks []struct {
		ID        string `json:"block_id"`
		Accessory struct {
			Action string `json:"action_id"`
		}
	}
	require.NoError(w.t, json.Unmarshal(w.Modal("rob").Blocks, &blocks))
	for _, b := range blocks {
		if b.Accessory.Action == action {
			return b.ID
		}
	}
	return ""
}

func TestHomeAndChannelsCanBeUsed(t *testing.T) {
	w := start(t)
	w.has(w.page("/playground/home", url.Values{"as": {"maya"}}), "has published no Home for Maya yet")
	w.call("views.publish", map[string]string{"user_id": "U0DEMOMAYA", "view": `{"type":"home","blocks":` + buttons + `}`})
	w.has(w.page("/playground?as=maya&channel=home", nil), `name="do" value="click:a/go"`)
	w.page("/playground/view", url.Values{"as": {"maya"}, "channel": {"home"}, "at": {w.Home("maya").ID}, "do": {"click:a/go"}})
	require.Equal(t, "go", w.payload().Actions[0].Action)

	w.has(w.page("/playground/channel", url.Values{"as": {"maya"}, "channel": {slack.Clusters}, "do": {"kick"}}), "without the app", "Invite the app")
	require.NotContains(t, w.page("/playground/channel", url.Values{"as": {"maya"}, "channel": {slack.Clusters}, "do": {"invite"}}), "without the app")
	w.has(w.page("/playground/channel", url.Values{"as": {"maya"}, "channel": {slack.Clusters}, "do": {"archive"}}), "an archived channel")
	w.has(w.page("/playground/channel", url.Values{"as": {"maya"}, "channel": {slack.Clusters}, "do": {"unarchive"}}), "Message #clusters")
}

func TestMarkupIsRenderedAsSlackRendersIt(t *testing.T) {
	w := start(t)
	for text, want := range map[string]string{
		"_a_ ~b~ *c `d`*":                              "<em>a</em> <s>b</s> <strong>c <code>d</code></strong>",
		"```\nx &lt; *y*\n```":                         "<pre>x &lt; *y*</pre>",
		"&gt; quoted\nnot":                             "<blockquote>quoted</blockquote>not",
		"<!date^0^{date_short} at {time}|then>":        `<time datetime="1970-01-01T00:00:00Z" title="then">Jan 1, 1970 at 00:00</time>`,
		"<!subteam^S0DEMOPAYM> <!here> <javascript:x>": `<span class="mention">@payments-oncall</span> <span class="mention">@here</span> &lt;javascript:x&gt;`,
		":rocket: :unknown: 10:30:20":                  "🚀 :unknown: 10:30:20",
		"snake_case_name":                              "snake_case_name",
	} {
		w.call("chat.postMessage", map[string]string{"channel": slack.Payments, "text": text})
		w.has(w.page("/playground/live?as=maya&channel="+slack.Payments, nil), want)
	}
}

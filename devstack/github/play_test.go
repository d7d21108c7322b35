package github

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type browser struct {
	t *testing.T
	*http.Client
	base string
}

func open(t *testing.T, s *Server) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t, &http.Client{Jar: jar}, s.URL()}
}

func (b *browser) get(path string) string {
	b.t.Helper()
	resp, err := b.Get(b.base + path)
	require.NoError(b.t, err)
	return b.read(resp)
}

func (b *browser) post(path string, form url.Values) string {
	b.t.Helper()
	resp, err := b.PostForm(b.base+path, form)
	require.NoError(b.t, err)
	return b.read(resp)
}

func (b *browser) read(resp *http.Response) string {
	b.t.Helper()
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	require.Less(b.t, resp.StatusCode, 400, "%s: %s", resp.Request.URL, body)
	return string(body)
}

func TestThePlaygroundSaysWhatItIs(t *testing.T) {
	s := start(t, Config{})
	b := open(t, s)
	for _, path := range []string{"/playground", "/playground/pulls/41", "/playground/deliveries", "/acme/shop/pull/41", "/"} {
		require.Contains(t, b.get(path), "A playground, not GitHub.", path)
	}
	list := b.get("/playground")
	for _, pr := range Pulls(s.now()) {
		require.Contains(t, list, pr.Title)
	}
	require.Contains(t, list, "from the fork outsider/shop")
	require.Contains(t, list, "acme/api")
	require.Contains(t, b.get("/playground/style.css"), "--paper")
	require.Contains(t, b.get("/playground/script.js"), "refresh")
}

func TestAPullRequestIsPlayedWithFormsAlone(t *testing.T) {
	s, in := withInbox(t)
	b := open(t, s)
	page := b.post("/playground/pulls/41/label", url.Values{"label": {"ocp/aws-minimal-test"}})
	require.Contains(t, page, "Remove the label ocp/aws-minimal-test")
	require.Equal(t, "pull_request", in.next().event)
	b.post("/playground/pulls/41/label", url.Values{"label": {"bug"}, "text": {"ocp/of-my-own"}})
	in.next()
	pr, _ := s.PullRequest(41)
	require.Equal(t, []string{"ocp/aws-minimal-test", "ocp/of-my-own"}, pr.Labels)
	b.post("/playground/pulls/41/unlabel", url.Values{"label": {"ocp/of-my-own"}})
	in.next()

	b.post("/playground/as", url.Values{"login": {"will"}, "back": {"/playground/pulls/41"}})
	page = b.post("/playground/pulls/41/comment", url.Values{"body": {"/ocp status\r\nplease"}})
	require.Contains(t, page, "/ocp status")
	require.Contains(t, b.get("/playground/pulls/41/live"), `id="live-talk"`)
	require.Equal(t, "issue_comment", in.next().event)
	all := s.Comments(41)
	require.Equal(t, "will", all[0].Author)
	require.Equal(t, "/ocp status\nplease", all[0].Body)

	require.Contains(t, b.post("/playground/pulls/41/close", nil), "Reopen pull request")
	in.next()
	require.Contains(t, b.post("/playground/pulls/41/reopen", nil), "Close pull request")
	in.next()
	settled(t, s)
	require.Contains(t, b.get("/playground/deliveries"), "issue_comment")
}

func TestEveryMoveOfAPullRequestHasItsButton(t *testing.T) {
	s := start(t, Config{})
	b := open(t, s)
	require.Contains(t, b.post("/playground/pulls/41/draft", nil), "Ready for review")
	require.Contains(t, b.get("/playground"), "Draft")
	require.Contains(t, b.post("/playground/pulls/41/ready", nil), "Merge pull request")
	before, _ := s.PullRequest(41)
	b.post("/playground/pulls/41/push", nil)
	after, _ := s.PullRequest(41)
	require.NotEqual(t, before.HeadSHA, after.HeadSHA)
	require.Contains(t, b.get("/playground/pulls/41"), "Push .github/ocpctl.yaml")
	b.post("/playground/pulls/41/push", url.Values{"path": {".github/ocpctl.yaml"}, "content": {"ttl: 8h\r\n"}})
	after, _ = s.PullRequest(41)
	raw := asTokenHolder(t, s, nil).want(200, "GET /repos/acme/shop/contents/.github/ocpctl.yaml?ref="+after.HeadSHA, "")
	require.Equal(t, "dHRsOiA4aAo=", strings.TrimSpace(raw["content"].(string)))
	b.post("/playground/pulls/41/comment", url.Values{"body": {"/ocp approve"}})
	require.Equal(t, "/ocp approve", s.Comments(41)[0].Body)
	merged := b.post("/playground/pulls/41/merge", nil)
	require.Contains(t, merged, "Merged")
	require.NotContains(t, merged, "Reopen pull request")
	b.post("/playground/pulls/42/branch", nil)
	pr, _ := s.PullRequest(42)
	require.False(t, pr.Open)
	require.Contains(t, b.get("/playground/pulls/42"), "branch deleted")
	b.post("/playground/as", url.Values{"login": {"rita"}})
	require.Contains(t, b.post("/playground/pulls/43/merge", nil), "rita may not do that here")
	require.Contains(t, b.post("/playground/pulls/43/push", nil), "rita may not do that here")
}

func TestChecksDeploymentsAndReactionsAreShown(t *testing.T) {
	s, in := withInbox(t)
	b, app := open(t, s), asTokenHolder(t, s, nil)
	pr, _ := s.PullRequest(41)
	app.want(201, "POST /repos/acme/shop/check-runs", `{"name":"ocpctl","head_sha":"`+pr.HeadSHA+`","details_url":"https://ocpctl.example/c/1","output":
		{"title":"2 problems","summary":"s","annotations":[{"path":"a.yaml","start_line":3,"end_line":3,"annotation_level":"failure","message":"want a duration","title":"ttl"}]},
		"actions":[{"label":"Extend 2h","description":"Two hours more","identifier":"extend"}]}`)
	in.next()
	at := "POST /repos/acme/shop/deployments"
	d := num(app.want(201, at, `{"ref":"`+pr.HeadSHA+`","auto_merge":false,"required_contexts":[],"environment":"ocp/pr41-shop"}`)["id"])
	app.want(201, at+"/"+d+"/statuses", `{"state":"success","environment_url":"https://console.example","description":"ready until eight"}`)
	id, err := s.Comment(41, "words", "will")
	require.NoError(t, err)
	in.next()
	app.want(201, "POST /repos/acme/shop/issues/comments/"+itoa(id)+"/reactions", `{"content":"eyes"}`)
	page := b.get("/playground/pulls/41")
	for _, want := range []string{"Extend 2h", "a.yaml:3", "want a duration", "ocp/pr41-shop", "https://console.example", "ready until eight", "👀 1", "https://ocpctl.example/c/1"} {
		require.Contains(t, page, want)
	}
	require.NoError(t, s.Push(41, "will"))
	in.next()
	require.NoError(t, s.Rename("store", "ada"))
	in.next()
	require.Contains(t, b.get("/playground/pulls/41"), "ocp/pr41-shop", "what was deployed before the push and the other name stays in sight")
	require.NoError(t, s.In("acme/store").Rename("shop", "ada"))
	in.next()
	check := itoa(s.In("acme/shop").ChecksOf(pr.HeadSHA)[0].ID)
	b.post("/playground/pulls/41/press", url.Values{"check": {check}, "identifier": {"extend"}})
	require.Equal(t, "check_run", in.next().event)
	b.post("/playground/pulls/41/rerun", url.Values{"check": {check}})
	require.Equal(t, "check_run", in.next().event)
	b.post("/playground/as", url.Values{"login": {"rita"}})
	require.Contains(t, b.post("/playground/pulls/41/rerun", url.Values{"check": {check}}), "rita may not do that here")
}

func TestOtherRepositoriesAndTheAppHavePages(t *testing.T) {
	s := start(t, Config{})
	b := open(t, s)
	require.Contains(t, b.get("/playground/in/acme/api"), "Orders: page through the list by cursor")
	require.Contains(t, b.get("/acme/api/pull/8"), "FIRST TIME CONTRIBUTOR")
	b.post("/playground/in/acme/api/pulls/7/label", url.Values{"label": {"bug"}})
	pr, _ := s.In(SecondRepo).PullRequest(7)
	require.True(t, pr.Has("bug"))
	here, _ := s.PullRequest(41)
	require.False(t, here.Has("bug"))

	require.Contains(t, b.get("/playground/app"), "deployments")
	require.Contains(t, b.post("/playground/app/suspend", nil), "suspended by maya")
	require.Contains(t, b.post("/playground/app/unsuspend", nil), "Suspend")
	require.Contains(t, b.post("/playground/app/uninstall", nil), "It is not installed")
	require.Contains(t, b.post("/playground/app/install", nil), "5002")
	b.post("/playground/app/add", url.Values{"repo": {PrivateRepo}})
	require.True(t, s.world.Repos[2].Access)
	require.Contains(t, b.post("/playground/app/rename", url.Values{"repo": {SecondRepo}, "name": {"orders"}}), "acme/orders")
	require.Contains(t, b.post("/playground/app/rename", url.Values{"repo": {"acme/orders"}, "name": {"shop"}}), "GitHub would not take that", "the name is taken")
	b.post("/playground/app/lose", nil)
	require.Equal(t, 1, s.faults.drop)
	b.post("/playground/app/strict", nil)
	require.True(t, s.meter.limits.Strict)
}

func TestWhoMayOnlyReadIsToldSo(t *testing.T) {
	s := start(t, Config{})
	b := open(t, s)
	b.post("/playground/as", url.Values{"login": {"rita"}})
	require.Contains(t, b.post("/playground/pulls/41/label", url.Values{"label": {"bug"}}), "rita may not do that here")
	require.Contains(t, b.post("/playground/pulls/41/close", nil), "rita may not do that here")
	require.Contains(t, b.post("/playground/pulls/46/close", nil), "Reopen pull request", "she wrote #46")
	require.Contains(t, b.post("/playground/pulls/41/comment", url.Values{"body": {" "}}), "GitHub would not take that")
	b.post("/playground/pulls/41/comment", url.Values{"body": {"/ocp create"}})
	require.Equal(t, "rita", s.Comments(41)[0].Author)
	gone := url.Values{"comment": {itoa(s.Comments(41)[0].ID)}}
	require.Contains(t, b.post("/playground/pulls/41/delete", gone), "rita may not do that here")
	b.post("/playground/as", url.Values{"login": {"will"}})
	b.post("/playground/pulls/41/delete", gone)
	require.Empty(t, s.Comments(41))
}

func TestAPagesPersonMayCallTheAPI(t *testing.T) {
	s := start(t, Config{})
	b := open(t, s)
	b.post("/playground/as", url.Values{"login": {"will"}})
	require.Contains(t, b.get("/repos/acme/shop/pulls/41"), `"number":41`)
	resp, err := b.Post(b.base+"/repos/acme/shop/issues/41/comments", "application/json", strings.NewReader(`{"body":"hi"}`))
	require.NoError(t, err)
	require.Contains(t, b.read(resp), `"login":"will"`)
	resp, err = b.Post(b.base+"/repos/acme/shop/check-runs", "application/json", strings.NewReader(`{}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 403, resp.StatusCode, "check runs are for Apps")
}

func TestAnotherSitesPageMayNotAct(t *testing.T) {
	s := start(t, Config{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/playground/pulls/41/close", nil)
	require.NoError(t, err)
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	pr, _ := s.PullRequest(41)
	require.True(t, pr.Open)
}

func TestTheLivePartIsSentOnlyWhenItChanged(t *testing.T) {
	s := start(t, Config{})
	live := func(tag string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/playground/pulls/41/live", nil)
		require.NoError(t, err)
		req.Header.Set("If-None-Match", tag)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp
	}
	first := live("")
	require.Equal(t, 200, first.StatusCode)
	require.Equal(t, 304, live(first.Header.Get("ETag")).StatusCode)
	_, err := s.Comment(41, "news", Bot)
	require.NoError(t, err)
	require.Equal(t, 200, live(first.Header.Get("ETag")).StatusCode)
}

func TestWebhooksThatTellOfTheSameAreShownAsOne(t *testing.T) {
	edit := Delivery{Event: "issue_comment", Action: "edited", State: Delivered}
	label := Delivery{Event: "pull_request", Action: "labeled", State: Delivered}
	var times []int
	for _, d := range folded([]Delivery{edit, edit, edit, label, edit}, 2) {
		times = append(times, d.Times)
	}
	require.Equal(t, []int{3, 1}, times)
}

func TestCommentsAreShownSafely(t *testing.T) {
	for body, want := range map[string]string{
		"**Ready** in `us-east-1`":                                "<p><strong>Ready</strong> in <code>us-east-1</code></p>\n",
		"x\n\n<!-- ocpctl:sub_01 -->":                             "<p>x</p>\n",
		"<script>alert(1)</script>":                               "&lt;script&gt;alert(1)&lt;/script&gt;",
		"a <img src=x onerror=alert(1)> b":                        "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n",
		"[x](javascript:alert(1))":                                "<p><a href=\"\">x</a></p>\n",
		"a <kbd>b</kbd><br> <b onclick=x>c</b>":                   "<p>a <kbd>b</kbd><br> &lt;b onclick=x&gt;c</b></p>\n",
		"<details>\n<summary>More</summary>\n\n- x\n\n</details>": "<details>\n<summary>More</summary>\n<ul>\n<li>x</li>\n</ul>\n</details>",
	} {
		require.Equal(t, want, string(rendered(body)), body)
	}
	require.Contains(t, string(rendered("| a | b |\n|---|---|\n| 1 | 2 |")), "<td>1</td>")
}

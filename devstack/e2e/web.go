package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// scenario holds the state that the test keeps between its chapters.
type scenario struct {
	at    Places
	out   io.Writer
	began time.Time
	web   *http.Client // a browser signed in as maya
}

// open makes the browser act as maya on GitHub, and opens the test's pull requests without labels, whatever an earlier run left.
func (t *scenario) open(ctx context.Context) (err error) {
	defer must.Catch(&err)
	t.web = must.Get(newBrowser())
	must.Do(t.as(ctx, "maya"))
	for _, n := range []int{labelled, timed, early, spoken, forked} {
		must.Do(t.bare(ctx, n))
	}
	return nil
}

// bare opens a pull request again and removes its labels, and waits until it has no live cluster.
func (t *scenario) bare(ctx context.Context, n int) (err error) {
	defer must.Catch(&err)
	var pr struct {
		State  string
		Labels []struct{ Name string }
	}
	must.Do(t.get(ctx, t.at.GitHub+fmt.Sprintf("/repos/acme/shop/pulls/%d", n), &pr))
	live := must.Get(t.clusters(ctx, n, true))
	if len(live) > 0 && pr.State == "open" {
		must.Do(t.comment(ctx, n, "/ocp destroy"))
	}
	for _, l := range pr.Labels {
		must.Do(t.act(ctx, n, "unlabel", url.Values{"label": {l.Name}}))
	}
	must.Do(until(ctx, 2*time.Minute, func() error {
		live, err := t.clusters(ctx, n, true)
		if err == nil && len(live) > 0 {
			err = fmt.Errorf("pull request #%d still has %s, %s", n, live[0].Name, live[0].Status)
		}
		return err
	}))
	if pr.State != "open" {
		return t.act(ctx, n, "reopen", nil)
	}
	return nil
}

// as changes the person as whom the browser acts.
func (t *scenario) as(ctx context.Context, login string) error {
	return t.post(ctx, t.at.GitHub+"/playground/as", url.Values{"login": {login}})
}

// act submits one of the playground's forms on a pull request.
func (t *scenario) act(ctx context.Context, n int, what string, form url.Values) error {
	return t.post(ctx, fmt.Sprintf("%s/playground/pulls/%d/%s", t.at.GitHub, n, what), form)
}

func (t *scenario) comment(ctx context.Context, n int, body string) error {
	return t.act(ctx, n, "comment", url.Values{"body": {body}})
}

func (t *scenario) post(ctx context.Context, to string, form url.Values) error {
	return submit(ctx, t.web, to, form)
}

// submit sends a form as a browser does, and follows redirects.
func submit(ctx context.Context, browser *http.Client, to string, form url.Values) error {
	_, err := submitPage(ctx, browser, to, form)
	return err
}

// submitPage is submit, and returns the page that follows.
func submitPage(ctx context.Context, browser *http.Client, to string, form url.Values) (body string, err error) {
	defer must.Catch(&err)
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode())))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp := must.Get(browser.Do(req))
	defer resp.Body.Close()
	said := resp.Request.URL.Query().Get("said")
	must.FailIf(said != "", "POST %s: %s", to, said)
	must.FailIf(resp.StatusCode != http.StatusOK, "POST %s: %s", to, resp.Status)
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func (t *scenario) get(ctx context.Context, from string, into any) (err error) {
	defer must.Catch(&err)
	raw, status := must.Get2(t.fetch(ctx, from, ""))
	must.FailIf(status != http.StatusOK, "GET %s: %d %s", from, status, raw)
	return json.Unmarshal(raw, into)
}

// fetch gets a URL, with a bearer token if there is one.
func (t *scenario) fetch(ctx context.Context, from, token string) (_ []byte, _ int, err error) {
	defer must.Catch(&err)
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, from, nil))
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp := must.Get(t.web.Do(req))
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return raw, resp.StatusCode, err
}

// hook posts a webhook signed with the secret, and returns the status.
func (t *scenario) hook(ctx context.Context, event, delivery, secret string, body []byte) (_ int, err error) {
	defer must.Catch(&err)
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, t.at.Public+"/webhooks/github", bytes.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-GitHub-Delivery", delivery)
	if secret != "" {
		req.Header.Set("X-Hub-Signature-256", github.Sign(secret, body))
	}
	resp := must.Get(t.web.Do(req))
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// cluster is the part of the API's responses that the test checks.
type cluster struct {
	ClusterID, Name, Status, Phase, Why, APIURL, ConsoleURL, EndReason string
	DestroyAt                                                          time.Time
	PullRequest                                                        struct{ Number int }
	Timeline                                                           []struct{ From, To string }
	Proof                                                              []struct {
		Clean     bool
		Queries   []json.RawMessage
		Leftovers []json.RawMessage
	}
}

// clusters returns a pull request's clusters, newest first; live: only those not released.
func (t *scenario) clusters(ctx context.Context, n int, live bool) (_ []cluster, err error) {
	defer must.Catch(&err)
	var page struct{ Items []cluster }
	raw, status := must.Get2(t.fetch(ctx, t.at.Private+"/api/v1/clusters?limit=200", t.at.Requester))
	must.FailIf(status != http.StatusOK, "GET /api/v1/clusters: %d %s", status, raw)
	must.Do(json.Unmarshal(raw, &page))
	out := pick.Every(page.Items, func(c cluster) bool { return c.PullRequest.Number == n && (!live || c.Status != "DESTROYED") })
	return out, nil
}

// details returns one cluster's full record.
func (t *scenario) details(ctx context.Context, id string) (c cluster, err error) {
	raw, status, err := t.fetch(ctx, t.at.Private+"/api/v1/clusters/"+id, t.at.Requester)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET /api/v1/clusters/%s: %d %s", id, status, raw)
	}
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(raw, &c)
}

// comments returns the conversation of a pull request, oldest first.
func (t *scenario) comments(ctx context.Context, n int) ([]string, error) {
	var list []struct{ Body string }
	err := t.get(ctx, fmt.Sprintf("%s/repos/acme/shop/issues/%d/comments?per_page=100", t.at.GitHub, n), &list)
	return pick.Map(list, func(c struct{ Body string }) string { return c.Body }), err
}

// left returns how many resources of a cluster the stand-in cloud still has.
func (t *scenario) left(ctx context.Context, name string) (int, error) {
	var list []json.RawMessage
	err := t.get(ctx, t.at.AWS+"/_standin/resources?match="+url.QueryEscape(name), &list)
	return len(list), err
}

// newBrowser returns a client with its own cookies.
func newBrowser() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	return &http.Client{Jar: jar, Timeout: 20 * time.Second}, err
}

// closed checks that a page redirects to the sign-in, and that a guessed password fails.
func (t *scenario) closed(ctx context.Context) (err error) {
	defer must.Catch(&err)
	browser := must.Get(newBrowser())
	at, _ := must.Get2(page(ctx, browser, http.MethodGet, t.at.Private+"/"))
	must.FailIf(at.Path != "/login", "the list is at %s", at)
	must.FailIf(saml.SignIn(ctx, browser, t.at.Private, "maya", "guessed", "/") == nil, "a guess signed somebody in")
	return nil
}

// signedIn signs one of the demo's people in and out again, as a browser does.
func (t *scenario) signedIn(ctx context.Context, login, name string) (err error) {
	defer must.Catch(&err)
	browser := must.Get(newBrowser())
	must.Do(saml.SignIn(ctx, browser, t.at.Private, login, "demo-"+login, "/"))
	at, body := must.Get2(page(ctx, browser, http.MethodGet, t.at.Private+"/"))
	must.FailIf(at.Path != "/" || !strings.Contains(body, name), "%s is shown %s without the name", login, at)
	must.Get2(page(ctx, browser, http.MethodPost, t.at.Private+"/logout"))
	if at, _, err = page(ctx, browser, http.MethodGet, t.at.Private+"/"); err == nil && at.Path != "/login" {
		err = fmt.Errorf("%s is still signed in", login)
	}
	return err
}

// page returns the URL at which a browser arrives, and the page there.
func page(ctx context.Context, browser *http.Client, method, to string) (_ *url.URL, _ string, err error) {
	defer must.Catch(&err)
	r := must.Get(http.NewRequestWithContext(ctx, method, to, nil))
	answer := must.Get(browser.Do(r))
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer.Request.URL, string(raw), err
}

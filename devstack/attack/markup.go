package attack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/rendered"
)

// markupAttacks write markup wherever strangers can write, and check every place that may show it.
func markupAttacks() []attack {
	return []attack{
		{name: "markup/pages", who: "author of a pull request, requester", tried: "HTML in titles, branches, reasons, names and owners, on every page", play: markupOnPages},
		{name: "markup/comments", who: "reader", tried: "links, mentions, references and HTML in comments that the bot answers", short: true, play: markupInComments},
		{name: "markup/pull-request", who: "author of a pull request", tried: "links, mentions and HTML in title and branch, in comments, checks and deployments", play: markupOfPull},
		{name: "markup/injection", who: "requester", tried: "SQL, templates, paths and headers in every parameter of the API and the pages", play: injections},
	}
}

// The strangers' markup. Nobody else uses these words, so wherever they are found they came from there.
const (
	element   = `<img src=x onerror=alert(1)>`
	attribute = `"><svg/onload=alert(1)>`
	markdown  = "[click](https://evil.example/a) ![p](https://evil.example/b.png) @acme/everybody acme/shop#1 https://evil.example/c www.evil.example <a href=\"https://evil.example/d\">e</a>"
	branch    = `x"><svg/onload=alert(1)>-[b](https://evil.example/g)-@acme/everybody`
)

// liveHTML returns the markup that a page interprets; empty: none.
func liveHTML(page string) string {
	for _, begin := range []string{"<img src=x", "<svg/onload", `onerror=alert(1)>"`, `href="https://evil`, `href="javascript:`} {
		if strings.Contains(page, begin) {
			i := strings.Index(page, begin)
			return page[max(0, i-40):min(len(page), i+60)]
		}
	}
	return ""
}

// strange matches the strangers' words in a link, a mention, a reference or HTML.
var strange = regexp.MustCompile(`evil\.example|@?acme|shop#1|^HTML: `)

// liveMarkdown returns the strangers' words that a comment renders as more than text; empty: none.
func liveMarkdown(body string) string {
	found := rendered.Calls(body, rendered.Own{})
	if i := slices.IndexFunc(found, strange.MatchString); i >= 0 {
		return found[i]
	}
	return ""
}

// everyPage opens all pages, including a cluster's, and returns their content by URL.
func (t *target) everyPage(ctx context.Context, id string) (_ map[string]string, err error) {
	defer must.Catch(&err)
	delivery := must.Get(t.delivery(ctx))
	var approval string
	must.Do(t.pool.QueryRow(ctx, "SELECT coalesce((SELECT id FROM approvals ORDER BY created_at DESC LIMIT 1), 'none')").Scan(&approval))
	pages := map[string]string{}
	for _, at := range []string{
		"/", "/clusters/" + id, "/clusters/" + id + "/destroy", "/new", "/approvals", "/approvals/" + approval, "/me", "/limits", "/policy", "/usage", "/findings",
		"/deliveries", "/deliveries/" + delivery, "/audit", "/runbooks", "/login?next=" + url.QueryEscape(attribute), "/new?name=" + url.QueryEscape(attribute) + "&owner=" + url.QueryEscape(element),
		"/?name=" + url.QueryEscape(attribute), "/audit?actor=" + url.QueryEscape(element), "/deliveries?event=" + url.QueryEscape(attribute), "/clusters/" + url.PathEscape(element), "/" + url.PathEscape(element),
		"/usage?from=" + url.QueryEscape(element), "/runbooks/" + url.PathEscape(element), "/links/" + url.PathEscape(element), "/api/docs",
	} {
		got := must.Get(t.page(ctx, oidc.Admin, at))
		must.FailIf(got.status >= 500, "GET %s was answered %d", at, got.status)
		pages[at] = string(got.body)
	}
	return pages, nil
}

func markupOnPages(ctx context.Context, t *target) (result, error) {
	who := oidc.Claims{Subject: "html" + element, Name: "Mallory " + element, Groups: []string{"platform"}, Role: "requester"}
	c := must.Get(t.as(who))
	id, err := c.createFrom(ctx, v1.CreateRequest{Name: t.unique("markup"), Profile: smallProfile, Owner: "maya"}) // a tag does not accept such a name
	must.Do(err)
	must.Get(t.becomes(ctx, id, "ready"))
	at := "/api/v1/clusters/" + id
	for verb, body := range map[string]any{
		"/hold": map[string]any{"hours": 1, "reason": attribute + element}, "/transfer": map[string]any{"team": "platform", "owner": element},
		"/shares": map[string]any{"kind": "principal", "with": "saml:" + attribute}, "/break-glass": map[string]any{"reason": element + attribute},
	} {
		must.Get(patient(ctx, func() (answer, error) { return c.ask(ctx, http.MethodPost, at+verb, body) }))
	}
	must.Get(t.GitHub.OpenFrom("Title "+element, branch, "maya"))
	must.Do(t.settled(ctx))
	pages := must.Get(t.everyPage(ctx, id))
	shown := 0
	for at, page := range pages {
		live := liveHTML(page)
		throughIf(live != "", "GET %s shows %q", at, live)
		shown += strings.Count(page, "&lt;img src=x")
	}
	must.FailIf(shown == 0, "none of the pages shows what was written, so nothing was tried")
	return held("%d pages show the markup %d times, always as text", len(pages), shown)
}

// textsWithMarkup are commands with markup in every argument, and in some places without one.
func textsWithMarkup() []string {
	texts := []string{
		"/ocp create " + markdown, "/ocp " + markdown, "/ocp create x`" + markdown, "/ocp create ``" + markdown, "/ocp-create " + markdown, "/ocp hold 4h " + markdown,
		"/ocp share @acme/everybody", "/ocp approve https://evil.example/x", "/ocp logs www.evil.example", "/ocp status acme/shop#1", "/ocp create " + element, "/ocp scale @acme/everybody",
		"/ocp destroy --reason " + markdown, "/ocp refuse --reason " + markdown,
	}
	for _, value := range []string{"@acme/everybody", "https://evil.example/x", "[x](https://evil.example)", "![x](//evil.example/p.png)", "acme/shop#1", "www.evil.example", "<img/src=https://evil.example>", "x`@acme/everybody`"} {
		for _, command := range []string{
			"create " + value, "create " + smallProfile + " --name " + value, "create " + smallProfile + " --region " + value, "create " + smallProfile + " --version " + value,
			"create " + smallProfile + " --ttl " + value, "create " + smallProfile + " --team " + value, "extend 4h " + value, "share --team " + value, "share --with github:" + value, "scale 2 " + value, "kubeconfig " + value,
		} {
			texts = append(texts, "/ocp "+command)
		}
	}
	return texts
}

func markupInComments(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.Open("Comments with markup", "maya"))
	texts := textsWithMarkup()
	for _, who := range []string{"outsider", "maya"} { // one without permissions, and one with
		for some := range slices.Chunk(texts, 5) { // as many commands as one comment may have
			must.Get(t.GitHub.Comment(pr, strings.Join(some, "\n"), who))
		}
	}
	must.Do(t.GitHub.Label(pr, "ocp/[x](https://evil.example)"[:28], "maya"))
	answered := must.Get(t.answers(ctx, pr, len(texts)/5))
	var live []string
	for _, body := range answered {
		if found := liveMarkdown(body); found != "" {
			live = append(live, fmt.Sprintf("%q", found))
		}
	}
	must.Do(t.GitHub.Close(pr, "maya"))
	if len(live) > 0 {
		return through("%d of %d answers hold live markup, such as %s", len(live), len(answered), live[0])
	}
	return held("%d commands and %d answers, the strangers' words in all of them as text", 2*len(texts), len(answered))
}

// answers returns the bot's comments of a pull request, once there are at least as many as expected.
func (t *target) answers(ctx context.Context, pr, least int) (bodies []string, err error) {
	if err := t.settled(ctx); err != nil {
		return nil, err
	}
	err = await(ctx, fmt.Sprintf("%d answers on #%d", least, pr), func(ctx context.Context) (bool, error) {
		bodies = bodies[:0]
		for _, c := range t.GitHub.Comments(pr) {
			if c.Author == github.Bot {
				bodies = append(bodies, c.Body)
			}
		}
		waiting, err := t.count(ctx, "SELECT count(*) FROM replies WHERE external_id = 0 AND number = $1", pr)
		return len(bodies) >= least && waiting == 0, err
	})
	return bodies, err
}

func markupOfPull(ctx context.Context, t *target) (result, error) {
	pr := must.Get(t.GitHub.OpenFrom("Title "+markdown+element, branch, "maya"))
	must.Do(t.GitHub.Label(pr, "ocp/"+smallProfile, "maya"))
	id := must.Get(t.clusterOfPull(ctx, pr))
	must.Get(t.becomes(ctx, id, "ready"))
	check := must.Get(t.checkOf(ctx, pr))
	texts := []string{check.Title, check.Summary, check.Text, check.DetailsURL}
	for _, d := range t.GitHub.Deployments() {
		texts = append(texts, d.Description, d.Environment)
		for _, s := range d.Statuses {
			texts = append(texts, s.Description, s.EnvironmentURL, s.LogURL)
		}
	}
	bodies := must.Get(t.answers(ctx, pr, 1))
	for _, text := range append(texts, bodies...) {
		if live := liveMarkdown(text); live != "" {
			return through("a text on the pull request holds %q", live)
		}
	}
	pages := must.Get(t.everyPage(ctx, id))
	for at, page := range pages {
		if live := liveHTML(page); live != "" {
			return through("GET %s shows %q", at, live)
		}
	}
	return held("%d texts on GitHub and %d pages, none with live markup", len(texts)+len(bodies), len(pages))
}

// injections puts other languages' syntax into every parameter, and looks for responses that only an interpreter gives.
func injections(ctx context.Context, t *target) (result, error) {
	c := must.Get(t.as(oidc.Admin))
	before := must.Get(t.count(ctx, "SELECT count(*) FROM clusters"))
	tried := 0
	for _, text := range []string{
		"' OR '1'='1", "'; DROP TABLE clusters; --", "1); SELECT pg_sleep(5); --", "{{.}}", "${7*7}", "{{7*7}}", "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "x\r\nSet-Cookie: a=b", "%00", "\x00", "%_%", "\\", "🙈" + strings.Repeat("ä", 300),
	} {
		q := url.QueryEscape(text)
		for _, at := range []string{
			"/api/v1/clusters?name=" + q, "/api/v1/clusters?owner=" + q, "/api/v1/clusters?cursor=" + q, "/api/v1/clusters?status=" + q, "/api/v1/clusters?limit=" + q, "/api/v1/clusters/" + url.PathEscape(text),
			"/api/v1/jobs?cluster=" + q, "/api/v1/audit?actor=" + q, "/api/v1/audit?from=" + q, "/api/v1/deliveries?topic=" + q, "/api/v1/profiles/" + url.PathEscape(text), "/api/v1/approvals?state=" + q, "/api/v1/reports/usage?team=" + q,
			"/api/v1/findings?kind=" + q, "/api/v1/links/" + url.PathEscape(text),
		} {
			got, err := patient(ctx, func() (answer, error) { return c.ask(ctx, http.MethodGet, at, nil) })
			must.Wrap(err, "GET %q", at)
			tried++
			throughIf(got.status >= 500 || strings.Contains(string(got.body), "root:x:0") || got.header.Get("Set-Cookie") != "" || strings.Contains(string(got.body), "pq:") || strings.Contains(string(got.body), "SQLSTATE"),
				"GET %q was answered %d %.100q", at, got.status, got.body)
		}
	}
	after, err := t.count(ctx, "SELECT count(*) FROM clusters")
	throughIf(err != nil || after < before, "there were %d clusters and are %d: %v", before, after, err)
	return held("%d requests, none answered by an interpreter or with a 5xx", tried)
}

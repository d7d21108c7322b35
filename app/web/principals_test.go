package web

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/store"
)

// columns are the principals of the table: of the cluster's team, admin, auditor, of another team, with a share to see, with a
// share to use, without a role; then one whose session is over, and nobody.
var columns = []string{"maya", "will", "ada", "rob", "sid", "una", "nora", "late", "nobody"}

// everybody says what each page and form answers to each of them: a status; "done" for a form that leads on and says what was
// done, "not" for one that leads back and says why nothing was; "login" for the way to sign in. "{id}" is a ready cluster of
// maya's team, new for each cell, "{approval}" her request for its password, "{link}" her link to its kubeconfig.
var everybody = map[string]struct {
	form url.Values
	want string // in the columns' order
}{
	"GET /{$}":                   {want: "200 200 200 200 200 200 403 login login"},
	"GET /clusters/{id}":         {want: "200 200 200 404 200 200 403 login login"},
	"GET /clusters/{id}/destroy": {want: "200 200 403 404 403 403 403 login login"},

	"POST /clusters/{id}/destroy":         {want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/extend":          {form: url.Values{"hours": {"1"}}, want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/hold":            {form: url.Values{"hours": {"1"}, "reason": {"x"}}, want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/unhold":          {want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/scale":           {form: url.Values{"replicas": {"2"}}, want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/share":           {form: url.Values{"kind": {"team"}, "with": {"payments"}}, want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/unshare":         {form: url.Values{"kind": {"principal"}, "with": {"{sid}"}}, want: "done done 403 404 done 403 403 login login"},
	"POST /clusters/{id}/transfer":        {form: url.Values{"team": {"platform"}, "owner": {"zoe"}}, want: "done done 403 404 403 403 403 login login"},
	"POST /clusters/{id}/retry":           {form: url.Values{"reason": {"x"}}, want: "not not 403 404 403 403 403 login login"},
	"POST /clusters/{id}/abandon":         {form: url.Values{"reason": {"x"}}, want: "403 not 403 404 403 403 403 login login"},
	"POST /clusters/{id}/kubeconfig":      {want: "200 200 403 404 403 200 403 login login"},
	"POST /clusters/{id}/kubeconfig-link": {want: "303 303 403 404 403 303 403 login login"},
	"POST /clusters/{id}/kubeadmin-link":  {want: "not not 403 404 403 403 403 login login"},
	"POST /clusters/{id}/break-glass":     {form: url.Values{"reason": {"x"}}, want: "done not 403 404 403 403 403 login login"}, // hers waits already

	"GET /new":                     {want: "200 200 403 200 403 403 403 login login"},
	"POST /new":                    {form: url.Values{"do": {"check"}, "name": {"x"}}, want: "200 200 403 200 403 403 403 login login"},
	"GET /approvals":               {want: "200 200 200 200 403 403 403 login login"},
	"GET /approvals/{id}":          {want: "200 200 200 404 403 403 403 login login"},
	"POST /approvals/{id}/approve": {want: "403 done 403 404 403 403 403 login login"},
	"POST /approvals/{id}/refuse":  {form: url.Values{"reason": {"x"}}, want: "403 done 403 404 403 403 403 login login"},
	"GET /links/{link}":            {want: "200 404 404 404 404 404 404 login login"},
	"POST /links/{link}":           {want: "200 404 404 404 404 404 404 login login"},

	"GET /me":                      {want: "200 200 200 200 200 200 200 login login"},
	"POST /me/unlink":              {form: url.Values{"account": {"github:nobody"}}, want: "404 404 404 404 404 404 404 login login"},
	"GET /limits":                  {want: "200 200 200 200 403 403 403 login login"},
	"POST /limits/reload":          {want: "403 done 403 403 403 403 403 login login"},
	"GET /usage":                   {want: "200 200 200 200 403 403 403 login login"},
	"GET /findings":                {want: "403 200 200 403 403 403 403 login login"},
	"GET /deliveries":              {want: "403 200 200 403 403 403 403 login login"},
	"GET /deliveries/{id}":         {want: "403 200 200 403 403 403 403 login login"},
	"POST /deliveries/{id}/replay": {form: url.Values{"reason": {"x"}}, want: "403 done 403 403 403 403 403 login login"},
	"GET /audit":                   {want: "403 200 200 403 403 403 403 login login"},
	"POST /audit/verify":           {want: "403 done done 403 403 403 403 login login"},
}

func TestEveryPageAndFormAnswersEverybodyAsItsRowSays(t *testing.T) {
	h := newHouse(t)
	for route := range (&pages{}).private() {
		require.Contains(t, everybody, route, "no row says who may")
	}
	browsers := map[string]*browser{}
	for _, name := range columns {
		browsers[name] = h.as(name).still()
	}
	h.shown("c0") // the front page is of those to whom something is shown
	n := 0
	for route, row := range everybody {
		want := strings.Fields(row.want)
		require.Len(t, want, len(columns), route)
		for i, name := range columns {
			n++
			got := h.cell(browsers[name], route, row.form, n)
			require.Equal(t, want[i], got, "%s by %s", route, name)
		}
	}
}

// cell asks for one page or form on things made for it, and says what came of it.
func (h *house) cell(b *browser, route string, form url.Values, n int) string {
	h.Helper()
	method, at, _ := strings.Cut(route, " ")
	at = strings.ReplaceAll(at, "{$}", "")
	if strings.Contains(at, "{") {
		at = h.filled(at, n)
	}
	sent := url.Values{}
	for name, values := range form {
		sent.Set(name, strings.ReplaceAll(values[0], "{sid}", h.id("sid")))
	}
	var status int
	var page string
	var answer *http.Response
	if method == http.MethodGet {
		status, page, answer = b.get(at)
	} else {
		status, page, answer = b.post(at, sent)
	}
	if status != http.StatusSeeOther {
		require.NotContains(h, page, "style=", "the policy would refuse it")
		require.NotRegexp(h, `<script>|onclick=`, page)
		return fmt.Sprint(status)
	}
	if strings.HasPrefix(answer.Header.Get("Location"), "/login") {
		require.Empty(h, answer.Header.Values("Set-Cookie"))
		return "login"
	}
	for _, c := range answer.Cookies() {
		if c.Name == saidCookie {
			return map[bool]string{false: "done", true: "not"}[toldBy(h, c.Value).Bad]
		}
	}
	return fmt.Sprint(status)
}

// filled puts ids of new things into an address.
func (h *house) filled(at string, n int) string {
	h.Helper()
	if strings.HasPrefix(at, "/deliveries/") {
		var id int64
		require.NoError(h, h.store.Pool().QueryRow(h.Context(), `
			INSERT INTO deliveries (source, delivery_id, event, body, received_at, state, finished_at)
			VALUES ('github', $1, 'ping', '{}', now(), 'done', now()) RETURNING id`, fmt.Sprint(n)).Scan(&id))
		return strings.ReplaceAll(at, "{id}", fmt.Sprint(id))
	}
	row := h.shown(fmt.Sprintf("c%d", n))
	switch {
	case strings.Contains(at, "{link}"):
		link, err := h.desk.KubeconfigLink(h.Context(), h.principal("maya"), row.ID, app.Deed{})
		require.NoError(h, err)
		return strings.ReplaceAll(at, "{link}", path.Base(link.URL.Reveal()))
	case strings.HasPrefix(at, "/approvals/"), strings.HasSuffix(at, "/break-glass"):
		asked, err := h.desk.BreakGlass(h.Context(), h.principal("maya"), row.ID, app.Deed{Why: "x"})
		require.NoError(h, err)
		if strings.HasPrefix(at, "/approvals/") {
			return strings.ReplaceAll(at, "{id}", asked.ID)
		}
	}
	return strings.ReplaceAll(at, "{id}", row.ID)
}

// What another team has and what does not exist look the same, on every page and to every form.
func TestAForeignClusterLooksLikeNone(t *testing.T) {
	h := newHouse(t)
	foreign, none := h.shown("shop").ID, store.NewID("clu")
	b := h.as("rob").still()
	for route, row := range everybody {
		method, at, _ := strings.Cut(route, " ")
		if !strings.HasPrefix(at, "/clusters/{id}") {
			continue
		}
		answer := func(id string) string {
			var status int
			var page string
			if method == http.MethodGet {
				status, page, _ = b.get(strings.ReplaceAll(at, "{id}", id))
			} else {
				status, page, _ = b.post(strings.ReplaceAll(at, "{id}", id), row.form)
			}
			require.Equal(t, http.StatusNotFound, status, route)
			page, _, found := strings.Cut(strings.ReplaceAll(page, id, "ID"), "<footer>") // there is a clock in it
			require.True(t, found)
			return page
		}
		require.Equal(t, answer(none), answer(foreign), route)
	}
}

// Every link that does not work is one page: unknown, used, over, or another's.
func TestALinkThatDoesNotWorkNeverSaysWhy(t *testing.T) {
	h := newHouse(t)
	row := h.shown("shop")
	made := func(who string) string {
		link, err := h.desk.KubeconfigLink(t.Context(), h.principal(who), row.ID, app.Deed{})
		require.NoError(t, err)
		return "/links/" + path.Base(link.URL.Reveal())
	}
	used, over := made("maya"), made("maya")
	b := h.as("maya")
	status, page, _ := b.post(used, nil)
	require.Equal(t, http.StatusOK, status, page)
	h.sql(`UPDATE links SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' WHERE used_at IS NULL`)
	pages := map[string]bool{}
	for _, at := range []string{"/links/none", used, over, made("will")} {
		for _, ask := range []func() (int, string, *http.Response){
			func() (int, string, *http.Response) { return b.get(at) },
			func() (int, string, *http.Response) { return b.post(at, nil) },
		} {
			status, page, answer := ask()
			require.Equal(t, http.StatusNotFound, status, at)
			require.Equal(t, "same-origin", answer.Header.Get("Referrer-Policy"))
			page, _, _ = strings.Cut(page, "<footer>")
			pages[page] = true
		}
	}
	require.Len(t, pages, 1)
}

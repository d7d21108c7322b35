package web

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
)

// columns are the principals of the matrix by the names they have in the cast.
var columns = map[matrix.Principal]string{
	matrix.Requester: "maya", matrix.Admin: "will", matrix.Auditor: "ada", matrix.OtherRequester: "rob", matrix.Sees: "sid", matrix.Uses: "una",
	matrix.NoRole: "nora", matrix.Expired: "late", matrix.TeamAdmin: "tess", matrix.TeamAuditor: "tom", matrix.OtherAdmin: "olga",
	matrix.Workload: "workflow", matrix.OtherWorkload: "builder",
}

// everybody are the rows of the matrix.
func everybody(t *testing.T) map[string]matrix.Row {
	t.Helper()
	rows, err := matrix.Pages()
	require.NoError(t, err)
	require.Empty(t, matrix.Missing(rows, Routes()))
	return rows
}

// sentBy is what a row posts.
func sentBy(row matrix.Row) url.Values {
	form := url.Values{}
	for name, value := range row.Form {
		form.Set(name, value)
	}
	return form
}

// attemptsToken is one that a runner would have.
func attemptsToken(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	raw, err := token.NewSigner(key, time.Hour).Sign("att_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT", "token", time.Now())
	require.NoError(t, err)
	return raw
}

func TestEveryPageAndFormAnswersEverybodyAsItsRowSays(t *testing.T) {
	h := newFixture(t)
	rows := everybody(t)
	browsers := map[matrix.Principal]*browser{matrix.Nobody: h.browser().still()}
	for who, name := range columns {
		browsers[who] = h.as(name).still()
	}
	browsers[matrix.Runner] = h.bearing(attemptsToken(t)).still()
	browsers[matrix.ClosedRunner] = browsers[matrix.Runner]
	h.shown("c0") // the front page is of those to whom something is shown
	n := 0
	for route, row := range rows {
		var got []string
		for _, who := range matrix.Principals {
			n++
			got = append(got, h.cell(browsers[who], route, row, n))
		}
		require.Equal(t, strings.Join(strings.Fields(row.Want), " "), strings.Join(got, " "), "%s: %v", route, matrix.Principals)
	}
}

// cell asks for one page or form on things made for it, and says what came of it.
func (h *fixture) cell(b *browser, route string, row matrix.Row, n int) string {
	h.Helper()
	method, at, _ := strings.Cut(route, " ")
	at = cmp.Or(row.Path, at)
	at = strings.ReplaceAll(at, "{$}", "")
	if strings.Contains(at, "{") {
		at = h.filled(at, n)
	}
	sent := url.Values{}
	for name, values := range sentBy(row) {
		sent.Set(name, strings.ReplaceAll(values[0], "{sees}", h.id("sid")))
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
	if to := answer.Header.Get("Location"); strings.HasPrefix(to, "/login") || strings.HasPrefix(to, auth.BeginPath) {
		require.Empty(h, answer.Header.Values("Set-Cookie"))
		return "login"
	}
	for _, c := range answer.Cookies() {
		if c.Name == saidCookie {
			return map[bool]string{false: "done", true: "not"}[noteOf(h, c.Value).Bad]
		}
	}
	return fmt.Sprint(status)
}

// filled puts ids of new things into an address.
func (h *fixture) filled(at string, n int) string {
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
		link, err := h.Credentials.AccessLink(h.Context(), h.principal("maya"), row.ID, credentials.Want{}, app.Origin{})
		require.NoError(h, err)
		servicetest.Mint(h, h.store, h.shelf)
		return strings.ReplaceAll(at, "{link}", path.Base(link.URL.Reveal()))
	case strings.HasPrefix(at, "/approvals/"), strings.HasSuffix(at, "/break-glass"):
		asked, err := h.Credentials.BreakGlass(h.Context(), h.principal("maya"), row.ID, credentials.BreakGlassPassword, app.Origin{Why: "x"})
		require.NoError(h, err)
		if strings.HasPrefix(at, "/approvals/") {
			return strings.ReplaceAll(at, "{id}", asked.ID)
		}
	case strings.HasSuffix(at, "/kubeconfig"), strings.HasSuffix(at, "/console"):
		want := credentials.Want{Console: strings.HasSuffix(at, "/console")}
		for _, name := range columns { // what a runner made of an earlier request, by a share or by a role in the team
			_, err := h.Credentials.GiveAccess(h.Context(), policy.As(h.id(name), name, policy.PlatformAdmin), row.ID, want, app.Origin{})
			require.NoError(h, err)
			_, _ = h.Credentials.GiveAccess(h.Context(), h.principal(name), row.ID, want, app.Origin{})
		}
		servicetest.Mint(h, h.store, h.shelf)
	}
	return strings.ReplaceAll(at, "{id}", row.ID)
}

var pageTimePattern = regexp.MustCompile(` data-now="[^"]*"`)

// withoutClocks is a page without the time at which it was made, which is in its main part and in the footer.
func withoutClocks(t *testing.T, page string) string {
	t.Helper()
	main, _, found := strings.Cut(page, "<footer>")
	require.True(t, found)
	require.Regexp(t, pageTimePattern, main)
	return pageTimePattern.ReplaceAllString(main, "")
}

// What another team has and what does not exist look the same, on every page and to every form.
func TestAForeignClusterLooksLikeNone(t *testing.T) {
	h := newFixture(t)
	foreign, none := h.shown("shop").ID, db.NewID("clu")
	b := h.as("rob").still()
	for route, row := range everybody(t) {
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
				status, page, _ = b.post(strings.ReplaceAll(at, "{id}", id), sentBy(row))
			}
			require.Equal(t, http.StatusNotFound, status, route)
			return withoutClocks(t, strings.ReplaceAll(page, id, "ID"))
		}
		require.Equal(t, answer(none), answer(foreign), route)
	}
}

// A link that does not work is one page for everybody whom it was not for: unknown, used, over, or another's. Whoever it was for learns how to get a
// new one.
func TestALinkThatDoesNotWorkSaysWhyOnlyToWhomItWasFor(t *testing.T) {
	h := newFixture(t)
	row := h.shown("shop")
	made := func(who string) string {
		link, err := h.Credentials.AccessLink(t.Context(), h.principal(who), row.ID, credentials.Want{}, app.Origin{})
		require.NoError(t, err)
		return "/links/" + path.Base(link.URL.Reveal())
	}
	used, over := made("maya"), made("maya")
	servicetest.Mint(t, h.store, h.shelf)
	b := h.as("maya")
	status, page, _ := b.post(used, nil)
	require.Equal(t, http.StatusOK, status, page)
	h.sql(`UPDATE links SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' WHERE used_at IS NULL`)
	seen := func(b *browser, links ...string) map[string]bool {
		pages := map[string]bool{}
		for _, at := range links {
			for _, ask := range []func() (int, string, *http.Response){
				func() (int, string, *http.Response) { return b.get(at) },
				func() (int, string, *http.Response) { return b.post(at, nil) },
			} {
				status, page, answer := ask()
				require.Equal(t, http.StatusNotFound, status, at)
				require.Equal(t, "same-origin", answer.Header.Get("Referrer-Policy"))
				pages[withoutClocks(t, page)] = true
			}
		}
		return pages
	}
	require.Len(t, seen(b, "/links/none", made("will")), 1)
	require.Len(t, seen(h.as("will"), "/links/none", used, over, made("maya")), 1)
	for at, why := range map[string]string{used: "was used before, and a link works once", over: "expired at"} {
		for page := range seen(b, at) {
			require.Contains(t, page, "This link to your kubeconfig of shop "+why)
			require.Contains(t, page, "You can make a new one on the cluster&#39;s page, or with ocpctl kubeconfig shop.")
		}
	}
}

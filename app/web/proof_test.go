package web

import (
	"html"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// mayasNumber is the number of maya's account on the stand-in of GitHub.
const mayasNumber = 2001

func newProvingFixture(t *testing.T) (*fixture, clusters.Row) {
	h := newFixtureWith(t, func(h *fixture) { h.proves = true })
	_, err := h.store.People.RecordGitHubAccount(t.Context(), mayasNumber, "maya")
	require.NoError(t, err)
	row, err := h.store.Cluster(t.Context(), h.shown("shop").ID)
	require.NoError(t, err)
	return h, row
}

// asked is the path of the link that the reply to maya's command has.
func (h *fixture) asked(row clusters.Row) string {
	h.Helper()
	account := profiles.GitHubPrincipal(mayasNumber)
	link, err := h.Credentials.LinkToAsked(h.Context(), account, "2001", row, credentials.Want{Role: "view"}, clusters.Origin{Actor: account, Source: "pr_comment"})
	require.NoError(h, err)
	return strings.TrimPrefix(link.URL.Reveal(), h.base)
}

var onward = regexp.MustCompile(`class="button" href="([^"]+)"`)

// goOn presses Continue with GitHub, and returns the request with which GitHub is asked.
func (b *browser) goOn(at string) url.Values {
	b.Helper()
	status, page, answer := b.post(at, url.Values{"with": {"github"}})
	require.Equal(b, http.StatusOK, status, page)
	to := html.UnescapeString(onward.FindStringSubmatch(page)[1])
	require.Equal(b, "0; url="+to, answer.Header.Get("Refresh"))
	u, err := url.Parse(to)
	require.NoError(b, err)
	require.Equal(b, b.github.URL()+"/login/oauth/authorize", u.Scheme+"://"+u.Host+u.Path)
	return u.Query()
}

// confirm confirms it on GitHub as somebody there, and returns the page of ours to which that leads.
func (b *browser) confirm(q url.Values, login string) string {
	b.Helper()
	answer, err := b.still().PostForm(b.github.URL()+"/login/oauth/authorize", url.Values{"query": {q.Encode()}, "login": {login}})
	require.NoError(b, err)
	require.NoError(b, answer.Body.Close())
	to, err := answer.Location()
	require.NoError(b, err)
	require.True(b, strings.HasPrefix(to.String(), b.base+ProofPath+"?"), to)
	return to.RequestURI()
}

func TestOneLinkSignsInLinksTheAccountAndHandsOver(t *testing.T) {
	h, row := newProvingFixture(t)
	at := h.asked(row)
	b := h.as("maya")
	_, page, _ := b.get(at)
	for _, want := range []string{"Your kubeconfig of shop", "<strong>maya</strong>, asked for it with the role view", "signed in as <strong>Maya</strong>", "Continue with GitHub", "If somebody sent it to you, close this page."} {
		require.Contains(t, page, want)
	}
	q := b.goOn(at)
	require.Equal(t, []string{"maya", "S256", "false"}, []string{q.Get("login"), q.Get("code_challenge_method"), q.Get("allow_signup")})
	back := b.confirm(q, "maya")
	_, page, answer := b.get(back)
	next := answer.Request.URL.Path
	require.True(t, strings.HasPrefix(next, "/links/") && next != at && next != ProofPath, next)
	for _, want := range []string{"Your GitHub account is linked to you.", "Your kubeconfig of shop", "data-at-once", "atonce.js"} {
		require.Contains(t, page, want)
	}
	linked, err := h.store.People.AccountOf(t.Context(), profiles.GitHubPrincipal(mayasNumber))
	require.NoError(t, err)
	require.Equal(t, h.id("maya"), linked.Principal)

	got := make(chan string)
	go func() {
		_, page, _ := b.post(next, nil)
		got <- page
	}()
	h.mintWhenAsked(row)
	require.Contains(t, <-got, "server: https://api.shop.labs.example.com:6443\n")
	require.Equal(t, "view", h.text(`SELECT role FROM access WHERE cluster_id = $1`, row.ID), "the role that was asked for")
	for _, used := range []string{at, next} {
		status, _, _ := b.get(used)
		require.Equal(t, http.StatusNotFound, status, "it works once")
	}
	status, page, _ := b.get(back)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, page, "Nothing was linked")
	require.NotContains(t, h.text(`SELECT string_agg(e::text, ' ') FROM audit_events e`), "ghu_")
}

func TestALinkGivesNothingToWhoeverIsNotTheAccountsOwner(t *testing.T) {
	h, row := newProvingFixture(t)
	at := h.asked(row)
	rob := h.as("rob")
	back := rob.confirm(rob.goOn(at), "rita")
	status, page, _ := rob.get(back)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, page, "Nothing was linked. On GitHub you are @rita, and this link is for @maya.")
	require.Contains(t, page, `name="choose"`, "GitHub asks which account is meant the next time")
	status, _, _ = rob.get(back)
	require.Equal(t, http.StatusBadRequest, status, "a state works once")

	maya := h.as("maya")
	q := maya.goOn(at)
	back = maya.confirm(q, "maya")
	for who, b := range map[string]*browser{"another person": rob, "another browser of hers": h.as("maya")} {
		status, page, _ = b.get(back)
		require.Equal(t, http.StatusBadRequest, status, who)
		require.Contains(t, page, "was not started in this browser")
	}
	thief := maya.copied() // with her cookies, but signed in as somebody else
	thief.takeSession(rob)
	status, page, _ = thief.get(back)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "signed in as somebody else")

	maya.goOn(at)
	status, _, _ = maya.get(back)
	require.Equal(t, http.StatusBadRequest, status, "a newer one replaced it")
	back = maya.confirm(maya.goOn(at), "maya")
	h.sql(`UPDATE links SET state_until = now()`)
	status, page, _ = maya.get(back)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "more than 10 minutes ago")
	require.Equal(t, "0", h.text(`SELECT count(*)::text FROM accounts`))
	require.Equal(t, "0", h.text(`SELECT count(*)::text FROM links WHERE kind = 'kubeconfig'`))

	back = maya.confirm(maya.goOn(at), "maya")
	status, _, _ = maya.get(back)
	require.Equal(t, http.StatusOK, status, "and all that used up nothing of hers")
}

func TestWhatGitHubDoesNotConfirmLinksNothing(t *testing.T) {
	h, row := newProvingFixture(t)
	at := h.asked(row)
	b := h.as("maya")
	for sent, want := range map[string]string{
		"error=access_denied": "you did not confirm it on GitHub", "error=redirect_uri_mismatch": "needs the callback URL " + h.base + ProofPath,
		"code=none": "was used before, or is too old",
	} {
		status, page, _ := b.get(ProofPath + "?" + sent + "&state=" + b.goOn(at).Get("state"))
		require.Equal(t, http.StatusConflict, status)
		require.Contains(t, page, want)
		require.Contains(t, page, "Continue with GitHub")
	}
	require.Equal(t, "0", h.text(`SELECT count(*)::text FROM accounts`))
}

func TestAnAccountThatAskedForNothingIsOnlyLinked(t *testing.T) {
	h, _ := newProvingFixture(t)
	account := profiles.GitHubPrincipal(mayasNumber)
	link, err := h.Credentials.AccountLink(t.Context(), account, "2001", clusters.Origin{Actor: account})
	require.NoError(t, err)
	b := h.as("maya")
	at := "/links/" + path.Base(link.URL.Reveal())
	_, page, _ := b.get(at)
	require.Contains(t, page, "Is the GitHub account maya yours?")
	_, page, answer := b.get(b.confirm(b.goOn(at), "maya"))
	require.Equal(t, "/me", answer.Request.URL.Path)
	require.Contains(t, page, "github:maya")

	taken, err := h.Credentials.AccountLink(t.Context(), account, "2001", clusters.Origin{Actor: account})
	require.NoError(t, err)
	will := h.as("will")
	at = "/links/" + path.Base(taken.URL.Reveal())
	status, page, _ := will.get(will.confirm(will.goOn(at), "maya"))
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "This account belongs to somebody else")
}

// takeSession signs the browser in as another one.
func (b *browser) takeSession(of *browser) {
	b.Helper()
	at, err := url.Parse(b.base)
	require.NoError(b, err)
	for _, c := range of.Jar.Cookies(at) {
		if strings.HasPrefix(c.Name, "ocpctl_session") {
			b.Jar.SetCookies(at, []*http.Cookie{{Name: c.Name, Value: c.Value, Path: "/"}})
		}
	}
}

// text is one value of the database.
func (h *fixture) text(query string, args ...any) (text string) {
	h.Helper()
	require.NoError(h, h.store.Pool().QueryRow(h.Context(), query, args...).Scan(&text))
	return text
}

// mintWhenAsked makes an access as soon as it is asked for.
func (h *fixture) mintWhenAsked(row clusters.Row) {
	h.Helper()
	require.Eventually(h, func() bool { return h.text(`SELECT count(*)::text FROM access WHERE cluster_id = $1`, row.ID) != "0" }, 10*time.Second, 10*time.Millisecond)
	servicetest.Mint(h, h.store, h.shelf)
}

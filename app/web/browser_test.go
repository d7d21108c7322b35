package web

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/saml"
	"github.com/ocpctl/ocpctl/policy"
)

// browser is a person at the pages.
type browser struct {
	*fixture
	*http.Client
}

func newBrowser(t *testing.T) *browser { return newFixture(t).browser() }

func (h *fixture) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(h, err)
	return &browser{h, &http.Client{Jar: jar}}
}

// cast are the people of the tests by what they may do.
var cast = map[string]oidc.Claims{
	"maya":  {Subject: "maya", Name: "Maya", Role: "requester", Groups: []string{"platform"}},
	"zoe":   {Subject: "zoe", Name: "Zoe", Role: "requester", Groups: []string{"platform", "payments"}},
	"rob":   {Subject: "rob", Name: "Rob", Role: "requester", Groups: []string{"payments"}},
	"will":  {Subject: "will", Name: "Will", Role: "platform_admin"},
	"wendy": {Subject: "wendy", Name: "Wendy", Role: "platform_admin"},
	"ada":   {Subject: "ada", Name: "Ada", Role: "auditor"},
	"nora":  {Subject: "nora", Name: "Nora"},
	"sid":   {Subject: "sid", Name: "Sid"}, // has no role, and a share to see
	"una":   {Subject: "una", Name: "Una"}, // likewise, to use
	"tess":  {Subject: "tess", Name: "Tess", Role: "team_admin", Groups: []string{"platform"}},
	"tom":   {Subject: "tom", Name: "Tom", Role: "team_auditor", Groups: []string{"platform"}},
	"olga":  {Subject: "olga", Name: "Olga", Role: "team_admin", Groups: []string{"payments"}},
	"late":  {Subject: "maya", Name: "Maya", Role: "requester", Groups: []string{"platform"}, Expiry: jwt.NewNumericDate(time.Now().Add(-time.Hour))},

	"workflow": oidc.GitHubActions,
	"builder":  oidc.Kubernetes,
}

// as is the browser of one of the cast, signed in; of anybody else a new one.
func (h *fixture) as(name string) *browser {
	h.Helper()
	claims, known := cast[name]
	if !known {
		return h.browser()
	}
	raw, err := h.issuer.Token(claims)
	require.NoError(h, err)
	return h.bearing(raw)
}

// bearing is a browser with a token in the place of a session.
func (h *fixture) bearing(raw string) *browser {
	h.Helper()
	b := h.browser()
	home, err := url.Parse(h.base)
	require.NoError(h, err)
	b.Jar.SetCookies(home, []*http.Cookie{{Name: auth.CookieName, Value: raw, Path: "/"}})
	return b
}

// id is what one of the cast is called by the service.
func (h *fixture) id(name string) string { return "oidc:" + h.issuer.URL() + "#" + cast[name].Subject }

// principal is one of the cast as the service sees it.
func (h *fixture) principal(name string) policy.Principal {
	c := cast[name]
	return policy.As(h.id(name), c.Name, policy.Role(c.Role), c.Groups...)
}

func (b *browser) get(path string) (int, string, *http.Response) {
	b.Helper()
	answer, err := b.Get(b.base + path)
	require.NoError(b, err)
	return b.read(answer)
}

func (b *browser) post(path string, form url.Values) (int, string, *http.Response) {
	b.Helper()
	answer, err := b.PostForm(b.base+path, form)
	require.NoError(b, err)
	return b.read(answer)
}

func (b *browser) read(answer *http.Response) (int, string, *http.Response) {
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(b, err)
	return answer.StatusCode, string(raw), answer
}

// still answers without following where it leads.
func (b *browser) still() *browser {
	return &browser{b.fixture, &http.Client{Jar: b.Jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

var inputs = regexp.MustCompile(`<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"`)

// field is the value of a page's first input of the name.
func (b *browser) field(page, name string) string {
	b.Helper()
	for _, m := range inputs.FindAllStringSubmatch(page, -1) {
		if m[1] == name {
			return html.UnescapeString(m[2])
		}
	}
	require.Fail(b, "no input "+name, page)
	return ""
}

// press opens a page and posts a form of it, with the mark of what the page showed.
func (b *browser) press(on, to string, form url.Values) (int, string, *http.Response) {
	b.Helper()
	_, page, _ := b.get(on)
	if form == nil {
		form = url.Values{}
	}
	if strings.Contains(page, `name="seen"`) {
		form.Set("seen", b.field(page, "seen"))
	}
	return b.post(to, form)
}

// signIn signs one of the demo's people in, as a browser does.
func (b *browser) signIn(login string) {
	b.Helper()
	require.NoError(b, saml.SignIn(b.Context(), b.Client, b.base, login, "demo-"+login, "/"))
}

// says is the answer to a form on the page it led to; empty: there is none.
func says(page string) string {
	m := regexp.MustCompile(`(?s)<p class="(?:fine|alert)" role="(?:status|alert)"[^>]*>(.*?)</p>`).FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

package web

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
)

// noteOf reads what a cookie says, whoever signed it.
func noteOf(t require.TestingT, value string) (n auth.Note) {
	parts := strings.Split(value, ".")
	require.Len(t, parts, 3)
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &n))
	return n
}

var sayer = policy.As("saml:maya", "Maya", policy.Requester)

// saying are pages that can say something, with a key of their own.
func saying(t *testing.T, secure bool) *pages {
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return &pages{Config: Config{Secure: secure, Sessions: auth.NewSessions(auth.SessionConfig{Key: key, Audience: "https://ocpctl.example"})}}
}

// saysOf is the cookie that a form's answer sets.
func saysOf(p *pages, who policy.Principal, to string, s said) *http.Cookie {
	w := httptest.NewRecorder()
	p.redirectWith(w, httptest.NewRequest(http.MethodPost, "/clusters/clu_1/hold", nil), who, to, s)
	return w.Result().Cookies()[0]
}

// hears is what a page says to somebody whose browser has a cookie.
func hears(p *pages, who policy.Principal, page string, c *http.Cookie) *said {
	r := httptest.NewRequest(http.MethodGet, page, nil)
	r.AddCookie(c)
	return p.takeMessage(httptest.NewRecorder(), r, who)
}

func TestWhatCameOfAFormIsShownOnceOnThePageItLedTo(t *testing.T) {
	p := saying(t, true)
	cookie := saysOf(p, sayer, "/clusters/clu_1", said{Message: "held", Bad: true})
	require.True(t, cookie.HttpOnly && cookie.Secure && cookie.SameSite == http.SameSiteStrictMode)

	r := httptest.NewRequest(http.MethodGet, "/clusters/clu_1", nil)
	r.AddCookie(cookie)
	r.Header.Set("Sec-Fetch-Dest", "empty")
	require.Nil(t, p.takeMessage(httptest.NewRecorder(), r, sayer), "a script that keeps the page fresh takes it from nobody")
	r.Header.Set("Sec-Fetch-Dest", "document")
	w := httptest.NewRecorder()
	require.Equal(t, &said{Message: "held", Bad: true}, p.takeMessage(w, r, sayer))
	require.Negative(t, w.Result().Cookies()[0].MaxAge)
	require.Equal(t, cookie.Name, w.Result().Cookies()[0].Name)

	require.Nil(t, hears(p, sayer, "/clusters/clu_2", cookie), "no other page says it")
	require.Nil(t, hears(p, policy.As("saml:rob", "Rob", policy.Requester), "/clusters/clu_1", cookie), "nor to anybody else")
	require.Nil(t, hears(saying(t, true), sayer, "/clusters/clu_1", cookie), "nor any other installation")
}

// Another host of the domain can set a cookie for all of it, but none whose name begins with __Host-. Over plain http no browser
// would take such a name, and the signature alone keeps its text out.
func TestNoOtherHostMakesAPageSayAnything(t *testing.T) {
	for secure, name := range map[bool]string{true: "__Host-ocpctl_said", false: "ocpctl_said"} {
		p := saying(t, secure)
		good := saysOf(p, sayer, "/", said{Message: "held"})
		require.Equal(t, []any{name, "/", ""}, []any{good.Name, good.Path, good.Domain})
		old := base64.RawURLEncoding.EncodeToString([]byte(`{"w":"Call +1 555 0100 to unlock your cluster"}`))
		session, err := p.Sessions.SignNote(sayer.ID, auth.Note{Page: "/", Message: "x"}, -time.Hour)
		require.NoError(t, err)
		for _, value := range []string{"", "%%%", old, good.Value + "x", strings.Replace(good.Value, ".", "..", 1), session} {
			require.Nil(t, hears(p, sayer, "/", &http.Cookie{Name: name, Value: value}), value)
		}
		require.Nil(t, hears(p, sayer, "/", &http.Cookie{Name: "ocpctl_said", Value: old}))
		require.NotNil(t, hears(p, sayer, "/", good))
	}
}

func TestWithoutAKeyNothingIsSaid(t *testing.T) {
	p := &pages{}
	w := httptest.NewRecorder()
	p.redirectWith(w, httptest.NewRequest(http.MethodPost, "/", nil), sayer, "/", said{Message: "held"})
	require.Empty(t, w.Result().Cookies())
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Nil(t, hears(p, sayer, "/", &http.Cookie{Name: saidCookie, Value: "x"}))
}

func TestLongWordsAreCutBetweenLetters(t *testing.T) {
	p := saying(t, true)
	for _, letter := range []string{"ö", "<", "a", "\"", "\u2028"} {
		cookie := saysOf(p, sayer, "/", said{Message: strings.Repeat(letter, 9000)})
		text := noteOf(t, cookie.Value).Message
		require.NotEmpty(t, text)
		require.Empty(t, strings.ReplaceAll(text, letter, ""))
		require.Less(t, len(cookie.String()), 4096)
		require.NotNil(t, hears(p, sayer, "/", cookie))
	}
}

func TestNoFormLeadsAwayFromHere(t *testing.T) {
	p := saying(t, false)
	for _, id := range []string{`../\evil.example`, `..\..\evil.example`, "../../..//evil.example", "x\r\nSet-Cookie: a=b", "?next=//evil.example"} {
		w := httptest.NewRecorder()
		p.redirectWith(w, httptest.NewRequest(http.MethodPost, "/clusters/x/hold", nil), sayer, "/clusters/"+id, said{Message: "no"})
		to := w.Header().Get("Location")
		require.Regexp(t, `^/([^/\\]|$)`, to, id)
		require.NotContains(t, to, `\`, id)
		require.Len(t, w.Result().Cookies(), 1, id)
	}
}

package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told64 reads what a cookie says.
func told64(t require.TestingT, value string) (s said) {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &s))
	return s
}

func TestWhatCameOfAFormIsShownOnceOnThePageItLedTo(t *testing.T) {
	p := &pages{Config: Config{Secure: true}}
	w := httptest.NewRecorder()
	p.say(w, httptest.NewRequest(http.MethodPost, "/clusters/clu_1/hold", nil), "/clusters/clu_1", said{Words: "held"})
	require.Equal(t, http.StatusSeeOther, w.Code)
	cookie := w.Result().Cookies()[0]
	require.Equal(t, "/clusters/clu_1", cookie.Path, "no other page shows it")
	require.True(t, cookie.HttpOnly && cookie.Secure && cookie.SameSite == http.SameSiteStrictMode)

	r := httptest.NewRequest(http.MethodGet, "/clusters/clu_1", nil)
	r.AddCookie(cookie)
	r.Header.Set("Sec-Fetch-Dest", "empty")
	require.Nil(t, p.heard(httptest.NewRecorder(), r), "a script that keeps the page fresh takes it from nobody")
	r.Header.Set("Sec-Fetch-Dest", "document")
	w = httptest.NewRecorder()
	require.Equal(t, &said{Words: "held"}, p.heard(w, r))
	require.Negative(t, w.Result().Cookies()[0].MaxAge)
}

func TestWhatIsNotOursIsNotSaid(t *testing.T) {
	p := &pages{}
	for _, value := range []string{"", "%%%", "bm90IGpzb24", base64.RawURLEncoding.EncodeToString([]byte(`{}`))} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(&http.Cookie{Name: saidCookie, Value: value})
		require.Nil(t, p.heard(httptest.NewRecorder(), r), value)
	}
}

func TestLongWordsAreCutBetweenLetters(t *testing.T) {
	for _, letter := range []string{"ö", "<", "a"} {
		w := httptest.NewRecorder()
		(&pages{}).say(w, httptest.NewRequest(http.MethodPost, "/", nil), "/", said{Words: strings.Repeat(letter, 9000)})
		words := told64(t, w.Result().Cookies()[0].Value).Words
		require.NotEmpty(t, words)
		require.Empty(t, strings.ReplaceAll(words, letter, ""))
		require.Less(t, len(w.Header().Get("Set-Cookie")), 4096)
	}
}

func TestNoFormLeadsAwayFromHere(t *testing.T) {
	p := &pages{}
	for _, id := range []string{`../\evil.example`, `..\..\evil.example`, "../../..//evil.example", "x\r\nSet-Cookie: a=b", "?next=//evil.example"} {
		w := httptest.NewRecorder()
		p.say(w, httptest.NewRequest(http.MethodPost, "/clusters/x/hold", nil), "/clusters/"+id, said{Words: "no"})
		to := w.Header().Get("Location")
		require.Regexp(t, `^/([^/\\]|$)`, to, id)
		require.NotContains(t, to, `\`, id)
		require.Len(t, w.Result().Cookies(), 1, id)
	}
}

package github

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

const callback = "http://ocpctl.test/links/github"

// oauthUser is a person's browser at the stand-in, which does not follow where that leads.
type oauthUser struct {
	*testing.T
	s *Server
	*http.Client
}

func newOAuthUser(t *testing.T, now func() time.Time) oauthUser {
	s, err := Start(t.Context(), Config{ClientSecret: "s3cret", CallbackURL: callback, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return oauthUser{t, s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// back is what GitHub sends the person back with.
func (u oauthUser) back(answer *http.Response, err error) url.Values {
	u.Helper()
	require.NoError(u, err)
	require.NoError(u, answer.Body.Close())
	require.Equal(u, http.StatusFound, answer.StatusCode)
	to, err := answer.Location()
	require.NoError(u, err)
	require.True(u, strings.HasPrefix(to.String(), callback+"?"), to)
	return to.Query()
}

func (u oauthUser) press(q url.Values, form url.Values) url.Values {
	u.Helper()
	form.Set("query", q.Encode())
	return u.back(u.PostForm(u.s.URL()+"/login/oauth/authorize", form))
}

func (u oauthUser) exchange(form url.Values) (out map[string]any) {
	u.Helper()
	req, err := http.NewRequestWithContext(u.Context(), http.MethodPost, u.s.URL()+"/login/oauth/access_token", strings.NewReader(form.Encode()))
	require.NoError(u, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	answer, err := u.Do(req)
	require.NoError(u, err)
	defer answer.Body.Close()
	require.Equal(u, http.StatusOK, answer.StatusCode, "GitHub answers errors so, too")
	require.NoError(u, json.NewDecoder(answer.Body).Decode(&out))
	return out
}

func TestAPersonAuthorizesTheAppAndItLearnsWhoTheyAre(t *testing.T) {
	now := time.Now()
	u := newOAuthUser(t, func() time.Time { return now })
	verifier := oauth2.GenerateVerifier()
	q := url.Values{"client_id": {ClientID}, "redirect_uri": {callback}, "state": {"st&te"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"}}
	at := u.s.URL() + "/login/oauth/authorize?"

	answer, err := u.Get(at + q.Encode())
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode, "a person is asked")
	require.Equal(t, url.Values{"error": {"access_denied"}, "error_description": {"The user has denied your application access."}, "state": {"st&te"}},
		u.press(q, url.Values{"login": {"will"}, "cancel": {"1"}}))
	got := u.press(q, url.Values{"login": {"will"}})
	require.Equal(t, "st&te", got.Get("state"))
	code := got.Get("code")

	form := func(change ...string) url.Values {
		out := url.Values{"client_id": {ClientID}, "client_secret": {"s3cret"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}
		for i := 0; i+1 < len(change); i += 2 {
			out.Set(change[i], change[i+1])
		}
		return out
	}
	for want, wrong := range map[string]url.Values{
		"incorrect_client_credentials": form("client_secret", "other"), "bad_verification_code": form("code_verifier", oauth2.GenerateVerifier()),
		"redirect_uri_mismatch": form("redirect_uri", "http://evil.example/"),
	} {
		require.Equal(t, want, u.exchange(wrong)["error"])
	}
	require.Equal(t, "bad_verification_code", u.exchange(form("code", "none"))["error"])
	token := u.exchange(form())
	require.Regexp(t, `^ghu_`, token["access_token"])
	require.Equal(t, []any{"bearer", float64(28800), ""}, []any{token["token_type"], token["expires_in"], token["scope"]})
	require.Equal(t, "bad_verification_code", u.exchange(form())["error"], "a code works once")

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.s.URL()+"/user", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token["access_token"].(string))
	answer, err = u.Do(req)
	require.NoError(t, err)
	var who struct {
		ID    int64
		Login string
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&who))
	require.NoError(t, answer.Body.Close())
	require.Equal(t, knownIDs["will"], who.ID)
	now = now.Add(userTokenLife)
	answer, err = u.Do(req)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)

	code = u.back(u.Get(at + q.Encode())).Get("code")
	require.NotEmpty(t, code, "who authorized the App is not asked again")
	now = now.Add(codeLife)
	require.Equal(t, "bad_verification_code", u.exchange(form())["error"], "a code is valid for ten minutes")
	q.Set("prompt", "select_account")
	answer, err = u.Get(at + q.Encode())
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode, "unless the App has them choose")

	q.Set("redirect_uri", "http://evil.example/")
	require.Equal(t, "redirect_uri_mismatch", u.back(u.Get(at+q.Encode())).Get("error"), "it leads to the registered page alone")
	q.Set("client_id", "Iv1.other")
	answer, err = u.Get(at + q.Encode())
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
}

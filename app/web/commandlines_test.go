package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/commandline"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// program is a command line that speaks OAuth; the pages' server forwards to it what the real server does.
type program struct {
	*fixture
	verifier string
}

func (p program) send(path string, form url.Values) (status int, answer map[string]any) {
	p.Helper()
	form.Set("client_id", commandline.ClientID)
	resp, err := http.PostForm(p.base+path, form)
	require.NoError(p, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(p, err)
	require.NoError(p, json.Unmarshal(raw, &answer), "%s", raw)
	return resp.StatusCode, answer
}

// page is the address that the program opens in a browser.
func (p program) page(redirect string) string {
	sum := sha256.Sum256([]byte(p.verifier))
	return commandline.AuthorizePath + "?" + url.Values{
		"response_type": {"code"}, "client_id": {commandline.ClientID}, "redirect_uri": {redirect}, "state": {"its-state"}, "machine": {"laptop\x07<b>"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
}

func (p program) whoami(session string) int {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.base+"/me", nil)
	require.NoError(p, err)
	r.AddCookie(&http.Cookie{Name: "ocpctl_session", Value: session})
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	require.NoError(p, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

// answered is where the browser is sent after the person answered.
func (p program) answered(who, answer string) *url.URL {
	p.Helper()
	status, _, resp := p.person(who).still().post(p.page(loopback), url.Values{"answer": {answer}})
	require.Equal(p, http.StatusSeeOther, status)
	require.Contains(p, resp.Header.Get("Content-Security-Policy"), "form-action 'self' http://127.0.0.1:1;", "browsers check where a form leads")
	to, err := resp.Location()
	require.NoError(p, err)
	return to
}

// person is the browser of somebody who signed in to the pages through SAML.
func (p program) person(name string) *browser {
	p.Helper()
	sessions := auth.NewSessions(auth.SessionConfig{Key: p.key, Audience: p.base})
	claims := policy.Claims{Source: profiles.SourceSAML, Subject: name + "@acme.example", Name: name}
	session, _, _, err := sessions.IssueRenewable(hex.EncodeToString([]byte("0123456789abcdef")), claims, time.Now().Add(time.Hour))
	require.NoError(p, err)
	return p.bearing(session.Reveal())
}

const loopback = "http://127.0.0.1:1/callback"

// confirmed is the code that the browser passes on after the person confirmed.
func (p program) confirmed(who string) string {
	p.Helper()
	_, page, _ := p.person(who).get(p.page(loopback))
	require.Contains(p, page, "Sign in ocpctl on laptop&lt;b&gt;?")
	to := p.answered(who, "yes")
	require.True(p, strings.HasPrefix(to.String(), loopback), to)
	require.Equal(p, "its-state", to.Query().Get("state"))
	return to.Query().Get("code")
}

func TestABrowserSignsInACommandLine(t *testing.T) {
	p := program{newFixture(t), "a-verifier-of-the-program-that-is-long-enough"}
	code := p.confirmed("maya")
	form := func(code, verifier string) url.Values {
		return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {loopback}}
	}
	status, answer := p.send(commandline.TokenPath, form(code, "a-verifier-of-somebody-else-who-saw-the-code"))
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "invalid_grant", answer["error"])
	status, answer = p.send(commandline.TokenPath, form(code, p.verifier))
	require.Equal(t, http.StatusOK, status, answer)
	session, renewal := answer["access_token"].(string), answer["refresh_token"].(string)
	require.Equal(t, http.StatusOK, p.whoami(session))
	_, me, _ := p.person("maya").get("/me")
	require.Contains(t, me, "laptop&lt;b&gt;")

	renew := func(token string) (int, map[string]any) {
		return p.send(commandline.TokenPath, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
	}
	status, answer = renew(renewal)
	require.Equal(t, http.StatusOK, status, answer)
	second := answer["refresh_token"].(string)
	status, answer = renew(renewal)
	require.Equal(t, http.StatusOK, status, "the response with the second one may have been lost")
	third := answer["refresh_token"].(string)
	p.sql(`UPDATE command_lines SET renewed_at = renewed_at - interval '2 minutes'`)
	status, answer = renew(second)
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "invalid_grant", answer["error"], "two have the tokens, so one of them stole them")
	status, _ = renew(third)
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, http.StatusSeeOther, p.whoami(session), "its sessions end with it")
	_, me, _ = p.person("maya").get("/me")
	require.NotContains(t, me, "laptop")
	var actions []string
	require.NoError(t, p.store.Pool().QueryRow(t.Context(), `SELECT array_agg(action ORDER BY seq) FROM audit_events WHERE action LIKE 'command_line%'`).Scan(&actions))
	require.Equal(t, []string{"command_line_confirmed", "command_line_ended"}, actions)
}

func TestAProgramSignsInNoCommandLine(t *testing.T) {
	p := program{newFixture(t), "a-verifier-of-the-program-that-is-long-enough"}
	for _, who := range []string{"maya", "workflow", "builder"} { // their tokens are of an issuer, not of the pages' sign-in
		status, page, _ := p.as(who).get(p.page(loopback))
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, page, "Only a person who signed in to the pages")
	}
}

func TestACodeWorksOnceAndOnlyForItsProgram(t *testing.T) {
	p := program{newFixture(t), "a-verifier-of-the-program-that-is-long-enough"}
	code := p.confirmed("maya")
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {p.verifier}, "redirect_uri": {"http://127.0.0.1:2/callback"}}
	status, _ := p.send(commandline.TokenPath, form)
	require.Equal(t, http.StatusBadRequest, status, "another address")
	form.Set("redirect_uri", loopback)
	status, answer := p.send(commandline.TokenPath, form)
	require.Equal(t, http.StatusOK, status)
	session := answer["access_token"].(string)
	status, _ = p.send(commandline.TokenPath, form)
	require.Equal(t, http.StatusBadRequest, status, "once")
	require.Equal(t, http.StatusSeeOther, p.whoami(session), "whoever used it first may be the thief")

	late := p.confirmed("maya")
	p.sql(`UPDATE command_lines SET code_until = now() - interval '1 second' WHERE state = 'confirmed'`)
	form.Set("code", late)
	status, _ = p.send(commandline.TokenPath, form)
	require.Equal(t, http.StatusBadRequest, status, "its minute is over")

	for _, elsewhere := range []string{"https://evil.example/callback", "http://localhost:1/callback", "http://127.0.0.1/callback", "http://127.0.0.1:1@evil.example/", "app://x"} {
		status, page, _ := p.person("maya").get(p.page(elsewhere))
		require.Equal(t, http.StatusBadRequest, status, elsewhere)
		require.Contains(t, page, "not an address of this machine")
	}
	to := p.answered("maya", "no")
	require.Equal(t, "access_denied", to.Query().Get("error"))
}

func TestATypedCodeSignsInACommandLine(t *testing.T) {
	p := program{newFixture(t), ""}
	ask := func() (device, typed string) {
		status, answer := p.send(commandline.AskPath, url.Values{"machine": {"server-7"}})
		require.Equal(t, http.StatusOK, status, answer)
		require.Equal(t, p.base+"/device", answer["verification_uri"])
		return answer["device_code"].(string), answer["user_code"].(string)
	}
	fetch := func(device string) (int, map[string]any) {
		return p.send(commandline.TokenPath, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device}})
	}
	device, typed := ask()
	_, answer := fetch(device)
	require.Equal(t, "authorization_pending", answer["error"])
	maya := p.person("maya")
	_, page, _ := maya.get("/device?code=" + strings.ToLower(strings.ReplaceAll(typed, "-", " ")[:4]) + "+" + typed[5:])
	require.Contains(t, page, "Sign in ocpctl on server-7?")
	require.Contains(t, page, "If somebody sent you the code")
	_, page, _ = maya.post("/device", url.Values{"code": {typed}, "answer": {"yes"}})
	require.Contains(t, page, "The command line is signed in. Go back to it.")
	status, answer := fetch(device)
	require.Equal(t, http.StatusOK, status, answer)
	session, renewal := answer["access_token"].(string), answer["refresh_token"].(string)
	require.Equal(t, http.StatusOK, p.whoami(session))
	status, page, _ = maya.post("/device", url.Values{"code": {typed}, "answer": {"yes"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "No command line waits for this code.")

	status, _ = p.send(commandline.RevokePath, url.Values{"token": {renewal}})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, http.StatusSeeOther, p.whoami(session))
	status, _ = p.send(commandline.RevokePath, url.Values{"token": {"unknown"}})
	require.Equal(t, http.StatusOK, status, "nothing is left to do")

	refused, typed := ask()
	_, page, _ = maya.post("/device", url.Values{"code": {typed}, "answer": {"no"}})
	require.Contains(t, page, "The command line was not signed in.")
	_, answer = fetch(refused)
	require.Equal(t, "access_denied", answer["error"])
	late, _ := ask()
	p.sql(`UPDATE command_lines SET code_until = now() - interval '1 second' WHERE state = 'asked'`)
	_, answer = fetch(late)
	require.Equal(t, "expired_token", answer["error"])

	for range 20 {
		ask()
	}
	status, answer = p.send(commandline.AskPath, url.Values{"machine": {"server-7"}})
	require.Equal(t, http.StatusBadRequest, status, "nobody fills the table")
	require.Equal(t, "slow_down", answer["error"])
}

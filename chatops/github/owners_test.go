package github_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/github"
	standin "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestAnOwnerIsWhomGitHubConfirmed(t *testing.T) {
	const callback = "http://ocpctl.test/links/github"
	s, err := standin.Start(t.Context(), standin.Config{ClientSecret: "s3cret", CallbackURL: callback})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	owners, err := github.NewOwners(standin.ClientID, secret.New("s3cret"), s.URL(), callback)
	require.NoError(t, err)
	require.NoError(t, owners.Check(t.Context()))

	verifier := github.NewVerifier()
	to, err := url.Parse(owners.URL("state", verifier, "maya", true))
	require.NoError(t, err)
	require.Equal(t, []string{"maya", "S256", "select_account", "state", callback},
		[]string{to.Query().Get("login"), to.Query().Get("code_challenge_method"), to.Query().Get("prompt"), to.Query().Get("state"), to.Query().Get("redirect_uri")})
	require.NotContains(t, to.String(), verifier)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.PostForm(s.URL()+"/login/oauth/authorize", url.Values{"query": {to.RawQuery}, "login": {"maya"}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	back, err := answer.Location()
	require.NoError(t, err)

	_, _, err = owners.Account(t.Context(), back.Query().Get("code"), github.NewVerifier())
	require.ErrorIs(t, err, github.ErrSpentCode, "a code is nothing without the verifier")
	number, login, err := owners.Account(t.Context(), back.Query().Get("code"), verifier)
	require.NoError(t, err)
	require.Equal(t, []any{int64(2001), "maya"}, []any{number, login})
	_, _, err = owners.Account(t.Context(), back.Query().Get("code"), verifier)
	require.ErrorIs(t, err, github.ErrSpentCode)

	wrong, err := github.NewOwners(standin.ClientID, secret.New("other"), s.URL(), callback)
	require.NoError(t, err)
	require.ErrorIs(t, wrong.Check(t.Context()), github.ErrRefused)
}

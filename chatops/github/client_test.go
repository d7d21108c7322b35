package github

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func start(t *testing.T) (*standin.Server, *Client) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key.pem") // the same each time: making one takes a while
	require.NoError(t, os.WriteFile(key, anyKey(), 0o600))
	server, err := standin.Start(t.Context(), standin.Config{KeyPath: key})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server, client(t, server.URL(), server.KeyPEM())
}

func client(t *testing.T, url string, key []byte) *Client {
	t.Helper()
	c, err := New(Config{AppID: standin.AppID, PrivateKey: key, BaseURL: url, Pace: -1, Settling: -1, HTTPTimeout: 5 * time.Second})
	require.NoError(t, err)
	return c
}

func comment(number int) CommentTarget {
	return CommentTarget{Installation: standin.Installation, Repo: standin.Repo, Number: number, Marker: "sub_01"}
}

func check(server *standin.Server, number int) CheckTarget {
	pr, _ := server.PullRequest(number)
	return CheckTarget{Installation: standin.Installation, Repo: standin.Repo, Head: pr.HeadSHA, Name: "ocpctl", ExternalKey: "sub_02"}
}

func TestPermissionsAreToldByTheirFinestName(t *testing.T) {
	server, c := start(t)
	require.NoError(t, server.SetPermission("tina", "triage"))
	require.NoError(t, server.SetPermission("nora", "none"))
	for login, want := range map[string]string{
		"maya": "maintain", "will": "write", "rita": "read", "tina": "triage", "nora": "none",
		"../../app": "none", "": "none",
	} {
		account, err := c.AccountID(t.Context(), standin.Installation, login)
		require.NoError(t, err, login)
		got, err := c.Permission(t.Context(), standin.Installation, standin.Repo, login, account)
		require.NoError(t, err, login)
		require.Equal(t, want, got, login)
	}
	for _, login := range []string{"nobody-knows-me", "dependabot[bot]", "maya"} {
		_, err := c.Permission(t.Context(), standin.Installation, standin.Repo, login, 99)
		require.ErrorIs(t, err, ErrOtherAccount, login)
	}
}

func TestACustomRoleIsThePermissionItStandsOn(t *testing.T) {
	server, _ := start(t)
	custom := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"token":"t","expires_at":"2099-01-01T00:00:00Z"}`))
			return
		}
		_, _ = w.Write([]byte(`{"permission":"write","role_name":"release captain","user":{"id":2001}}`))
	}))
	defer custom.Close()
	got, err := client(t, custom.URL, server.KeyPEM()).Permission(t.Context(), 1, standin.Repo, "maya", 2001)
	require.NoError(t, err)
	require.Equal(t, "write", got)
}

func TestAPullRequestIsReadAsItStands(t *testing.T) {
	server, c := start(t)
	require.NoError(t, server.Label(45, "ocp/aws-standard", "maya"))
	require.NoError(t, server.Close(45, "maya"))

	got, err := c.PullRequest(t.Context(), standin.Installation, standin.Repo, 45)
	require.NoError(t, err)
	want, _ := server.PullRequest(45)
	require.Equal(t, PullRequest{
		Repo: shop, Number: 45, Open: false, Fork: true, Labels: []string{"ocp/aws-standard"}, Author: standin.ForkOwner, AuthorID: 2045,
		Head: want.HeadSHA, HeadRef: want.HeadRef, Base: "main", RepoID: standin.RepoID, Association: "CONTRIBUTOR", UpdatedAt: want.UpdatedAt,
	}, got)

	got, err = c.PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
	require.NoError(t, err)
	require.True(t, got.Open)
	require.False(t, got.Fork)
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	_, c := start(t)
	_, err := c.PullRequest(t.Context(), standin.Installation, standin.Repo, 99)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = c.PullRequest(t.Context(), standin.Installation, "acme/other", 41)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = c.Permission(t.Context(), standin.Installation, "acme/other", "maya", 2001)
	require.ErrorIs(t, err, ErrNotFound, "a repository we may not see is no answer about a person")
	_, err = c.PullRequest(t.Context(), 9999, standin.Repo, 41)
	require.ErrorIs(t, err, ErrNotFound, "not installed there")
	for _, repo := range []string{"", "acme", "acme/..", "acme/shop/pulls", "acme/sh op", "a?b/c"} {
		_, err = c.PullRequest(t.Context(), standin.Installation, repo, 41)
		require.ErrorContains(t, err, "want owner/name", repo)
	}
}

func TestAKeyOfAnotherAppIsRefused(t *testing.T) {
	server, _ := start(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	other := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	_, err = client(t, server.URL(), other).PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
	require.ErrorIs(t, err, ErrRefused)
}

func TestARevokedTokenIsRenewedInTheCall(t *testing.T) {
	server, c := start(t)
	_, err := c.UpsertComment(t.Context(), comment(41), "one")
	require.NoError(t, err)
	server.RevokeTokens()
	_, err = c.UpsertComment(t.Context(), comment(41), "two")
	require.NoError(t, err)
	require.Len(t, server.Comments(41), 1)
}

func TestARedirectToAnotherHostIsRefused(t *testing.T) {
	server, _ := start(t)
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the token travelled to another host")
	}))
	defer thief.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"token":"t","expires_at":"2099-01-01T00:00:00Z"}`))
			return
		}
		http.Redirect(w, r, thief.URL, http.StatusFound)
	}))
	defer proxy.Close()
	_, err := client(t, proxy.URL, server.KeyPEM()).PullRequest(t.Context(), 1, standin.Repo, 41)
	require.ErrorContains(t, err, "another host")
}

func TestLimitsSayWhenToComeBack(t *testing.T) {
	for name, f := range map[string]struct {
		fault standin.APIFault
		least time.Duration
	}{
		"secondary, by its documentation link": {standin.APIFault{Status: 403, RetryAfter: "17", Message: "You have exceeded a secondary rate limit.",
			DocsURL: "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}, 17 * time.Second},
		"secondary, without a time": {standin.APIFault{Status: 403, Message: "You have exceeded a secondary rate limit."}, time.Minute},
		"too many requests":         {standin.APIFault{Status: 429, RetryAfter: "5"}, 5 * time.Second},
		"at the token":              {standin.APIFault{Status: 429, RetryAfter: "7", Path: "/access_tokens"}, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			server, c := start(t)
			server.FailNext(1, f.fault)
			_, err := c.PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
			var limited RateLimited
			require.ErrorAs(t, err, &limited)
			require.InDelta(t, f.least.Seconds(), limited.RetryAfter.Seconds(), 1)
		})
	}
}

func TestChangesKeepTheirPaceAndDoNotQueueForLong(t *testing.T) {
	server, _ := start(t)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c, err := New(Config{
		AppID: standin.AppID, PrivateKey: server.KeyPEM(), BaseURL: server.URL(),
		Pace: time.Hour, Patience: time.Millisecond, Now: func() time.Time { return now },
	})
	require.NoError(t, err)
	_, err = c.UpsertComment(t.Context(), comment(41), "one")
	require.NoError(t, err)

	_, err = c.UpsertComment(t.Context(), comment(42), "too soon")
	var limited RateLimited
	require.ErrorAs(t, err, &limited)
	require.Equal(t, time.Hour, limited.RetryAfter)
	require.Empty(t, server.Comments(42))

	now = now.Add(time.Hour)
	_, err = c.UpsertComment(t.Context(), comment(42), "in time")
	require.NoError(t, err)
}

func TestAWaitInLineEndsWithTheContext(t *testing.T) {
	server, _ := start(t)
	c, err := New(Config{AppID: standin.AppID, PrivateKey: server.KeyPEM(), BaseURL: server.URL(), Pace: time.Hour, Patience: time.Hour})
	require.NoError(t, err)
	_, err = c.UpsertComment(t.Context(), comment(41), "one")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.UpsertComment(ctx, comment(41), "two")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestTheBaseURLMustBeOne(t *testing.T) {
	server, _ := start(t)
	for _, url := range []string{"api.github.com", "ftp://host/", "http://"} {
		_, err := New(Config{AppID: 1, PrivateKey: server.KeyPEM(), BaseURL: url})
		require.ErrorContains(t, err, "base URL", url)
	}
	_, err := New(Config{AppID: 1, PrivateKey: []byte("no key")})
	require.ErrorContains(t, err, "private key")
}

func queued(title string) chatops.CheckRun {
	return chatops.CheckRun{Title: title, Summary: "words", Status: "queued"}
}

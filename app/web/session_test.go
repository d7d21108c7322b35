package web

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// copied is another browser with the same cookies, as a thief would have it.
func (b *browser) copied() *browser {
	b.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(b, err)
	at, err := url.Parse(b.base)
	require.NoError(b, err)
	jar.SetCookies(at, b.Jar.Cookies(at))
	return &browser{b.fixture, &http.Client{Jar: jar}}
}

// at is the same browser at another replica.
func (b *browser) at(base string) *browser {
	h := *b.fixture
	from, err := url.Parse(b.base)
	require.NoError(b, err)
	to, err := url.Parse(base)
	require.NoError(b, err)
	jar, err := cookiejar.New(nil)
	require.NoError(b, err)
	jar.SetCookies(to, b.Jar.Cookies(from))
	h.base = base
	return &browser{&h, &http.Client{Jar: jar}}
}

func (b *browser) isIn() bool {
	b.Helper()
	_, page, answer := b.get("/")
	require.NotEmpty(b, page)
	return answer.Request.URL.Path == "/"
}

func TestSigningOutEndsTheSessionOnEveryReplica(t *testing.T) {
	b := newBrowser(t)
	replica := httptest.NewServer(b.handler(ownCatalogue(t)))
	t.Cleanup(replica.Close)
	b.signIn("maya")
	other := b.browser()
	other.signIn("maya")
	copied := b.copied()
	elsewhere := b.at(replica.URL)
	require.True(t, b.isIn() && other.isIn() && copied.isIn() && elsewhere.isIn())

	status, _, _ := b.post("/logout", nil)
	require.Equal(t, http.StatusOK, status)
	require.False(t, b.isIn())
	require.False(t, copied.isIn(), "the cookie's copy is worth nothing any more")
	require.False(t, elsewhere.isIn(), "at no replica")
	require.True(t, other.isIn(), "another session of the same person goes on")
	status, _, _ = copied.post("/logout", nil)
	require.Equal(t, http.StatusOK, status, "signing out twice is once")
}

// Nobody is let in, and nobody is told that they are out, while it cannot be looked up.
func TestASessionThatCannotBeLookedUpIsNeitherGoodNorEnded(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	b.sql(`ALTER TABLE ended_sessions RENAME TO away`)
	status, page, _ := b.get("/")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, "could not be checked")
	status, page, _ = b.post("/logout", nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, "could not be signed out")
	b.sql(`ALTER TABLE away RENAME TO ended_sessions`)
	require.True(t, b.isIn(), "the browser kept it, to try again")
}

// A link that somebody sends must not open a cluster's nodes to them, nor choose tags that nobody looks at.
func TestALinkFillsInNeitherAKeyNorTags(t *testing.T) {
	b := newBrowser(t)
	b.signIn("maya")
	link := url.Values{
		"name": {"shop-smoke"}, "profile": {"aws-standard"}, "sshPublicKey": {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEvil evil"}, "extraTags": {"Evil=yes"},
	}
	_, page, _ := b.get("/new?" + link.Encode())
	require.Contains(t, page, `value="shop-smoke"`, "the rest may come from a link")
	require.Contains(t, page, `<option value="aws-standard" selected>`)
	require.NotContains(t, page, "evil")
	require.NotContains(t, page, "Evil=yes")
	_, page, _ = b.post("/new?"+link.Encode(), url.Values{"do": {"choices"}, "key": {strings.Repeat("a", 32)}, "name": {"mine"}})
	require.NotContains(t, page, "evil", "nor from the address of the form")
}

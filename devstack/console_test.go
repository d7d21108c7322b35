package devstack_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// consoleAccount is what the page shows of somebody's account.
type consoleAccount struct{ user, password, console string }

var (
	shownUser     = regexp.MustCompile(`id="user"[^>]*value="([^"]+)"`)
	shownPassword = regexp.MustCompile(`id="password"[^>]*value="([^"]+)"`)
	shownConsole  = regexp.MustCompile(`href="([^"]+)"[^>]*>Go to the console`)
)

// readAccount reads the page that shows an account.
func readAccount(t testing.TB, page string) (a consoleAccount) {
	t.Helper()
	for into, from := range map[*string]*regexp.Regexp{&a.user: shownUser, &a.password: shownPassword, &a.console: shownConsole} {
		found := from.FindStringSubmatch(page)
		require.NotNil(t, found, page)
		*into = html.UnescapeString(found[1])
	}
	return a
}

// openConsole presses the button on a cluster's page until the account is there.
func (b browser) openConsole(id string, form url.Values) consoleAccount {
	b.t.Helper()
	page := ""
	b.askUntil("the console account of "+id, time.Minute, polite, func() bool {
		status, _, said := b.visit("/clusters/"+id+"/console", form)
		require.Equal(b.t, http.StatusOK, status, said)
		page = said
		return shownPassword.MatchString(said)
	})
	return readAccount(b.t, page)
}

// revokeConsole revokes an account of a cluster's console and returns the id of its access.
func (v visitor) revokeConsole(id, account string) (access string) {
	v.t.Helper()
	for _, a := range ask[v1.Accesses](v, http.MethodGet, "/api/v1/clusters/"+id+"/access", nil, http.StatusOK).Items {
		if a.Kind == v1.AccessKindConsole && a.User == account {
			access = a.AccessID
		}
	}
	ask[v1.Accesses](v, http.MethodDelete, "/api/v1/clusters/"+id+"/access/"+access+"?reason=she+left", nil, http.StatusOK)
	return access
}

// fetch reads a page of a cluster.
func fetch(t testing.TB, client *http.Client, address string, form url.Values) (status int, at, page string) {
	t.Helper()
	answer, err := client.Get(address)
	if form != nil {
		answer, err = client.PostForm(address, form)
	}
	require.NoError(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Request.URL.String(), string(raw)
}

// signInToConsole does what a person does: the console leads to the OAuth server, which asks for the provider, a name and a password.
func signInToConsole(t testing.TB, login *devstack.Login, a consoleAccount) (client *http.Client, status int, page string) {
	t.Helper()
	client = browserFor(login)
	_, at, page := fetch(t, client, a.console, nil)
	require.Contains(t, at, "/oauth/authorize")
	provider := regexp.MustCompile(`href="(/login/ocpctl\?then=[^"]+)"`).FindStringSubmatch(page)
	require.NotNil(t, provider, page)
	form, err := url.Parse(at)
	require.NoError(t, err)
	form, err = form.Parse(html.UnescapeString(provider[1]))
	require.NoError(t, err)
	then := form.Query().Get("then")
	form.RawQuery = ""
	status, _, page = fetch(t, client, form.String(), url.Values{"then": {then}, "username": {a.user}, "password": {a.password}})
	return client, status, page
}

// challenge is oc login with a name and a password. An empty token: refused.
func challenge(t testing.TB, login *devstack.Login, domain string, a consoleAccount) string {
	t.Helper()
	client := browserFor(login)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://oauth-openshift.apps."+domain+"/oauth/authorize?response_type=token&client_id=openshift-challenging-client", nil)
	require.NoError(t, err)
	r.Header.Set("X-CSRF-Token", "1")
	r.SetBasicAuth(a.user, a.password)
	answer, err := client.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		require.Equal(t, `Basic realm="openshift"`, answer.Header.Get("WWW-Authenticate"))
		return ""
	}
	to, err := url.Parse(answer.Header.Get("Location"))
	require.NoError(t, err)
	fragment, err := url.ParseQuery(to.Fragment)
	require.NoError(t, err)
	return fragment.Get("access_token")
}

// loginByWeb is oc login --web in a browser that is signed in: the authorization code with PKCE, sent to this machine.
func loginByWeb(t testing.TB, client *http.Client, domain string) string {
	t.Helper()
	status, _, page := fetch(t, client, "https://api."+domain+":6443/.well-known/oauth-authorization-server", nil)
	require.Equal(t, http.StatusOK, status)
	var found struct {
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
	}
	require.NoError(t, json.Unmarshal([]byte(page), &found))
	const verifier, back = "a-verifier-of-forty-three-characters-at-least-x", "http://127.0.0.1:1234/callback"
	sum := sha256.Sum256([]byte(verifier))
	ask := url.Values{"client_id": {"openshift-cli-client"}, "redirect_uri": {back}, "response_type": {"code"}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	stays := *client
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := stays.Get(found.Authorize + "?" + ask.Encode())
	require.NoError(t, err)
	answer.Body.Close()
	to, err := url.Parse(answer.Header.Get("Location"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(to.String(), back+"?"), to)
	exchange := url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "client_id": {"openshift-cli-client"}, "redirect_uri": {back}, "code_verifier": {"wrong"}}
	status, _, _ = fetch(t, client, found.Token, exchange)
	require.Equal(t, http.StatusBadRequest, status, "the code alone gives nothing, and is used up")
	answer, err = stays.Get(found.Authorize + "?" + ask.Encode())
	require.NoError(t, err)
	answer.Body.Close()
	to, err = url.Parse(answer.Header.Get("Location"))
	require.NoError(t, err)
	exchange.Set("code", to.Query().Get("code"))
	exchange.Set("code_verifier", verifier)
	status, _, page = fetch(t, client, found.Token, exchange)
	require.Equal(t, http.StatusOK, status, page)
	var token struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(page), &token))
	return token.AccessToken
}

// withToken runs oc with a token.
func (l *life) withToken(domain, token string, args ...string) (printed string, ok bool) {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), "kubeconfig")
	require.NoError(l.t, os.WriteFile(path, fmt.Appendf(nil, "clusters: [{name: a, cluster: {server: 'https://api.%s:6443'}}]\nusers: [{name: a, user: {token: %q}}]\n", domain, token), 0o600))
	cmd := exec.CommandContext(l.ctx, filepath.Join(l.Bin, "oc"), append([]string{"--kubeconfig=" + path}, args...)...)
	raw, err := os.ReadFile(filepath.Join(l.Dir, "server.env"))
	require.NoError(l.t, err)
	cmd.Env = append(append(os.Environ(), strings.Fields(string(raw))...), installer.FaultsVariable+"="+l.Faults())
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err == nil
}

// From a label to a session in the console, as somebody who has an account of their own, and to the refusal after the revocation.
func TestAReaderOpensTheConsoleAsThemselvesUntilTheyAreRevoked(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Minute)
	login, err := l.StartLogin(l.ctx, 0)
	require.NoError(t, err)
	t.Cleanup(login.Stop)
	number, id, domain := l.readyCluster("Look at the console")
	admin := l.as("admin")
	name := l.nameOf(number)

	maya := l.signIn("maya")
	_, _, page := maya.visit("/clusters/"+id, nil)
	require.Contains(t, page, "Open console")
	require.NotContains(t, page, `href="https://console-`, "the address alone is a dead end")

	// What fails is said, with the reason and a way to try again.
	require.NoError(t, installer.SetFault(l.Faults(), "oc-replace/"+name, &installer.Fault{FailAt: "start", Message: "Error from server (Forbidden): oauths.config.openshift.io is forbidden"}))
	l.askUntil("the page says why", time.Minute, polite, func() bool {
		_, _, page = maya.visit("/clusters/"+id+"/console", url.Values{})
		return strings.Contains(page, "could not be made")
	})
	require.Contains(t, page, "oauths.config.openshift.io is forbidden")
	_, _, page = maya.visit("/clusters/"+id, nil)
	require.Contains(t, page, "Try again")
	require.NoError(t, installer.SetFault(l.Faults(), "oc-replace/"+name, nil))

	account := maya.openConsole(id, url.Values{"renew": {"1"}})
	require.Regexp(t, `^saml-maya-acme-example-a[0-9a-f]{9}$`, account.user, "the cluster's own audit shows who it is")
	client, status, page := signInToConsole(t, login, account)
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, page, "Signed in as <b>"+account.user+"</b> with the cluster roles cluster-admin")
	_, status, page = signInToConsole(t, login, consoleAccount{account.user, "wrong", account.console})
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, page, "Invalid login or password")

	// oc login works with the same account.
	token := challenge(t, login, domain, account)
	require.Empty(t, challenge(t, login, domain, consoleAccount{user: account.user, password: "wrong"}))
	byWeb := loginByWeb(t, client, domain)
	for _, one := range []string{token, byWeb} {
		printed, ok := l.withToken(domain, one, "whoami")
		require.True(t, ok, printed)
		require.Equal(t, account.user, printed)
	}

	// A viewer has a role of theirs.
	ask[map[string]any](admin, http.MethodPost, "/api/v1/clusters/"+id+"/shares", map[string]string{"kind": "principal", "with": "saml:rob@acme.example", "access": "use", "role": "view"}, http.StatusOK)
	rob := l.signIn("rob")
	viewer := rob.openConsole(id, url.Values{})
	_, _, page = signInToConsole(t, login, viewer)
	require.Contains(t, page, "with the cluster roles cluster-reader, view")
	status, _, page = rob.visit("/clusters/"+id+"/console", url.Values{"role": {"admin"}})
	require.NotContains(t, page, "Go to the console", status)

	// The password is nowhere but in the bucket.
	require.Zero(t, l.count(`SELECT count(*) FROM access WHERE to_jsonb(access)::text LIKE '%' || $1 || '%'`, account.password))
	require.Zero(t, l.count(`SELECT count(*) FROM audit_events WHERE to_jsonb(audit_events)::text LIKE '%' || $1 || '%'`, account.password))
	require.Positive(t, l.lines(id, "console_password.read"))

	// Revoked: no session goes on, and nobody signs in again.
	mine := admin.revokeConsole(id, account.user)
	l.askUntil("the account is removed", time.Minute, polite, func() bool {
		return l.count(`SELECT count(*) FROM access WHERE id = $1 AND removed_at IS NOT NULL`, mine) == 1
	})
	_, at, _ := fetch(t, client, account.console, nil)
	require.Contains(t, at, "/oauth/authorize", "the session has ended")
	for _, one := range []string{token, byWeb} {
		printed, ok := l.withToken(domain, one, "whoami")
		require.False(t, ok)
		require.Contains(t, printed, "Unauthorized")
	}
	_, status, _ = signInToConsole(t, login, account)
	require.Equal(t, http.StatusUnauthorized, status)
	_, _, page = signInToConsole(t, login, viewer)
	require.Contains(t, page, "Signed in as", "the viewer's stays")

	l.unlabel(number)
	require.Zero(t, l.count(`SELECT count(*) FROM access WHERE removed_at IS NULL`), "no account outlives its cluster")
}

// signInBySSO does what a person does who is signed in to the pages: the console leads to the OAuth server, which asks for the provider, and that
// needs nothing more of them.
func signInBySSO(t testing.TB, client *http.Client, console string) (status int, at, page string) {
	t.Helper()
	_, at, page = fetch(t, client, console, nil)
	require.Contains(t, at, "/oauth/authorize")
	provider := regexp.MustCompile(`href="(/login/ocpctl-sso\?then=[^"]+)"`).FindStringSubmatch(page)
	require.NotNil(t, provider, page)
	next, err := url.Parse(at)
	require.NoError(t, err)
	next, err = next.Parse(html.UnescapeString(provider[1]))
	require.NoError(t, err)
	return fetch(t, client, next.String(), nil)
}

// signInAtPages returns a browser of somebody who signed in to the pages, and in which the names of clusters lead to the login.
func (l *life) signInAtPages(login *devstack.Login, who string) browser {
	l.t.Helper()
	b := browser{l, browserFor(login)}
	require.NoError(l.t, saml.SignIn(l.ctx, b.Client, l.PagesURL(), who, "demo-"+who, "/"))
	return b
}

// From a label to a session in the console with the sign-in to the pages, and to the refusal after the revocation.
func TestAReaderSignsInToTheConsoleThroughThePagesUntilTheyAreRevoked(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Minute, OpenID: true})
	login, err := l.StartLogin(l.ctx, 0)
	require.NoError(t, err)
	t.Cleanup(login.Stop)
	number, id, domain := l.readyCluster("Look at the console")
	admin := l.as("admin")
	name := l.nameOf(number)
	console := "https://console-openshift-console.apps." + domain

	maya := l.signInAtPages(login, "maya")
	page := ""
	opens := func(b browser) {
		t.Helper()
		l.askUntil("the console can be opened", time.Minute, polite, func() bool {
			_, _, page = b.visit("/clusters/"+id+"/console", url.Values{})
			return shownConsole.MatchString(page)
		})
		require.NotRegexp(t, shownPassword, page, "nobody has a password")
	}
	opens(maya)
	require.Equal(t, console, html.UnescapeString(shownConsole.FindStringSubmatch(page)[1]))
	account := shownUser.FindStringSubmatch(page)[1]
	require.Regexp(t, `^saml-maya-acme-example-a[0-9a-f]{9}$`, account, "the cluster's own audit shows who it is")
	status, at, page := signInBySSO(t, maya.Client, console)
	require.Equal(t, http.StatusOK, status, page)
	require.Equal(t, console+"/", at)
	require.Contains(t, page, "Signed in as <b>"+account+"</b> with the cluster roles cluster-admin and the groups ocpctl-admin.")
	require.Positive(t, l.lines(id, "console.signed_in"))
	byWeb := loginByWeb(t, maya.Client, domain)
	printed, ok := l.withToken(domain, byWeb, "whoami")
	require.True(t, ok, printed)
	require.Equal(t, account, printed)

	// Whoever may see it asks first, with a role of theirs; a stranger gets nothing.
	rob := l.signInAtPages(login, "rob")
	_, at, page = signInBySSO(t, rob.Client, console)
	require.Contains(t, at, l.PagesURL()+"/openid/authorize")
	require.Contains(t, page, "You have no cluster called")
	ask[map[string]any](admin, http.MethodPost, "/api/v1/clusters/"+id+"/shares", map[string]string{"kind": "principal", "with": "saml:rob@acme.example", "access": "use", "role": "view"}, http.StatusOK)
	_, at, page = signInBySSO(t, rob.Client, console)
	require.Equal(t, l.PagesURL()+"/clusters/"+id, at)
	require.Contains(t, page, "You have no access to the console of "+name)
	opens(rob)
	_, _, page = signInBySSO(t, rob.Client, console)
	require.Contains(t, page, "with the cluster roles cluster-reader, view and the groups ocpctl-view.")

	// A browser that is not signed in comes back to the console after the sign-in.
	fresh := browserFor(login)
	_, at, page = signInBySSO(t, fresh, console)
	require.Contains(t, at, strings.TrimSuffix(l.SAML.Metadata(), "/metadata"), "it is led to the identity provider at once")
	page, at, err = saml.FinishSignIn(l.ctx, fresh, page, "rob", "demo-rob")
	require.NoError(t, err)
	require.Equal(t, console+"/", at)
	require.Contains(t, page, "with the cluster roles cluster-reader, view")

	// Revoked: no session goes on, and nobody signs in again.
	mine := admin.revokeConsole(id, account)
	_, at, _ = signInBySSO(t, l.signInAtPages(login, "maya").Client, console)
	require.Equal(t, l.PagesURL()+"/clusters/"+id, at, "from the moment of the revocation, whatever the cluster knows")
	l.askUntil("the account is removed", time.Minute, polite, func() bool {
		return l.count(`SELECT count(*) FROM access WHERE id = $1 AND removed_at IS NOT NULL`, mine) == 1
	})
	_, at, _ = fetch(t, maya.Client, console, nil)
	require.Contains(t, at, "/oauth/authorize", "the session has ended")
	printed, ok = l.withToken(domain, byWeb, "whoami")
	require.False(t, ok)
	require.Contains(t, printed, "Unauthorized")
	_, _, page = fetch(t, rob.Client, console, nil)
	require.Contains(t, page, "Signed in as", "the viewer's stays")

	l.unlabel(number)
	require.Zero(t, l.count(`SELECT count(*) FROM access WHERE removed_at IS NULL`), "no account outlives its cluster")
}

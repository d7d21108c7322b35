package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// newBrowser returns a client with its own cookies.
func newBrowser() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	return &http.Client{Jar: jar, Timeout: 20 * time.Second}, err
}

// closed checks that a page redirects to the sign-in, and that a guessed password fails.
func (t *scenario) closed(ctx context.Context) (err error) {
	defer must.Catch(&err)
	browser := must.Get(newBrowser())
	at, _ := must.Get2(page(ctx, browser, http.MethodGet, t.at.Private+"/"))
	must.FailIf(at.Path != "/login", "the list is at %s", at)
	must.FailIf(saml.SignIn(ctx, browser, t.at.Private, "maya", "guessed", "/") == nil, "a guess signed somebody in")
	return nil
}

// signedIn signs one of the demo's people in and out again, as a browser does.
func (t *scenario) signedIn(ctx context.Context, login, name string) (err error) {
	defer must.Catch(&err)
	browser := must.Get(newBrowser())
	must.Do(saml.SignIn(ctx, browser, t.at.Private, login, "demo-"+login, "/"))
	at, body := must.Get2(page(ctx, browser, http.MethodGet, t.at.Private+"/"))
	must.FailIf(at.Path != "/" || !strings.Contains(body, name), "%s is shown %s without the name", login, at)
	must.Get2(page(ctx, browser, http.MethodPost, t.at.Private+"/logout"))
	if at, _, err = page(ctx, browser, http.MethodGet, t.at.Private+"/"); err == nil && at.Path != "/login" {
		err = fmt.Errorf("%s is still signed in", login)
	}
	return err
}

// page returns the URL at which a browser arrives, and the page there.
func page(ctx context.Context, browser *http.Client, method, to string) (_ *url.URL, _ string, err error) {
	defer must.Catch(&err)
	r := must.Get(http.NewRequestWithContext(ctx, method, to, nil))
	answer := must.Get(browser.Do(r))
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer.Request.URL, string(raw), err
}

package saml

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// SignIn signs a person in over HTTP like a browser: it follows the sign-in link, enters the password at the provider, and submits
// the form that the provider's page submits automatically. The client must keep cookies and follow redirects; at the end it is on the
// page next.
func SignIn(ctx context.Context, browser *http.Client, home, login, password, next string) (err error) {
	defer must.Catch(&err)
	page, _ := must.Get2(visit(ctx, browser, home+"/saml/login?next="+url.QueryEscape(next), nil))
	_, at := must.Get2(FinishSignIn(ctx, browser, page, login, password))
	must.FailIf(!strings.HasPrefix(at, home), "sign in as %s: it ended at %s", login, at)
	return nil
}

// FinishSignIn fills in the provider's page, which a browser was led to, and returns the page that it comes to then.
func FinishSignIn(ctx context.Context, browser *http.Client, page, login, password string) (shown, at string, err error) {
	defer must.Catch(&err)
	form, to := formOf(page)
	form.Set("user", login)
	form.Set("password", password)
	page, _, err = visit(ctx, browser, to, form)
	must.Wrap(err, "sign in as %s", login)
	form, to = formOf(page)
	must.FailIf(!form.Has("SAMLResponse"), "sign in as %s: the provider's page brings nothing back", login)
	shown, at, err = visit(ctx, browser, to, form)
	must.Wrap(err, "sign in as %s", login)
	return shown, at, nil
}

// visit gets a URL, or posts a form to it, and returns the page and its URL.
func visit(ctx context.Context, browser *http.Client, to string, form url.Values) (page, at string, err error) {
	defer must.Catch(&err)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	}
	must.Do(err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site") // as a browser marks a form on another site's page
		r.Header.Set("Origin", "https://idp.example")
	}
	answer := must.Get(browser.Do(r))
	defer answer.Body.Close()
	raw := must.Get(io.ReadAll(answer.Body))
	if answer.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("%s %s answered %s: %s", r.Method, to, answer.Status, plain(string(raw)))
	}
	return string(raw), answer.Request.URL.String(), nil
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	hidden     = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	alert      = regexp.MustCompile(`role="alert">([^<]*)<`)
)

// formOf returns the first form of a page with its hidden fields.
func formOf(page string) (form url.Values, to string) {
	form = url.Values{}
	if m := formAction.FindStringSubmatch(page); m != nil {
		to = html.UnescapeString(m[1])
	}
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form, to
}

// plain returns the error message of a page.
func plain(page string) string {
	if m := alert.FindStringSubmatch(page); m != nil {
		return html.UnescapeString(m[1])
	}
	return "it does not say why"
}

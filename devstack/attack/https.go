package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/saml"
)

// httpsAttacks check the pages as they are served in production: behind a proxy that terminates TLS.
func httpsAttacks() []attack {
	return []attack{
		{name: "identity/https-cookies", who: "a neighbour host", tried: "cookies that travel in the open, that scripts read, or that another host can plant", play: httpsCookies},
	}
}

// secure is another server of the same installation whose pages are served over https.
type secure struct {
	url     string
	browser *http.Client
	idp     *saml.Provider
	stop    func() error
}

// behindTLS starts a server with an https URL and more lines of its configuration, a proxy that terminates TLS in front of it, and an identity provider for it.
func (t *target) behindTLS(ctx context.Context, more ...string) (s *secure, err error) {
	defer must.Catch(&err)
	port := must.Get(devstack.FreePort())
	private := fmt.Sprintf("127.0.0.1:%d", port)
	to := &url.URL{Scheme: "http", Host: private}
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(to); r.SetXForwarded() },
		ErrorLog: log.New(io.Discard, "", 0), // errors until the server listens
	})
	s = &secure{url: proxy.URL, browser: proxy.Client()}
	s.idp = must.Get(saml.Start(ctx, saml.Config{Home: to.String()}))
	config := must.Get(t.secureConfig(private, proxy.URL, s.idp.Metadata(), more...))
	stop := must.Get(t.ServeBeside(config, "api", filepath.Join(t.Dir, "log", "secure.log")))
	s.stop = func() error { proxy.Close(); return errors.Join(stop(), s.idp.Stop()) }
	jar, err := newBrowser()
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.browser.Jar, s.browser.CheckRedirect = jar.Jar, plain.CheckRedirect
	err = await(ctx, "the server behind TLS", func(ctx context.Context) (bool, error) {
		got, err := s.ask(ctx, http.MethodGet, "/readyz", nil)
		return err == nil && got.status == http.StatusOK, err
	})
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// secureConfig returns the demo's configuration with other addresses.
func (t *target) secureConfig(private, home, metadata string, more ...string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(t.Dir, "server.yaml"))
	if err != nil {
		return "", err
	}
	text := string(raw)
	for line, now := range map[string]string{
		"listen": fmt.Sprintf("listen: {public: \"127.0.0.1:0\", private: %q}", private), "ui_url": "ui_url: " + home,
		"saml": fmt.Sprintf("saml: {name: \"the provider\", metadata: %q}", metadata),
	} {
		text = regexp.MustCompile(`(?m)^`+line+`:.*$`).ReplaceAllLiteralString(text, now)
	}
	text += strings.Join(append(more, ""), "\n")
	path := filepath.Join(t.Dir, "secure.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func (s *secure) ask(ctx context.Context, method, at string, form url.Values, headers ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+at, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return send(s.browser, r)
}

// cookieIn says what is wrong with a cookie that a page sets over https; empty: nothing.
func cookieIn(set string) string {
	name, _, _ := strings.Cut(set, "=")
	attributes := strings.ToLower(set)
	site := "samesite=lax"
	switch {
	case strings.Contains(name, "signin"):
		site = "samesite=none" // the identity provider's page posts from another site
	case strings.Contains(name, "said"):
		site = "samesite=strict"
	}
	switch {
	case !strings.HasPrefix(name, "__Host-"):
		return name + " has no __Host-"
	case !strings.Contains(attributes, "; secure"), !strings.Contains(attributes, "; httponly"), !strings.Contains(attributes, "; path=/;"):
		return name + " lacks Secure, HttpOnly or Path=/"
	case strings.Contains(attributes, "; domain"):
		return name + " has a Domain"
	case !strings.Contains(attributes, site):
		return name + " has not " + site
	}
	return ""
}

func httpsCookies(ctx context.Context, t *target) (r result, err error) {
	s, err := t.behindTLS(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	sets, session, err := s.cookies(ctx)
	if err != nil {
		return result{}, err
	}
	var wrong []string
	for _, set := range sets {
		if text := cookieIn(set); text != "" {
			wrong = append(wrong, text)
		}
	}
	planted := &secure{url: s.url, browser: &http.Client{Transport: s.browser.Transport, CheckRedirect: plain.CheckRedirect}}
	got, err := planted.ask(ctx, http.MethodGet, "/me", nil, "Cookie", sessionCookie+"="+session)
	if err != nil {
		return result{}, err
	}
	if got.status == http.StatusOK {
		wrong = append(wrong, "a session in a cookie without __Host- is taken")
	}
	if len(wrong) > 0 {
		return through("%s", strings.Join(wrong, "; "))
	}
	return held("%d cookies, all __Host-, Secure, HttpOnly and with their SameSite; one without __Host- is not taken", len(sets))
}

// cookies signs an admin in, makes a page show a message and signs out, and returns every cookie that was set.
func (s *secure) cookies(ctx context.Context) (sets []string, session string, err error) {
	defer must.Catch(&err)
	begun := must.Get(s.ask(ctx, http.MethodGet, auth.BeginPath+"?next=/", nil))
	to := must.Get(url.Parse(begun.header.Get("Location")))
	form := must.Get(s.idp.Answer(ctx, to, "will", nil))
	sets = begun.header.Values("Set-Cookie")
	for _, step := range []struct {
		at   string
		form url.Values
	}{{auth.FinishPath, form}, {"/policy/reload", url.Values{}}, {"/logout", url.Values{}}} {
		got := must.Get(s.ask(ctx, http.MethodPost, step.at, step.form, "Sec-Fetch-Site", "same-origin"))
		must.FailIf(got.status != http.StatusSeeOther || len(got.header.Values("Set-Cookie")) == 0,
			"POST %s was answered %d and set no cookie", step.at, got.status)
		for _, set := range got.header.Values("Set-Cookie") {
			if name, value, _ := strings.Cut(set, "="); strings.HasSuffix(name, sessionCookie) && session == "" {
				session, _, _ = strings.Cut(value, ";")
			}
			sets = append(sets, set)
		}
	}
	return sets, session, nil
}

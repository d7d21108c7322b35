package oc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// This file is what OpenShift does with an identity provider of the type OpenID: its operator reads the provider's metadata and asks whether it takes
// passwords (cluster-authentication-operator pkg/controllers/configobservation/oauth/idp_conversions.go), and its OAuth server sends browsers there and
// takes the ID token for the code (oauth-server pkg/oauth/external). Neither checks the token's signature, and no PKCE is sent.

// openIDProvider is the field openID of an identity provider.
type openIDProvider struct {
	ClientID, Issuer string
	ClientSecret, CA struct{ Name string }
	Claims           struct{ PreferredUsername, Name, Groups []string }
}

const (
	callbackPath = "/oauth2callback/"
	csrfCookie   = "csrf"
)

// openIDClient speaks to the provider as the cluster does.
type openIDClient struct {
	openIDProvider
	secret           string
	http             *http.Client
	authorize, token string
}

// newOpenIDClient reads the provider's metadata.
func newOpenIDClient(ctx context.Context, l *resources.Living, p openIDProvider) (c openIDClient, err error) {
	defer must.Catch(&err)
	c = openIDClient{openIDProvider: p, secret: l.Kept("Secret/" + p.ClientSecret.Name)}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.CA.Name != "" {
		trust.RootCAs = x509.NewCertPool()
		must.FailIf(!trust.RootCAs.AppendCertsFromPEM([]byte(l.Kept("ConfigMap/"+p.CA.Name))), "the ConfigMap %s has no certificate", p.CA.Name)
	}
	c.http = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: trust}}
	at := strings.TrimRight(p.Issuer, "/") + "/.well-known/openid-configuration"
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, at, nil))
	var found struct {
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
	}
	must.Wrap(c.send(r, &found), "couldn't get %s", at)
	for _, one := range []string{p.Issuer, found.Authorize, found.Token} {
		if u, err := url.Parse(one); err != nil || u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
			return c, fmt.Errorf("invalid metadata from %s: url=%s", at, one)
		}
	}
	c.authorize, c.token = found.Authorize, found.Token
	return c, nil
}

func (c openIDClient) send(r *http.Request, into any) (err error) {
	defer must.Catch(&err)
	r.Header.Set("Accept", "application/json")
	answer := must.Get(c.http.Do(r))
	defer answer.Body.Close()
	must.FailIf(answer.StatusCode >= http.StatusInternalServerError || r.Method == http.MethodGet && answer.StatusCode != http.StatusOK,
		"unexpected response status %d", answer.StatusCode)
	return json.NewDecoder(answer.Body).Decode(into)
}

// ask sends a form to the token endpoint. The client's secret is in the form (osincli, SendClientSecretInParams).
func (c openIDClient) ask(ctx context.Context, form url.Values) (answer map[string]any, err error) {
	form.Set("client_id", c.ClientID)
	form.Set("client_secret", c.secret)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.token, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return answer, c.send(r, &answer)
}

// observeProvider is what the operator does before the OAuth server gets a provider.
func observeProvider(ctx context.Context, l *resources.Living, p identityProvider) (err error) {
	defer must.Catch(&err)
	c, err := newOpenIDClient(ctx, l, p.OpenID)
	must.Wrap(err, "failed to apply IDP %s config", p.Name)
	answer, err := c.ask(ctx, url.Values{"grant_type": {"password"}, "scope": {"openid"}, "username": {"test"}, "password": {"test"}})
	must.Wrap(err, "failed to apply IDP %s config: error attempting password grant flow", p.Name)
	must.FailIf(answer["error"] == "invalid_grant" || answer["access_token"] != nil, "the stand-in knows no OpenID provider that takes passwords")
	return nil
}

// redirectTo sends a browser to the provider. The state has what the browser came for, and a token that its cookie repeats.
func (s *loginServer) redirectTo(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living, p identityProvider) {
	c, err := newOpenIDClient(r.Context(), l, p.OpenID)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	csrf := newSecret()
	http.SetCookie(w, &http.Cookie{Name: csrfCookie, Value: csrf, Path: "/", HttpOnly: true, Secure: true})
	state := base64.URLEncoding.EncodeToString([]byte(url.Values{"csrf": {csrf}, "then": {r.FormValue("then")}}.Encode()))
	ask := url.Values{"client_id": {c.ClientID}, "redirect_uri": {callbackOf(domain, p)}, "response_type": {"code"}, "scope": {"openid"}, "state": {state}}
	http.Redirect(w, r, c.authorize+"?"+ask.Encode(), http.StatusFound)
}

func callbackOf(domain string, p identityProvider) string {
	return "https://oauth-openshift.apps." + domain + callbackPath + p.Name
}

// finishSignIn takes what the provider sent back with the browser.
func (s *loginServer) finishSignIn(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living) {
	all := providersOf(l)
	at := slices.IndexFunc(all, func(p identityProvider) bool { return p.Type == "OpenID" && callbackPath+p.Name == r.URL.Path })
	if at < 0 {
		http.NotFound(w, r)
		return
	}
	then, err := readState(r)
	if err == nil {
		err = s.signInByCode(w, r, domain, l, all[at])
	}
	if err != nil {
		http.Error(w, "An authentication error occurred. "+err.Error(), http.StatusForbidden)
		return
	}
	http.Redirect(w, r, then, http.StatusFound)
}

func readState(r *http.Request) (then string, err error) {
	raw, err := base64.URLEncoding.DecodeString(r.URL.Query().Get("state"))
	if err != nil {
		return "", errors.New("State is invalid")
	}
	state, _ := url.ParseQuery(string(raw))
	if cookie, err := r.Cookie(csrfCookie); err != nil || cookie.Value != state.Get("csrf") || !strings.HasPrefix(state.Get("then"), "/oauth/authorize?") {
		return "", errors.New("state did not contain a valid CSRF token")
	}
	return state.Get("then"), nil
}

// signInByCode takes the ID token for the code, and makes the user and the identity that it names.
func (s *loginServer) signInByCode(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living, p identityProvider) (err error) {
	defer must.Catch(&err)
	c := must.Get(newOpenIDClient(r.Context(), l, p.OpenID))
	answer := must.Get(c.ask(r.Context(), url.Values{"grant_type": {"authorization_code"}, "code": {r.URL.Query().Get("code")}, "redirect_uri": {callbackOf(domain, p)}}))
	raw, _ := answer["id_token"].(string)
	claims, err := readClaims(raw)
	if err != nil {
		return fmt.Errorf("%w: %v", err, answer["error"])
	}
	user, subject := claimOf(claims, p.OpenID.Claims.PreferredUsername), claimOf(claims, []string{"sub"})
	must.FailIf(user == "" || subject == "", "id_token did not contain a 'sub' claim and a user name")
	for _, other := range l.Sessions() {
		must.FailIf(other.User == user && (other.Provider != p.Name || other.Subject != subject),
			"user %q cannot be claimed by identity %q because it is already mapped to another", user, p.Name+":"+subject)
	}
	var groups []string
	for _, name := range p.OpenID.Claims.Groups {
		list, _ := claims[name].([]any)
		for _, group := range list {
			groups = append(groups, fmt.Sprint(group))
		}
	}
	g := grant{domain: domain, user: user, provider: p.Name, subject: subject, groups: strings.Join(groups, ","), expires: time.Now().Add(grantLasts)}
	s.rememberLogin(w, g)
	return l.Begin(r.Context(), resources.Session{User: user, Provider: p.Name, Subject: subject, Groups: g.groups, Hash: noToken + user, Expires: time.Now().Add(tokenLasts)})
}

// noToken begins the name of a session that has no token yet: a user who has just signed in.
const noToken = "-"

func readClaims(token string) (claims map[string]any, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("no id_token returned")
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(raw, &claims)
	}
	return claims, err
}

func claimOf(claims map[string]any, names []string) string {
	for _, name := range names {
		if text, _ := claims[name].(string); text != "" {
			return text
		}
	}
	return ""
}

package attack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/openid"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/token"
)

// consoleAttacks try to sign in to a console through the server as somebody else, or without access.
func consoleAttacks() []attack {
	return []attack{
		{name: "access/console-code", who: "an admin of another cluster, who sees a code; a former reader", tried: "take a code to another address, with another cluster's client, twice, forged, without access, or after the revocation", play: consoleCodes},
	}
}

// signIn signs somebody in to the pages behind TLS.
func (s *secure) signIn(ctx context.Context, who string) (err error) {
	defer must.Catch(&err)
	begun := must.Get(s.ask(ctx, http.MethodGet, auth.BeginPath+"?next=/", nil))
	to := must.Get(url.Parse(begun.header.Get("Location")))
	got := must.Get(s.ask(ctx, http.MethodPost, auth.FinishPath, must.Get(s.idp.Answer(ctx, to, who, nil)), "Sec-Fetch-Site", "cross-site"))
	must.FailIf(got.status != http.StatusSeeOther, "the sign-in of %s was answered %d", who, got.status)
	return nil
}

// console is a cluster whose console signs in through the server behind TLS.
type console struct {
	*secure
	client   contract.OpenIDClient
	redirect string
}

func (s *secure) consoleOf(t *target, p prey) (c console, err error) {
	defer must.Catch(&err)
	key := must.Get(token.LoadKey(filepath.Join(t.Dir, "secrets", "session-key.pem")))
	service := must.Get(openid.New(openid.Config{Key: key, Home: s.url}))
	client := must.Get(service.Client(p.ID)) // an admin of the cluster reads it there
	return console{s, *client, (names.Scope{Name: p.Name, BaseDomain: p.BaseDomain}).OpenIDRedirect()}, nil
}

// authorize returns where the browser is sent, and the code.
func (c console) authorize(ctx context.Context, redirect string) (status int, to, code string, err error) {
	defer must.Catch(&err)
	ask := url.Values{"client_id": {c.client.ID}, "redirect_uri": {redirect}, "response_type": {"code"}, "scope": {"openid"}, "state": {"s"}}
	got := must.Get(c.ask(ctx, http.MethodGet, openid.AuthorizePath+"?"+ask.Encode(), nil))
	at := must.Get(url.Parse(got.header.Get("Location")))
	return got.status, at.String(), at.Query().Get("code"), nil
}

// exchange returns the error that a code is answered with; empty: it gave an ID token.
func (c console) exchange(ctx context.Context, code string) (refused string, err error) {
	got, err := c.ask(ctx, http.MethodPost, openid.TokenPath, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {c.client.ID}, "client_secret": {c.client.Secret}, "redirect_uri": {c.redirect}})
	if err != nil {
		return "", err
	}
	var answer struct{ Error string }
	if err := json.Unmarshal(got.body, &answer); err != nil || answer.Error == "" && got.status != http.StatusOK {
		return "", fmt.Errorf("the token endpoint answered %d: %.200s", got.status, got.body)
	}
	return answer.Error, nil
}

func consoleCodes(ctx context.Context, t *target) (r result, err error) {
	defer must.Catch(&err)
	s := must.Get(t.behindTLS(ctx, "console: {sign_in: openid}"))
	defer func() { err = errors.Join(err, s.stop()) }()
	v := must.Get(t.victimOf(ctx))
	mine := must.Get(s.consoleOf(t, must.Get(t.newPrey(ctx, attacker, t.unique("console")))))
	c := must.Get(s.consoleOf(t, v))
	must.Do(s.signIn(ctx, "will"))
	var wrong []string
	leads := func(what, redirect string) {
		if _, to, code, err := c.authorize(ctx, redirect); err != nil || code != "" || strings.HasPrefix(to, "http") && !strings.HasPrefix(to, s.url) {
			wrong = append(wrong, fmt.Sprintf("%s: sent to %.100q (%v)", what, to, err))
		}
	}
	leads("without access", c.redirect)
	access := must.Get(t.openConsole(ctx, s, v))
	for _, redirect := range []string{mine.redirect, "https://evil.example/oauth2callback/ocpctl-sso", c.redirect + "/..", c.redirect + "?x=1", strings.Replace(c.redirect, "https:", "http:", 1), ""} {
		leads("another address", redirect)
	}
	refuses := func(what string, by console, code, want string) {
		if got, err := by.exchange(ctx, code); err != nil || got != want {
			wrong = append(wrong, fmt.Sprintf("%s: %q instead of %q (%v)", what, got, want, err))
		}
	}
	_, _, code, err := c.authorize(ctx, c.redirect)
	must.Do(err)
	stolen := c
	stolen.client.Secret = mine.client.Secret
	refuses("another cluster's client", mine, code, "invalid_grant")
	refuses("another cluster's secret", stolen, code, "invalid_client")
	refuses("a forged code", c, withoutSignature(code), "invalid_grant")
	refuses("the code of the cluster", c, code, "")
	refuses("a second time", c, code, "invalid_grant")
	_, _, code, err = c.authorize(ctx, c.redirect)
	must.Do(err)
	must.Do(must.Get(t.as(victim)).expect(ctx, http.StatusOK, nil, http.MethodDelete, accessPath(v.ID)+"/access/"+access, nil))
	refuses("after the revocation", c, code, "invalid_grant")
	leads("after the revocation", c.redirect)
	if len(wrong) > 0 {
		return through("%s", strings.Join(wrong, "; "))
	}
	return held("a code leads to its own cluster alone, works there once, and not after the revocation")
}

// withoutSignature is a code without a signature.
func withoutSignature(code string) string {
	parts := strings.Split(code, ".")
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[min(1, len(parts)-1)] + "."
}

// openConsole asks for access, and writes what its runner would report: the runners of this demo make passwords.
func (t *target) openConsole(ctx context.Context, s *secure, p prey) (access string, err error) {
	if _, err = s.ask(ctx, http.MethodPost, "/clusters/"+p.ID+"/console", url.Values{}, "Sec-Fetch-Site", "same-origin"); err != nil {
		return "", err
	}
	err = t.pool.QueryRow(ctx, `UPDATE access SET attempt = 1, minted_at = now(), expires_at = now() + interval '1 hour' WHERE cluster_id = $1 AND openid AND revoked_at IS NULL RETURNING id`, p.ID).Scan(&access)
	return access, err
}

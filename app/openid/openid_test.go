package openid_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/openid"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

var (
	maya = policy.As("saml:maya@acme.example", "Maya", policy.Requester, "platform")
	web  = app.Origin{Source: policy.SourceWeb}
)

// provider is the OpenID provider over real HTTP, with two clusters.
type provider struct {
	*servicetest.Fixture
	service     *openid.Service
	credentials *credentials.Service
	shop, other clusters.Row
	late        time.Duration // how far its clock is ahead
	log         strings.Builder
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	h := &provider{Fixture: servicetest.New(t)}
	cfg := h.Config()
	cfg.OpenID = true
	core := app.New(cfg)
	h.credentials = credentials.New(core, cfg)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.service, err = openid.New(openid.Config{App: core, Credentials: h.credentials, Key: key, Spend: h.Store.People.SpendSignature, Home: server.URL,
		Now: func() time.Time { return time.Now().Add(h.late) }, Log: slog.New(slog.NewTextHandler(&h.log, nil))})
	require.NoError(t, err)
	mux.Handle("/", h.service.Handler())
	for into, name := range map[*clusters.Row]string{&h.shop: "shop", &h.other: "other"} {
		*into = h.Create(policy.As("saml:will@acme.example", "Will", policy.PlatformAdmin), name)
		servicetest.Ready(t, h.Store, h.Shelf, *into)
	}
	return h
}

// opens has a runner open the console of a cluster for maya.
func (h *provider) opens(row clusters.Row) credentials.Given {
	h.Helper()
	want := credentials.Want{Console: true}
	_, err := h.credentials.GiveAccess(h.Context(), maya, row.ID, want, web)
	require.NoError(h, err)
	servicetest.Mint(h, h.Store, h.Shelf)
	given, err := h.credentials.GiveAccess(h.Context(), maya, row.ID, want, web)
	require.NoError(h, err)
	require.True(h, given.IsMade())
	require.Empty(h, given.Password)
	return given
}

// client is a cluster as a well-kept library speaks for it.
func (h *provider) client(row clusters.Row) (*oidc.Provider, oauth2.Config) {
	h.Helper()
	client, err := h.service.Client(row.ID)
	require.NoError(h, err)
	found, err := oidc.NewProvider(h.Context(), client.Issuer)
	require.NoError(h, err)
	domain := row.Name + "." + row.BaseDomain
	return found, oauth2.Config{ClientID: client.ID, ClientSecret: client.Secret, Endpoint: found.Endpoint(), Scopes: []string{"openid"},
		RedirectURL: "https://oauth-openshift.apps." + domain + "/oauth2callback/ocpctl-sso"}
}

// codeFor is the code with which maya's browser is sent back.
func (h *provider) codeFor(address string) (string, error) {
	h.Helper()
	asked, err := url.Parse(address)
	require.NoError(h, err)
	require.Equal(h, openid.AuthorizePath, asked.Path)
	r, err := openid.ReadRequest(asked.Query())
	if err != nil {
		return "", err
	}
	to, err := h.service.Authorize(h.Context(), maya, r, web)
	if err != nil {
		return "", err
	}
	back, err := url.Parse(to.Reveal())
	require.NoError(h, err)
	require.Equal(h, "its-state", back.Query().Get("state"))
	return back.Query().Get("code"), nil
}

func TestALibrarySignsAReaderInWithEveryCheckOfOpenIDConnect(t *testing.T) {
	h := newProvider(t)
	given := h.opens(h.shop)
	found, config := h.client(h.shop)
	for name, style := range map[string]oauth2.AuthStyle{"as OpenShift": oauth2.AuthStyleInParams, "with basic": oauth2.AuthStyleInHeader} {
		t.Run(name, func(t *testing.T) {
			config.Endpoint.AuthStyle = style
			verifier := oauth2.GenerateVerifier()
			code, err := h.codeFor(config.AuthCodeURL("its-state", oidc.Nonce("n"), oauth2.S256ChallengeOption(verifier)))
			require.NoError(t, err)
			_, err = config.Exchange(t.Context(), code, oauth2.VerifierOption("wrong"))
			require.ErrorContains(t, err, "invalid_grant", "PKCE is checked where it is sent")
			got, err := config.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
			require.NoError(t, err)
			raw, _ := got.Extra("id_token").(string)
			token, err := found.Verifier(&oidc.Config{ClientID: h.shop.ID}).Verify(t.Context(), raw)
			require.NoError(t, err)
			require.Equal(t, []string{given.Access.Account, "n"}, []string{token.Subject, token.Nonce})
			var claims struct {
				Name     string
				Username string `json:"preferred_username"`
				Groups   []string
			}
			require.NoError(t, token.Claims(&claims))
			require.Equal(t, "Maya", claims.Name)
			require.Equal(t, given.Access.Account, claims.Username)
			require.Equal(t, []string{"ocpctl-admin"}, claims.Groups)
			_, err = config.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
			require.ErrorContains(t, err, "invalid_grant", "a code works once")
			_, err = found.Verifier(&oidc.Config{ClientID: h.shop.ID}).Verify(t.Context(), code)
			require.Error(t, err, "a code is no ID token")
		})
	}
}

func TestACodeIsOnlyForTheConsoleAndTheReaderThatHaveAccess(t *testing.T) {
	for name, one := range map[string]struct {
		prepare func(*provider)
		ask     func(*oauth2.Config)
		kind    app.Kind
	}{
		"before access was asked for": {prepare: func(*provider) {}, kind: app.Conflict},
		"of another cluster's console": {ask: func(c *oauth2.Config) {
			c.RedirectURL = strings.Replace(c.RedirectURL, "apps.shop.", "apps.other.", 1)
		}, kind: app.Invalid},
		"to another path":      {ask: func(c *oauth2.Config) { c.RedirectURL += "/../x" }, kind: app.Invalid},
		"to another site":      {ask: func(c *oauth2.Config) { c.RedirectURL = "https://evil.example/oauth2callback/ocpctl-sso" }, kind: app.Invalid},
		"of no cluster":        {ask: func(c *oauth2.Config) { c.ClientID = "ocpctl" }, kind: app.Invalid},
		"of a cluster unknown": {ask: func(c *oauth2.Config) { c.ClientID = "clu_01M8K9BJAA8ABT2JHGY5ER3X6V" }, kind: app.NotFound},
		"without openid":       {ask: func(c *oauth2.Config) { c.Scopes = nil }, kind: app.Invalid},
		"after it was revoked": {prepare: func(h *provider) {
			given := h.opens(h.shop)
			require.NoError(h, h.credentials.Revoke(h.Context(), maya, h.shop.ID, given.Access.ID, web))
		}, kind: app.Conflict},
		"with access to another cluster alone": {prepare: func(h *provider) { h.opens(h.other) }, kind: app.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			h := newProvider(t)
			if one.prepare == nil {
				h.opens(h.shop)
			} else {
				one.prepare(h)
			}
			_, config := h.client(h.shop)
			if one.ask != nil {
				one.ask(&config)
			}
			_, err := h.codeFor(config.AuthCodeURL("its-state"))
			require.Equal(t, one.kind, app.KindOf(err), "%v", err)
		})
	}
}

func TestACodeGivesNothingElsewhereLaterOrAfterTheRevocation(t *testing.T) {
	h := newProvider(t)
	given := h.opens(h.shop)
	_, config := h.client(h.shop)
	_, other := h.client(h.other)
	exchange := func(c oauth2.Config, options ...oauth2.AuthCodeOption) error {
		t.Helper()
		code, err := h.codeFor(config.AuthCodeURL("its-state"))
		require.NoError(t, err)
		_, err = c.Exchange(t.Context(), code, options...)
		return err
	}
	require.NoError(t, exchange(config))
	require.ErrorContains(t, exchange(other), "invalid_grant", "another cluster's client")
	wrong := config
	wrong.ClientSecret = other.ClientSecret
	require.ErrorContains(t, exchange(wrong), "invalid_client", "another cluster's secret")
	require.Contains(t, h.log.String(), `msg="sign-in to a console refused" cluster=`+h.shop.ID+` reason="secret of the client"`)
	wrong.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	var refused *oauth2.RetrieveError
	require.ErrorAs(t, exchange(wrong), &refused)
	require.Equal(t, http.StatusUnauthorized, refused.Response.StatusCode)
	require.Equal(t, `Basic realm="ocpctl"`, refused.Response.Header.Get("WWW-Authenticate"))
	wrong = config
	wrong.RedirectURL = other.RedirectURL
	require.ErrorContains(t, exchange(wrong), "invalid_grant", "another address")
	require.ErrorContains(t, exchange(config, oauth2.VerifierOption(oauth2.GenerateVerifier())), "invalid_grant", "a request from which the challenge was taken")

	code, err := h.codeFor(config.AuthCodeURL("its-state"))
	require.NoError(t, err)
	h.late = 61 * time.Second
	_, err = config.Exchange(t.Context(), code)
	require.ErrorContains(t, err, "invalid_grant", "a minute later")
	h.late = 0
	code, err = h.codeFor(config.AuthCodeURL("its-state"))
	require.NoError(t, err)
	require.NoError(t, h.credentials.Revoke(h.Context(), maya, h.shop.ID, given.Access.ID, web))
	_, err = config.Exchange(t.Context(), code)
	require.ErrorContains(t, err, "invalid_grant", "revoked between the two")
	require.Contains(t, h.log.String(), `reason="access has ended"`)
}

// Of requests with one code at the same time, one gets a token.
func TestACodeWorksOnceInARace(t *testing.T) {
	h := newProvider(t)
	h.opens(h.shop)
	_, config := h.client(h.shop)
	code, err := h.codeFor(config.AuthCodeURL("its-state"))
	require.NoError(t, err)
	const many = 4
	refused := make(chan error, many)
	for range many {
		go func() {
			_, err := config.Exchange(t.Context(), code)
			refused <- err
		}()
	}
	given := 0
	for range many {
		if err := <-refused; err == nil {
			given++
		} else {
			require.ErrorContains(t, err, "invalid_grant")
		}
	}
	require.Equal(t, 1, given)
}

// OpenShift's operator asks whether passwords can be sent to the provider; only invalid_grant means yes.
func TestNobodySendsPasswordsHere(t *testing.T) {
	h := newProvider(t)
	_, config := h.client(h.shop)
	answer, err := http.PostForm(config.Endpoint.TokenURL, url.Values{"client_id": {config.ClientID}, "client_secret": {config.ClientSecret}, "grant_type": {"password"}, "username": {"test"}, "password": {"test"}})
	require.NoError(t, err)
	defer answer.Body.Close()
	var said map[string]string
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&said))
	require.Equal(t, "unsupported_grant_type", said["error"])
}

// Every replica derives the same keys, and each cluster has its own secret.
func TestAClientsSecretIsDerived(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	secretOf := func(key ed25519.PrivateKey, cluster string) string {
		t.Helper()
		s, err := openid.New(openid.Config{Key: key, Home: "https://ocpctl.example.com/", Spend: func(context.Context, string, time.Time) (bool, error) { return true, nil }})
		require.NoError(t, err)
		client, err := s.Client(cluster)
		require.NoError(t, err)
		require.Equal(t, "https://ocpctl.example.com/openid", client.Issuer)
		return client.Secret
	}
	require.Equal(t, secretOf(key, "clu_1"), secretOf(key, "clu_1"))
	require.NotEqual(t, secretOf(key, "clu_1"), secretOf(key, "clu_2"))
	_, newer, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	require.NotEqual(t, secretOf(key, "clu_1"), secretOf(newer, "clu_1"))
}

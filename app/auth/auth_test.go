package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
)

var now = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// issuer is an OIDC issuer on this machine: discovery, keys, and tokens as asked.
type issuer struct {
	*httptest.Server
	key  *ecdsa.PrivateKey
	down atomic.Bool
}

func newIssuer(t *testing.T) *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i := &issuer{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Algorithm: "ES256", Use: "sig"}}})
	})
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) verifier() *auth.Verifier {
	return auth.New(auth.Config{
		Issuers: []auth.Issuer{{URL: i.URL, Audience: "ocpctl"}}, Now: func() time.Time { return now },
	})
}

func (i *issuer) token(t *testing.T, change map[string]any) string {
	return sign(t, i.key, i.claims(change))
}

func (i *issuer) claims(change map[string]any) map[string]any {
	claims := map[string]any{
		"iss": i.URL, "sub": "user-1", "aud": "ocpctl", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(),
		"name": "Maya", "groups": []string{"platform"}, "ocpctl_role": "requester",
	}
	for k, v := range change {
		if v == nil {
			delete(claims, k)
			continue
		}
		claims[k] = v
	}
	return claims
}

func sign(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k1"}}, nil)
	require.NoError(t, err)
	raw, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(t, err)
	return raw
}

func TestAGoodTokenSaysWhoAsks(t *testing.T) {
	i := newIssuer(t)
	session, err := i.verifier().Verify(context.Background(), i.token(t, nil))
	require.NoError(t, err)
	require.Equal(t, auth.Session{
		Principal: policy.As("oidc:"+i.URL+"#user-1", "Maya", policy.Requester, "platform"),
		Expires:   now.Add(time.Hour).Local(),
	}, session)
}

func TestARoleThatIsNoneOfOursIsNone(t *testing.T) {
	i := newIssuer(t)
	for _, role := range []any{nil, "", "admin", "PLATFORM_ADMIN"} {
		session, err := i.verifier().Verify(context.Background(), i.token(t, map[string]any{"ocpctl_role": role}))
		require.NoError(t, err)
		require.Empty(t, session.Principal.Seats, "claim %v", role)
	}
}

func TestEveryBadTokenIsRefusedWithItsReason(t *testing.T) {
	i := newIssuer(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	hmacSigner, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte("0123456789abcdef0123456789abcdef")}, nil)
	require.NoError(t, err)
	shared, err := jwt.Signed(hmacSigner).Claims(i.claims(nil)).Serialize()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		raw    string
		reason auth.Reason
		words  string
	}{
		"none":                   {"", auth.Missing, "Authorization: Bearer"},
		"not a token":            {"abc", auth.Malformed, "signed JWT"},
		"unsigned":               {"eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.", auth.Malformed, "signed JWT"},
		"signed by a shared key": {shared, auth.Malformed, "signed JWT"},
		"expired":                {i.token(t, map[string]any{"exp": now.Add(-time.Second).Unix()}), auth.Expired, "expired at 2025-03-01T11:59:59Z"},
		"without an end":         {i.token(t, map[string]any{"exp": nil}), auth.Expired, "expired at"},
		"not valid yet":          {i.token(t, map[string]any{"nbf": now.Add(time.Hour).Unix()}), auth.NotYet, "not valid yet"},
		"for somebody else":      {i.token(t, map[string]any{"aud": "vault"}), auth.WrongAudience, `"ocpctl"`},
		"for nobody":             {i.token(t, map[string]any{"aud": nil}), auth.WrongAudience, `"ocpctl"`},
		"of a strange issuer":    {i.token(t, map[string]any{"iss": "https://evil.example"}), auth.UnknownIssuer, i.URL},
		"of a strange key":       {sign(t, stranger, i.claims(nil)), auth.BadSignature, "does not fit"},
		"of nobody":              {i.token(t, map[string]any{"sub": nil}), auth.Malformed, "names nobody"},
		"with groups as a text":  {i.token(t, map[string]any{"groups": "platform"}), auth.Malformed, "list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := i.verifier().Verify(context.Background(), c.raw)
			var said *auth.Error
			require.ErrorAs(t, err, &said)
			require.Equal(t, c.reason, said.Reason)
			require.Contains(t, said.Message, c.words)
			if c.raw != "" {
				require.NotContains(t, said.Message, c.raw)
			}
		})
	}
}

func TestAnIssuerThatIsDownStopsNobodyFromStartingAndIsAskedAgain(t *testing.T) {
	i := newIssuer(t)
	i.down.Store(true)
	v := i.verifier()
	_, err := v.Verify(context.Background(), i.token(t, nil))
	var said *auth.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, auth.Unavailable, said.Reason)
	i.down.Store(false)
	_, err = v.Verify(context.Background(), i.token(t, nil))
	require.NoError(t, err)
}

func TestKeysThatCannotBeFetchedAreNotABadSignature(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, err = v.Verify(context.Background(), i.token(t, nil)) // discovers the issuer
	require.NoError(t, err)
	i.down.Store(true)
	_, err = v.Verify(context.Background(), sign(t, stranger, i.claims(nil))) // has to look for a newer key
	var said *auth.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, auth.Unavailable, said.Reason)
	_, err = v.Verify(context.Background(), i.token(t, nil)) // known keys go on
	require.NoError(t, err)
}

func TestTheCookieIsForOurPagesAlone(t *testing.T) {
	w := httptest.NewRecorder()
	auth.SetCookie(w, "tok", now.Add(time.Hour), true)
	set := w.Header().Get("Set-Cookie")
	for _, want := range []string{"ocpctl_session=tok", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"} {
		require.Contains(t, set, want)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	require.Empty(t, auth.FromCookie(r))
	r.Header.Set("Cookie", "ocpctl_session=tok")
	require.Equal(t, "tok", auth.FromCookie(r))
	require.Empty(t, auth.Bearer(r), "a cookie is no bearer token: no other site can make a browser call the API")
}

func TestTheBearerTokenIsReadFromItsHeader(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "Bearer  abc ": "abc", "Basic abc": "", "abc": "", "": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		require.Equal(t, want, auth.Bearer(r), header)
	}
}

package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

var now = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// issuer is an OIDC issuer on this machine: discovery, keys, and tokens as asked.
type issuer struct {
	*httptest.Server
	key   *ecdsa.PrivateKey
	kid   string
	asked atomic.Int32 // for keys
	down  atomic.Bool
}

func newIssuer(t *testing.T) *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i := &issuer{key: key, kid: "k1"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: i.kid, Algorithm: "ES256", Use: "sig"}}})
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
		Identities: func() []profiles.Identity {
			return []profiles.Identity{
				{Source: profiles.SourceOIDC, Match: map[string][]string{"ocpctl_role": {"requester"}}, Role: "requester", Teams: []string{"{groups}"}},
				{Source: profiles.SourceOIDC, Issuer: i.URL, Match: map[string][]string{"repository": {"acme/*"}, "ref": {"refs/heads/main"}}, Role: "requester", Teams: []string{"platform"}},
				{Source: profiles.SourceOIDC, Issuer: i.URL, Match: map[string][]string{"kubernetes.io.namespace": {"ci"}}, Role: "auditor", Teams: []string{"*"}},
			}
		},
	})
}

func (i *issuer) token(t *testing.T, change map[string]any) string {
	return sign(t, i.key, i.kid, i.claims(change))
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

func sign(t *testing.T, key *ecdsa.PrivateKey, kid string, claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	require.NoError(t, err)
	raw, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(t, err)
	return raw
}

func TestAGoodTokenSaysWhoAsks(t *testing.T) {
	i := newIssuer(t)
	session, err := i.verifier().Verify(context.Background(), i.token(t, map[string]any{"run": 17, "big": 9007199254740993, "ok": true, "deep": map[string]any{"er": []any{"a", 1}}}))
	require.NoError(t, err)
	require.Equal(t, policy.As("oidc:"+i.URL+"#user-1", "Maya", policy.Requester, "platform"), bare(session.Principal))
	require.Equal(t, now.Add(time.Hour).Local(), session.Expires)
	require.Equal(t, profiles.SourceOIDC, session.Claims.Source)
	require.Equal(t, i.URL, session.Claims.Issuer)
	for name, want := range map[string][]string{
		"groups": {"platform"}, "run": {"17"}, "big": {"9007199254740993"}, "ok": {"true"}, "deep.er": {"a", "1"}, "aud": {"ocpctl"}, "sub": {"user-1"},
	} {
		require.Equal(t, want, session.Claims.Values[name], name)
	}
}

func TestAWorkflowIsItsSubjectAndKeepsItsRun(t *testing.T) {
	i := newIssuer(t)
	workflow := map[string]any{
		"sub": "repo:acme/shop:ref:refs/heads/main", "name": nil, "groups": nil, "ocpctl_role": nil, "repository": "acme/shop",
		"ref": "refs/heads/main", "run_id": "7001", "actor": "maya", "job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/heads/main",
	}
	session, err := i.verifier().Verify(context.Background(), i.token(t, workflow))
	require.NoError(t, err)
	want := policy.As("oidc:"+i.URL+"#repo:acme/shop:ref:refs/heads/main", "acme/shop by maya", policy.Requester, "platform")
	want.Seats[0].Own = true // clusters of its own run alone
	require.Equal(t, want, bare(session.Principal))
	require.Equal(t, []string{"7001"}, session.Claims.Values["run_id"])

	workflow["ref"], workflow["sub"] = "refs/heads/other", "repo:acme/shop:ref:refs/heads/other"
	session, err = i.verifier().Verify(context.Background(), i.token(t, workflow))
	require.NoError(t, err)
	require.Empty(t, session.Principal.Seats, "another branch matches nothing")
}

func TestAServiceAccountIsReadFromWhereKubernetesPutsIt(t *testing.T) {
	i := newIssuer(t)
	session, err := i.verifier().Verify(context.Background(), i.token(t, map[string]any{
		"sub": "system:serviceaccount:ci:builder", "name": nil, "ocpctl_role": nil,
		"kubernetes.io": map[string]any{"namespace": "ci", "serviceaccount": map[string]any{"name": "builder", "uid": "u-1"}},
	}))
	require.NoError(t, err)
	want := policy.As("oidc:"+i.URL+"#system:serviceaccount:ci:builder", "ci/builder", policy.Auditor)
	want.Seats[0].Own = true
	require.Equal(t, want, bare(session.Principal))
	require.Equal(t, []string{"builder"}, session.Claims.Values["kubernetes.io.serviceaccount.name"])
}

func TestARoleThatIsNoneOfOursIsNone(t *testing.T) {
	i := newIssuer(t)
	for _, role := range []any{nil, "", "admin", "PLATFORM_ADMIN", 7} {
		session, err := i.verifier().Verify(context.Background(), i.token(t, map[string]any{"ocpctl_role": role}))
		require.NoError(t, err)
		require.Empty(t, session.Principal.Seats, "claim %v", role)
	}
}

func TestEveryBadTokenIsRefusedWithItsReason(t *testing.T) {
	i := newIssuer(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(i.key.Public())
	require.NoError(t, err)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	with := func(alg jose.SignatureAlgorithm, key any) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: "k1"}}, nil)
		require.NoError(t, err)
		raw, err := jwt.Signed(signer).Claims(i.claims(nil)).Serialize()
		require.NoError(t, err)
		return raw
	}
	for name, c := range map[string]struct {
		raw    string
		reason auth.Reason
		text   string
	}{
		"none":                   {"", auth.Missing, "Authorization: Bearer"},
		"not a token":            {"abc", auth.Malformed, "signed JWT"},
		"unsigned":               {"eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.", auth.Malformed, "signed JWT"},
		"signed by a shared key": {with(jose.HS256, public), auth.Malformed, "signed JWT"},
		"signed otherwise":       {with(jose.RS256, other), auth.BadSignature, "does not match"},
		"expired":                {i.token(t, map[string]any{"exp": now.Add(-31 * time.Second).Unix()}), auth.Expired, "expired at 2025-03-01T11:59:29Z"},
		"without an end":         {i.token(t, map[string]any{"exp": nil}), auth.Expired, "expired at"},
		"not valid yet":          {i.token(t, map[string]any{"nbf": now.Add(31 * time.Second).Unix()}), auth.NotYet, "not valid yet"},
		"not valid in words":     {i.token(t, map[string]any{"nbf": strconv.FormatInt(now.Add(time.Hour).Unix(), 10)}), auth.Malformed, "are not valid"},
		"for somebody else":      {i.token(t, map[string]any{"aud": "vault"}), auth.WrongAudience, `"ocpctl"`},
		"for nobody":             {i.token(t, map[string]any{"aud": nil}), auth.WrongAudience, `"ocpctl"`},
		"of a strange issuer":    {i.token(t, map[string]any{"iss": "https://evil.example"}), auth.UnknownIssuer, i.URL},
		"of a strange key":       {sign(t, stranger, "k1", i.claims(nil)), auth.BadSignature, "does not match"},
		"of nobody":              {i.token(t, map[string]any{"sub": nil}), auth.Malformed, "sub claim is not valid"},
		"of a line break":        {i.token(t, map[string]any{"sub": "a\nb"}), auth.Malformed, "sub claim is not valid"},
		"of a turned text":       {i.token(t, map[string]any{"sub": "a\u202eb"}), auth.Malformed, "sub claim is not valid"},
		"of no end":              {i.token(t, map[string]any{"sub": strings.Repeat("x", 1001)}), auth.Malformed, "sub claim is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := i.verifier().Verify(context.Background(), c.raw)
			var said *auth.Error
			require.ErrorAs(t, err, &said)
			require.Equal(t, c.reason, said.Reason)
			require.Contains(t, said.Message, c.text)
			if c.raw != "" {
				require.NotContains(t, said.Message, c.raw)
				if said.Cause != nil {
					require.NotContains(t, said.Cause.Error(), c.raw)
				}
			}
		})
	}
}

// What would pass for another claim, or plays with whoever reads it, is no claim.
func TestOnlyPlainClaimsAreClaims(t *testing.T) {
	i := newIssuer(t)
	for name, change := range map[string]map[string]any{
		"a claim without a name":       {"ocpctl_role": nil, "": map[string]any{"ocpctl_role": "requester", "groups": []string{"platform"}}},
		"a team that is every team":    {"groups": []string{"*", "platform*", "plat form", "platform\n", "{groups}", ""}},
		"a role with something behind": {"ocpctl_role": "requester\n"},
		"a list in a list, too deep":   {"ocpctl_role": map[string]any{"ocpctl_role": "requester"}},
	} {
		session, err := i.verifier().Verify(context.Background(), i.token(t, change))
		require.NoError(t, err, name)
		require.Empty(t, session.Principal.Seats, name)
	}
}

// Whoever sends tokens of keys that do not exist does not make us ask their issuer each time; who has a known key never waits.
func TestAnIssuerIsAskedForUnknownKeysNowAndThen(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	good := i.token(t, nil)
	_, err := v.Verify(context.Background(), good)
	require.NoError(t, err)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	for n := range 100 {
		_, err := v.Verify(context.Background(), sign(t, stranger, strconv.Itoa(n), i.claims(nil)))
		var said *auth.Error
		require.ErrorAs(t, err, &said)
		require.Equal(t, auth.BadSignature, said.Reason)
		_, err = v.Verify(context.Background(), good)
		require.NoError(t, err)
	}
	require.Less(t, i.asked.Load(), int32(10))
}

func TestClocksMayBeALittleApart(t *testing.T) {
	i := newIssuer(t)
	for _, change := range []map[string]any{{"exp": now.Add(-29 * time.Second).Unix()}, {"nbf": now.Add(29 * time.Second).Unix()}, {"aud": []string{"vault", "ocpctl"}}} {
		_, err := i.verifier().Verify(context.Background(), i.token(t, change))
		require.NoError(t, err, "%v", change)
	}
}

func TestAnIssuerMayServeTwoAudiences(t *testing.T) {
	i := newIssuer(t)
	v := auth.New(auth.Config{Now: func() time.Time { return now }, Issuers: []auth.Issuer{{URL: i.URL, Audience: "ocpctl"}, {URL: i.URL, Audience: "ocpctl-ci"}}})
	for audience, fine := range map[string]bool{"ocpctl": true, "ocpctl-ci": true, "vault": false} {
		_, err := v.Verify(context.Background(), i.token(t, map[string]any{"aud": audience}))
		require.Equal(t, fine, err == nil, audience)
	}
}

func TestANewKeyOfAnIssuerIsFetchedWhenATokenNamesIt(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	_, err := v.Verify(context.Background(), i.token(t, nil))
	require.NoError(t, err)
	before := i.token(t, nil)
	i.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i.kid = "k2"
	require.Eventually(t, func() bool { // until go-oidc, which answers first, has taken the last keys in, it answers by them again
		_, err := v.Verify(context.Background(), i.token(t, nil))
		return err == nil
	}, 10*time.Second, time.Millisecond)
	require.EqualValues(t, 2, i.asked.Load())
	require.Eventually(t, func() bool {
		_, err := v.Verify(context.Background(), before)
		return err != nil
	}, 10*time.Second, time.Millisecond, "a key that the issuer took back counts no longer")
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
	_, err = v.Verify(context.Background(), sign(t, stranger, "k9", i.claims(nil))) // has to look for a newer key
	var said *auth.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, auth.Unavailable, said.Reason)
	_, err = v.Verify(context.Background(), i.token(t, nil)) // known keys go on
	require.NoError(t, err)
}

func TestAnIssuerOfACertificateAuthorityOfItsOwnIsReachedThroughThat(t *testing.T) {
	i := newIssuer(t)
	tls := httptest.NewTLSServer(i.Config.Handler)
	t.Cleanup(tls.Close)
	i.URL = tls.URL
	_, err := i.verifier().Verify(context.Background(), i.token(t, nil))
	var said *auth.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, auth.Unavailable, said.Reason)
	roots := x509.NewCertPool()
	roots.AddCert(tls.Certificate())
	v := auth.New(auth.Config{Now: func() time.Time { return now }, Issuers: []auth.Issuer{{URL: i.URL, Audience: "ocpctl", Roots: roots}}})
	_, err = v.Verify(context.Background(), i.token(t, nil))
	require.NoError(t, err)
}

func TestACookieIsNoBearerToken(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	require.Empty(t, auth.FromCookie(r, false))
	r.Header.Set("Cookie", "ocpctl_session=to; ocpctl_session_1=ken; ocpctl_session_3=none")
	require.Equal(t, "token", auth.FromCookie(r, false))
	require.Empty(t, auth.Bearer(r), "no other site can make a browser call the API")
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

// bare is a principal without what it proved.
func bare(p policy.Principal) policy.Principal {
	p.Proof = nil
	return p
}

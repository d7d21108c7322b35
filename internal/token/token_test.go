package token

import (
	"crypto/ed25519"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return key
}

func TestATokenNamesItsAttemptForAnHour(t *testing.T) {
	s := NewSigner(newKey(t), time.Hour)
	raw, err := s.Sign("att_1", "tok_1", noon)
	require.NoError(t, err)

	for _, later := range []time.Duration{0, 59 * time.Minute} {
		c, err := s.Verify(raw, noon.Add(later))
		require.NoError(t, err)
		require.Equal(t, Claims{Attempt: "att_1", TokenID: "tok_1"}, c)
	}
	_, err = s.Verify(raw, noon.Add(61*time.Minute))
	require.ErrorIs(t, err, ErrExpired)
	require.NotContains(t, err.Error(), raw)
}

func TestRefusedTokensSayWhy(t *testing.T) {
	key := newKey(t)
	s := NewSigner(key, time.Hour)
	good, err := s.Sign("att_1", "tok_1", noon)
	require.NoError(t, err)
	stranger, err := NewSigner(newKey(t), time.Hour).Sign("att_1", "tok_1", noon)
	require.NoError(t, err)
	expiredStranger, err := NewSigner(newKey(t), -2*time.Hour).Sign("att_1", "tok_1", noon)
	require.NoError(t, err)
	parts := strings.Split(good, ".")
	bent := parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"att_2"}`)) + "." + parts[2]
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
	symmetric := signed(t, jose.HS256, []byte(key.Public().(ed25519.PublicKey)), jwt.Claims{Subject: "att_1", ID: "tok_1"})
	elsewhere := signed(t, jose.EdDSA, key, jwt.Claims{
		Issuer: issuer, Audience: jwt.Audience{"other"}, Subject: "att_1", ID: "tok_1", Expiry: jwt.NewNumericDate(noon.Add(time.Hour)),
	})
	eternal := signed(t, jose.EdDSA, key, jwt.Claims{Issuer: issuer, Audience: jwt.Audience{audience}, Subject: "att_1", ID: "tok_1"})

	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"another key":             {stranger, ErrSignature},
		"another key and expired": {expiredStranger, ErrSignature},
		"changed claims":          {bent, ErrSignature},
		"no algorithm":            {none, ErrMalformed},
		"our public key as HMAC":  {symmetric, ErrMalformed},
		"another audience":        {elsewhere, ErrClaims},
		"without an end":          {eternal, ErrClaims},
		"nothing":                 {"", ErrMalformed},
		"noise":                   {"not.a.token", ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Verify(c.raw, noon)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func signed(t *testing.T, alg jose.SignatureAlgorithm, key any, c jwt.Claims) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
	require.NoError(t, err)
	raw, err := jwt.Signed(signer).Claims(c).Serialize()
	require.NoError(t, err)
	return raw
}

func TestAKeyIsMadeOnceAndOnlyItsOwnerReadsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status-api.pem")
	made, err := LoadOrCreateKey(path)
	require.NoError(t, err)
	again, err := LoadOrCreateKey(path)
	require.NoError(t, err)
	require.True(t, made.Equal(again))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAFileThatIsNoKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o600))
	_, err := LoadKey(path)
	require.ErrorContains(t, err, "PEM")
	_, err = LoadKey(path + ".missing")
	require.ErrorIs(t, err, os.ErrNotExist)
}

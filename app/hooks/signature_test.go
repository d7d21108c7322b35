package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

const testSecret = "It's a Secret to Everybody"

func signature(key, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestGitHubsOwnExampleOfASignatureHolds(t *testing.T) {
	// docs.github.com, "Validating webhook deliveries", testing the webhook payload validation.
	const documented = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	require.True(t, Signed([]byte(testSecret), []byte("Hello, World!"), documented))
	require.False(t, Signed([]byte(testSecret), []byte("Hello, World?"), documented))
	require.False(t, Signed([]byte("another secret"), []byte("Hello, World!"), documented))
}

func TestNothingButTheWholeSignatureHolds(t *testing.T) {
	body := []byte(`{"zen":"Keep it logically awesome."}`)
	good := signature([]byte(testSecret), body)
	for name, header := range map[string]string{
		"missing": "", "only the head": "sha256=", "without the head": strings.TrimPrefix(good, "sha256="),
		"sha1": "sha1=" + good[7:], "cut": good[:len(good)-2], "longer": good + "00", "not hex": "sha256=" + strings.Repeat("z", 64),
		"with a space": " " + good, "twice": good + "," + good,
	} {
		require.False(t, Signed([]byte(testSecret), body, header), name)
	}
	require.False(t, Signed(nil, body, signature(nil, body)), "an empty key signs nothing")
}

// FuzzSigned compares with go-github's check: both say the same of every header, but for upper-case hex and sha1,
// which differ on purpose.
func FuzzSigned(f *testing.F) {
	body := []byte(`{"action":"labeled"}`)
	good := signature([]byte(testSecret), body)
	for _, seed := range []string{good, "", "sha256=", "sha1=abc", good[:20], strings.ToUpper(good), good + "\x00", "=", "sha512=" + good[7:]} {
		f.Add(seed, body)
	}
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		got := Signed([]byte(testSecret), body, header)
		if want := github.ValidateSignature(header, body, []byte(testSecret)) == nil; strings.HasPrefix(header, "sha256=") && got != want {
			t.Fatalf("Signed(%q) = %v, go-github says %v", header, got, want)
		}
		if got && !strings.EqualFold(header, signature([]byte(testSecret), body)) {
			t.Fatalf("%q holds and is not the signature", header)
		}
		if !Signed([]byte(testSecret), body, signature([]byte(testSecret), body)) {
			t.Fatal("the signature itself does not hold")
		}
	})
}

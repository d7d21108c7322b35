package github

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answers is a GitHub of a few documented answers, for what the stand-in does not do: every call is written down, tokens
// are given out as ghs_1, ghs_2 …
type answers struct {
	*httptest.Server

	mu     sync.Mutex
	calls  []string
	tokens int
}

// routes are net/http patterns with their answers.
type routes map[string]http.HandlerFunc

const tokenRoute = "POST /app/installations/{id}/access_tokens"

func answering(t *testing.T, prefix string, given routes) *answers {
	t.Helper()
	a := &answers{}
	mux := http.NewServeMux()
	if _, ok := given[tokenRoute]; !ok {
		mux.HandleFunc(strings.Replace(tokenRoute, " /", " "+prefix+"/", 1), func(w http.ResponseWriter, _ *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.tokens++
			say(w, 201, map[string]any{"token": "ghs_" + strings.Repeat("1", a.tokens), "expires_at": time.Now().Add(time.Hour)})
		})
	}
	for pattern, answer := range given {
		mux.HandleFunc(strings.Replace(pattern, " /", " "+prefix+"/", 1), answer)
	}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.calls = append(a.calls, r.Method+" "+r.URL.EscapedPath())
		a.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// count says how many calls began so.
func (a *answers) count(begin string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, call := range a.calls {
		if strings.HasPrefix(call, begin) {
			n++
		}
	}
	return n
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func saying(status int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { say(w, status, body) }
}

func complaining(status int, message string) http.HandlerFunc {
	return saying(status, map[string]string{"message": message})
}

var anyKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// speaking makes a client of a server, changed as wanted.
func speaking(t *testing.T, url string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{AppID: 1, PrivateKey: anyKey(), BaseURL: url, Pace: -1, Settling: -1, HTTPTimeout: 5 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

const shop = "acme/shop"

// pull41 is as much of a pull request as matters here.
var pull41 = map[string]any{"number": 41, "state": "open"}

package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNobodyHoldsOnToAListenerForEver(t *testing.T) {
	s := bounded("127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for what, bound := range map[string]time.Duration{
		"headers": s.ReadHeaderTimeout, "request": s.ReadTimeout, "answer": s.WriteTimeout, "idle": s.IdleTimeout,
	} {
		require.Positive(t, bound, what)
		require.LessOrEqual(t, bound, 2*time.Minute, what)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for size, want := range map[int]int{32 << 10: http.StatusOK, 128 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", size))
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode)
	}
}

func TestBrowsersAreToldToComeOverHTTPSAlone(t *testing.T) {
	for home, want := range map[string]string{"https://ocpctl.example.com": "max-age=31536000", "http://127.0.0.1:8080": ""} {
		w := httptest.NewRecorder()
		httpsAlone(http.NotFoundHandler(), home).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, want, w.Header().Get("Strict-Transport-Security"), home)
	}
}

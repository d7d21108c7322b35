package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNobodyHoldsOnToAListenerForEver(t *testing.T) {
	s := newListener("127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
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

// one is a listener of a single connection in memory, which lives by the test's clock.
type one chan net.Conn

func (o one) Accept() (net.Conn, error) {
	conn, open := <-o
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (o one) Close() error   { return nil }
func (o one) Addr() net.Addr { return &net.TCPAddr{} }

func TestHeadersArriveWithinTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPublicListener("", http.NotFoundHandler())
		in := make(one, 1)
		ours, theirs := net.Pipe()
		in <- theirs
		served := make(chan error)
		go func() { served <- s.Serve(in) }()
		begun := time.Now()
		_, err := ours.Write([]byte("P"))
		require.NoError(t, err)
		_, err = io.ReadAll(ours)
		require.NoError(t, err)
		require.Equal(t, headerTimeout, time.Since(begun))
		close(in)
		require.Error(t, <-served)
		require.NoError(t, s.Close())
	})
}

func TestBrowsersAreToldToComeOverHTTPSAlone(t *testing.T) {
	for home, want := range map[string]string{"https://ocpctl.example.com": "max-age=31536000", "http://127.0.0.1:8080": ""} {
		w := httptest.NewRecorder()
		httpsAlone(http.NotFoundHandler(), home).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, want, w.Header().Get("Strict-Transport-Security"), home)
	}
}

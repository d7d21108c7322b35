package httpbody

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask asks a handler over real HTTP, without the client's own decompression.
func ask(t *testing.T, handler http.Handler, method, path string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	require.NoError(t, err)
	r.Header.Set("Accept-Encoding", "identity")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, body
}

func unpack(t *testing.T, body []byte) string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	plain, err := io.ReadAll(zip)
	require.NoError(t, err)
	return string(plain)
}

func TestWhoAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "identity": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "deflate, *": true, "x-gzip2": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", header)
		require.Equal(t, want, AcceptsGzip(r), header)
	}
}

func TestABodyIsCompressedForWhoAcceptsItUnlessItHoldsASecret(t *testing.T) {
	long := strings.Repeat("<p>cluster</p>", 200)
	handler := Compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.FormValue("type"))
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, long[:len(long)/2])
		_, _ = io.WriteString(w, long[len(long)/2:])
	}), func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/links/") })
	for _, c := range []struct {
		name, method, path, accepted string
		want                         bool
	}{
		{"a page", http.MethodGet, "/?type=text/html%3B+charset=utf-8", "gzip", true},
		{"a document", http.MethodGet, "/?type=application/json", "gzip, br", true},
		{"for a reader that does not accept it", http.MethodGet, "/?type=text/html", "br", false},
		{"a secret", http.MethodGet, "/links/x?type=text/html", "gzip", false},
		{"the answer to a form", http.MethodPost, "/?type=text/html", "gzip", false},
		{"a kubeconfig", http.MethodGet, "/?type=application/yaml", "gzip", false},
		{"an archive", http.MethodGet, "/?type=application/gzip", "gzip", false},
	} {
		answer, body := ask(t, handler, c.method, c.path, "Accept-Encoding", c.accepted)
		require.Equal(t, http.StatusAccepted, answer.StatusCode, c.name)
		require.Equal(t, c.want, answer.Header.Get("Content-Encoding") == "gzip", c.name)
		if c.want {
			require.Equal(t, "Accept-Encoding", answer.Header.Get("Vary"))
			require.Less(t, len(body), 200)
			body = []byte(unpack(t, body))
		}
		require.Equal(t, long, string(body), c.name)
	}
}

func TestABodyThatBreaksOffNeverLooksComplete(t *testing.T) {
	server := httptest.NewServer(Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.WriteString(w, strings.Repeat("a,b\n", 10_000))
		panic(http.ErrAbortHandler)
	}), func(*http.Request) bool { return false }))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err == nil {
		defer answer.Body.Close()
		_, err = io.ReadAll(answer.Body)
	}
	require.Error(t, err)
}

func TestAFileIsReadOnce(t *testing.T) {
	content := strings.Repeat("body { margin: 0 }\n", 100)
	file := NewFile("text/css", []byte(content))
	handler := http.HandlerFunc(file.Serve)
	answer, body := ask(t, handler, http.MethodGet, "/")
	require.Equal(t, content, string(body))
	plain := answer.Header.Get("ETag")
	answer, body = ask(t, handler, http.MethodGet, "/", "Accept-Encoding", "gzip")
	require.Equal(t, content, unpack(t, body))
	packed := answer.Header.Get("ETag")
	require.NotEqual(t, plain, packed, "a tag names bytes")
	for known, want := range map[string]int{plain: http.StatusNotModified, "W/" + plain: http.StatusNotModified, `"x", ` + plain: http.StatusNotModified, "*": http.StatusNotModified, packed: http.StatusOK, `"x"`: http.StatusOK} {
		answer, _ = ask(t, handler, http.MethodGet, "/", "If-None-Match", known)
		require.Equal(t, want, answer.StatusCode, known)
	}
}

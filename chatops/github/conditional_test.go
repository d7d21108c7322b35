package github

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatDidNotChangeIsAnsweredAgainByGitHubsLeave(t *testing.T) {
	body, asked := "first", []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`W/"%s"`, body[:min(5, len(body))])
		asked = append(asked, r.Method+" "+r.Header.Get("If-None-Match"))
		w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(len(asked)))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Link", `<https://next>; rel="next"`)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	c := &conditional{next: http.DefaultTransport}
	ask := func(method string) (string, http.Header) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/repos/acme/shop/pulls/41", nil)
		require.NoError(t, err)
		got, err := c.RoundTrip(req)
		require.NoError(t, err)
		defer got.Body.Close()
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Empty(t, req.Header.Get("If-None-Match"), "the caller's request is its own")
		raw, err := io.ReadAll(got.Body)
		require.NoError(t, err)
		return string(raw), got.Header
	}
	for range 2 {
		got, headers := ask(http.MethodGet)
		require.Equal(t, "first", got)
		require.Equal(t, `<https://next>; rel="next"`, headers.Get("Link"))
		require.Equal(t, fmt.Sprint(len(asked)), headers.Get("X-RateLimit-Remaining"), "the limits are those of now")
	}
	body = "other"
	got, _ := ask(http.MethodGet)
	require.Equal(t, "other", got)
	_, _ = ask(http.MethodPost)
	require.Equal(t, []string{"GET ", `GET W/"first"`, `GET W/"first"`, "POST "}, asked)

	body = strings.Repeat("large", maxKeptBody)
	for range 2 {
		got, _ = ask(http.MethodGet)
		require.Equal(t, body, got, "what is too large is passed on and not remembered")
	}
}

func TestOnlySoManyAnswersAreRemembered(t *testing.T) {
	var c conditional
	for i := range 3 * maxKept {
		c.putAnswer(fmt.Sprint(i), answer{etag: "e"})
		c.putAnswer(fmt.Sprint(i), answer{etag: "f"})
	}
	require.Len(t, c.kept, maxKept)
	require.Len(t, c.order, maxKept)
	got, ok := c.getAnswer(fmt.Sprint(3*maxKept - 1))
	require.True(t, ok)
	require.Equal(t, "f", got.etag)
	_, ok = c.getAnswer("0")
	require.False(t, ok)
}

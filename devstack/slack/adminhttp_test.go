package slack

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFaultsAndWhatPeopleDoAreSetOverHTTP(t *testing.T) {
	s, err := Start(t.Context(), Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	order := func(act, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/_standin/"+act, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		raw, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, string(raw)
	}
	status, _ := order("fail", `{"method":"chat.postMessage","times":2,"code":"channel_not_found"}`)
	require.Equal(t, http.StatusOK, status)
	for range 2 {
		f, ok := s.fault("chat.postMessage")
		require.True(t, ok)
		require.Equal(t, "channel_not_found", f.Code)
	}
	_, left := s.fault("chat.postMessage")
	require.False(t, left)
	status, said := order("write", `{"who":"maya","channel":"clusters","text":"hello","subtype":"file_share"}`)
	require.Equal(t, http.StatusOK, status, said)
	status, said = order("change-id", `{"channel":"clusters"}`)
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, said, Clusters)
	status, _ = order("change-id", `{"channel":"nowhere"}`)
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = order("write", `{"whom":"maya"}`)
	require.Equal(t, http.StatusBadRequest, status)
}

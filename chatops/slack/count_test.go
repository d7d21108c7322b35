package slack_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestEachCallIsCountedByItsResult(t *testing.T) {
	s := &script{answers: map[string]string{"chat.update": `{"ok":true}`}, status: http.StatusOK}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var counts []string
	c, err := slack.New(slack.Config{Token: secret.New(token), BaseURL: server.URL + "/api", Called: func(method, result string) {
		counts = append(counts, method+" "+result)
	}})
	require.NoError(t, err)
	update := func() error { return c.Update(t.Context(), "C1", 1710000000000100, words("done")) }
	require.NoError(t, update())
	for _, answer := range []string{`{"ok":false,"error":"ratelimited"}`, `{"ok":false,"error":"rate_limited"}`, `{"ok":false,"error":"is_inactive"}`, `<html>`} {
		s.answers["chat.update"] = answer
		require.Error(t, update())
	}
	s.status = http.StatusTooManyRequests
	require.Error(t, update())
	s.status = http.StatusBadGateway
	require.Error(t, update())
	server.Close()
	require.Error(t, update())
	require.Equal(t, []string{
		"chat.update ok", "chat.update limited", "chat.update limited", "chat.update refused", "chat.update failed",
		"chat.update limited", "chat.update failed", "chat.update failed",
	}, counts)
}

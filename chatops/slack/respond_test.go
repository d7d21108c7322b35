package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestAnAnswerGoesToSlackAlone(t *testing.T) {
	r := slack.NewResponder("")
	for _, elsewhere := range []string{"", "http://hooks.slack.com/actions/1", "https://hooks.slack.com.evil.example/1", "https://127.0.0.1/1", "https://hooks.slack.com:8443/1", "://", "file:///etc/passwd"} {
		err := r.Respond(t.Context(), secret.New(elsewhere), "x")
		require.EqualError(t, err, "answer a request: its response_url does not lead to Slack", elsewhere)
	}
	for _, base := range []string{"http://127.0.0.1:1/api/"} {
		err := slack.NewResponder(base).Respond(t.Context(), secret.New("http://127.0.0.1:1/hooks/secret-of-the-address"), "x")
		require.ErrorContains(t, err, "connection refused")
		require.NotContains(t, err.Error(), "secret-of-the-address")
	}
}

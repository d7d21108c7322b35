package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATokenOfSlacksOfAnotherKindIsRefusedWithoutQuotingIt(t *testing.T) {
	stored := func(token string) string {
		path := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(path, []byte(token), 0o600))
		return "file:" + path
	}
	for token, want := range map[string]string{
		"xapp-1-A0-hunter2": "slack.bot_token_ref: file:", "xoxp-hunter2": "leads to a person's token (xoxp-…); store the Bot User OAuth Token",
		"hunter2": "leads to a token of another kind",
	} {
		_, err := Config{Slack: Slack{BotTokenRef: stored(token)}}.SlackBotToken(t.Context())
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := Config{Slack: Slack{AppTokenRef: stored("xoxb-hunter2")}}.SlackAppToken(t.Context())
	require.ErrorContains(t, err, "slack.app_token_ref: ")
	require.ErrorContains(t, err, "leads to a bot token (xoxb-…); store an app-level token with the scope connections:write")
	got, err := Config{Slack: Slack{AppTokenRef: stored("xapp-1-A0-x")}}.SlackAppToken(t.Context())
	require.NoError(t, err)
	require.Equal(t, "xapp-1-A0-x", got.Reveal())
	_, err = Config{Demo: true, Slack: Slack{BotTokenRef: stored("demo-slack-bot-token")}}.SlackBotToken(t.Context())
	require.NoError(t, err, "the demo's stand-in has tokens of its own")
}

package slack_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

func TestTheAppIsInstalledAsItsManifestSays(t *testing.T) {
	raw, err := os.ReadFile("../../deploy/slack-app.yaml")
	require.NoError(t, err)
	var manifest struct {
		Features struct {
			Shortcuts []struct {
				Name, Type string
				Callback   string `yaml:"callback_id"`
			}
			Commands []struct {
				Escape bool `yaml:"should_escape"`
			} `yaml:"slash_commands"`
		}
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Events struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
		}
	}
	require.NoError(t, yaml.Unmarshal(raw, &manifest))
	require.ElementsMatch(t, manifest.OAuth.Scopes.Bot, slack.Scopes)
	require.ElementsMatch(t, manifest.Settings.Events.Bot, slack.Events)
	var shortcuts []slack.Shortcut
	for _, s := range manifest.Features.Shortcuts {
		shortcuts = append(shortcuts, slack.Shortcut{Callback: s.Callback, Name: s.Name, Message: s.Type == "message"})
	}
	require.Equal(t, shortcuts, slack.Shortcuts)
	require.Len(t, manifest.Features.Commands, 1)
	require.True(t, manifest.Features.Commands[0].Escape, "the stand-in escapes mentions")
}

package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/deploy"
)

// slackManifest is what Slack makes an app from. https://docs.slack.dev/reference/app-manifest
type slackManifest struct {
	Features struct {
		AppHome struct {
			HomeTab  bool `yaml:"home_tab_enabled"`
			Messages bool `yaml:"messages_tab_enabled"`
			ReadOnly bool `yaml:"messages_tab_read_only_enabled"`
		} `yaml:"app_home"`
		Shortcuts []struct{ Name, Type, Description string } `yaml:"shortcuts"`
		Commands  []struct {
			Command, URL, Description string
			Hint                      string `yaml:"usage_hint"`
			Escape                    bool   `yaml:"should_escape"`
		} `yaml:"slash_commands"`
	} `yaml:"features"`
	OAuth struct {
		Scopes struct {
			Bot []string `yaml:"bot"`
		} `yaml:"scopes"`
	} `yaml:"oauth_config"`
	Settings struct {
		Events struct {
			URL string   `yaml:"request_url"`
			Bot []string `yaml:"bot_events"`
		} `yaml:"event_subscriptions"`
		Interactivity struct {
			On  bool   `yaml:"is_enabled"`
			URL string `yaml:"request_url"`
		} `yaml:"interactivity"`
		Socket bool `yaml:"socket_mode_enabled"`
	} `yaml:"settings"`
}

func slackApp(t *testing.T) (m slackManifest) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal(deploy.SlackApp, &m))
	return m
}

// scopesOfCalls are the scopes that the calls of the client need, from the pages of the methods at https://docs.slack.dev/reference/methods.
var scopesOfCalls = map[string][]string{
	"AuthTestContext":                nil,
	"PostMessageContext":             {"chat:write"},
	"PostEphemeralContext":           {"chat:write"},
	"UpdateMessageContext":           {"chat:write"},
	"DeleteMessageContext":           {"chat:write"},
	"PostMessageWithResponseContext": {"chat:write"},
	"OpenConversationContext":        {"im:write"},
	"GetConversationInfoContext":     {"channels:read", "groups:read"},
	"GetUsersInConversationContext":  {"channels:read", "groups:read"},
	"GetConversationHistoryContext":  {"channels:history", "groups:history", "im:history", "mpim:history"},
	"GetConversationRepliesContext":  {"channels:history", "groups:history", "im:history", "mpim:history"},
	"GetUserInfoContext":             {"users:read", "users:read.email"},
	"GetUserGroupMembersContext":     {"usergroups:read"},
	"OpenViewContext":                nil,
	"UpdateViewContext":              nil,
	"PublishViewContext":             nil,
}

// scopesOfEvents are the scopes that events need, from their pages at https://docs.slack.dev/reference/events.
var scopesOfEvents = map[string][]string{
	"app_home_opened": nil, "app_mention": {"app_mentions:read"}, "app_uninstalled": nil, "tokens_revoked": nil, "message.im": {"im:history"},
	"user_change": {"users:read"}, "member_joined_channel": {"channels:read", "groups:read"}, "member_left_channel": {"channels:read", "groups:read"},
	"channel_id_changed": {"channels:read", "groups:read"},
	"channel_archive":    {"channels:read"}, "channel_deleted": {"channels:read"}, "channel_left": {"channels:read"}, "channel_unarchive": {"channels:read"},
	"group_archive": {"groups:read"}, "group_deleted": {"groups:read"}, "group_left": {"groups:read"}, "group_unarchive": {"groups:read"},
}

// slackCalls returns the calls of Slack's API that stand in the client's source.
func slackCalls(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	paths, err := filepath.Glob("../chatops/slack/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if on, ok := call.X.(*ast.SelectorExpr); ok && on.Sel.Name == "api" {
				found[call.Sel.Name] = true
			}
			return true
		})
	}
	require.NotEmpty(t, found)
	return slices.Sorted(maps.Keys(found))
}

func TestTheSlackAppHasTheScopesThatAreUsedAndNoOther(t *testing.T) {
	needed := map[string]bool{"commands": true} // the slash command and the shortcuts
	for _, call := range slackCalls(t) {
		scopes, known := scopesOfCalls[call]
		require.True(t, known, "%s: say which scopes it needs", call)
		for _, scope := range scopes {
			needed[scope] = true
		}
	}
	for _, event := range slackApp(t).Settings.Events.Bot {
		scopes, known := scopesOfEvents[event]
		require.True(t, known, "%s: say which scopes it needs", event)
		for _, scope := range scopes {
			needed[scope] = true
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(needed)), slackApp(t).OAuth.Scopes.Bot)
}

func TestTheSlackAppIsSentTheEventsThatAreRead(t *testing.T) {
	require.ElementsMatch(t, inbound.Events(), slackApp(t).Settings.Events.Bot)
}

func TestTheSlackAppHasOneAddressForEverything(t *testing.T) {
	m := slackApp(t)
	require.Len(t, m.Features.Commands, 1)
	c := m.Features.Commands[0]
	require.Equal(t, "/ocp", c.Command)
	require.True(t, c.Escape, "people, groups and channels arrive as ids")
	require.True(t, m.Settings.Interactivity.On)
	require.True(t, strings.HasSuffix(c.URL, "/webhooks/slack"))
	require.Equal(t, []string{c.URL, c.URL}, []string{m.Settings.Interactivity.URL, m.Settings.Events.URL})
	require.True(t, m.Features.AppHome.HomeTab && m.Features.AppHome.Messages && !m.Features.AppHome.ReadOnly)
	require.False(t, m.Settings.Socket, "HTTP is the default")
}

// Slack refuses a manifest whose texts are longer. https://docs.slack.dev/reference/app-manifest
func TestTheTextsOfTheSlackAppFit(t *testing.T) {
	m := slackApp(t)
	for _, s := range m.Features.Shortcuts {
		require.LessOrEqual(t, len(s.Name), 24)
		require.LessOrEqual(t, len(s.Description), 150)
	}
	for _, c := range m.Features.Commands {
		require.LessOrEqual(t, len(c.Description), 2000)
		require.LessOrEqual(t, len(c.Hint), 1000)
	}
}

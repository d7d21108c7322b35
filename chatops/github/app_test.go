package github_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/github"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func TestTheAppIsReadAsGitHubKnowsIt(t *testing.T) {
	s, err := standin.Start(t.Context(), standin.Config{WebhookURL: "http://127.0.0.1:1/webhooks/github", WebhookSecret: "s3cr3t"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	c, err := github.New(github.Config{AppID: standin.AppID, PrivateKey: s.KeyPEM(), BaseURL: s.URL(), Pace: -1, Settling: -1})
	require.NoError(t, err)

	app, err := c.App(t.Context())
	require.NoError(t, err)
	require.Equal(t, standin.Registered().Permissions, app.Permissions)
	require.ElementsMatch(t, standin.Registered().Events, app.Events)
	require.Equal(t, standin.AppSlug, app.Slug)
	require.WithinDuration(t, time.Now(), app.Clock, time.Minute)

	hook, err := c.Webhook(t.Context())
	require.NoError(t, err)
	require.Equal(t, github.Webhook{URL: "http://127.0.0.1:1/webhooks/github", ContentType: "json", Secret: true}, hook)

	list, err := c.Installations(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, int64(standin.Installation), list[0].ID)
	require.Equal(t, standin.Org, list[0].Account)
	require.False(t, list[0].Suspended)
	require.Equal(t, standin.Registered().Permissions, list[0].Permissions)

	before, err := c.RateLimit(t.Context(), standin.Installation)
	require.NoError(t, err)
	again, err := c.RateLimit(t.Context(), standin.Installation)
	require.NoError(t, err)
	require.Equal(t, before.Remaining, again.Remaining, "asking costs nothing")
	require.Equal(t, 5000, before.Allowed)
	require.True(t, before.ResetsAt.After(time.Now()))

	require.NoError(t, s.Suspend("maya"))
	list, err = c.Installations(t.Context())
	require.NoError(t, err)
	require.True(t, list[0].Suspended)
}

func TestAKeyOfAnotherAppIsRefused(t *testing.T) {
	s, err := standin.Start(t.Context(), standin.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	c, err := github.New(github.Config{AppID: standin.AppID + 1, PrivateKey: s.KeyPEM(), BaseURL: s.URL(), Pace: -1, Settling: -1})
	require.NoError(t, err)
	_, err = c.App(t.Context())
	require.ErrorIs(t, err, github.ErrRefused)
	require.ErrorContains(t, err, "Integration not found")
}

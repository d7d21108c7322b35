package hooks

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/house/github"
)

func TestABodyOfAnyDepthIsRefusedInWords(t *testing.T) {
	f := newFront(t)
	body := append([]byte(`{"action":"create_ephemeral_cluster","client_payload":`), bytes.Repeat([]byte("["), 12<<20)...)
	body = append(append(body, bytes.Repeat([]byte("]"), 12<<20)...), '}')
	status, answer := f.post("/webhooks/github", body, signed("repository_dispatch", "deep", body))
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer["detail"], "not a JSON object")
	require.Empty(t, f.stored())
}

func TestACommandOfAnotherWorkspaceIsNotListenedTo(t *testing.T) {
	f := newFront(t, func(c *Config) { c.Workspaces = []string{"T0002", "T0003"} })
	status, answer := f.slack(typed("1.2", "U1", "approvals"))
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer["text"], "does not listen to this workspace")
	require.Empty(t, f.stored())
	here := typed("1.3", "U1", "approvals")
	here.Set("team_id", "T0003")
	_, answer = f.slack(here)
	require.Contains(t, answer["text"], "Got it")
	require.Equal(t, []string{"1.3"}, f.stored())
}

func TestAnInstallationThatIsNotLookedAfterIsNone(t *testing.T) {
	s, err := github.Start(context.WithoutCancel(t.Context()), github.Config{WebhookSecret: testSecret})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: s.KeyPEM(), BaseURL: s.URL(), Pace: -1, Settling: -1})
	require.NoError(t, err)
	id, err := NewAsker(client).InstallationOf(t.Context(), github.Repo)
	require.NoError(t, err)
	require.NotZero(t, id)
	for _, c := range []struct {
		only []int64
		want int64
	}{{[]int64{id}, id}, {[]int64{id + 1}, 0}} {
		got, err := NewAsker(client, c.only...).InstallationOf(t.Context(), github.Repo)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err = NewAsker(client).PullRequest(t.Context(), id, github.Repo, 99999)
	require.ErrorIs(t, err, app.ErrNoPullRequest)
}

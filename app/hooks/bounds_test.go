package hooks

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
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
	require.Contains(t, answer["text"], "takes no requests from this workspace")
	require.Empty(t, f.stored())
	here := typed("1.3", "U1", "approvals")
	here.Set("team_id", "T0003")
	_, answer = f.slack(here)
	require.Empty(t, answer)
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

// Whether the App reaches a repository it asks as itself. Only "not there" and "suspended" are answers that say no.
func TestWhatGitHubSaysOfARepository(t *testing.T) {
	there := func(id int) string { return fmt.Sprintf(`{"id":%d}`, id) }
	const shop = `{"id":900,"full_name":"acme/shop","archived":true}`
	type says struct {
		status int
		body   string
	}
	for name, c := range map[string]struct {
		installation, repository says
		want                     app.RepositoryState
		err                      error // nil with no want: any other
	}{
		"reached":                {says{200, there(7)}, says{200, shop}, app.RepositoryState{Installation: 7, ID: 900, Name: "acme/shop", Archived: true}, nil},
		"public and not reached": {says{404, `{}`}, says{200, shop}, app.RepositoryState{ID: 900, Name: "acme/shop", Archived: true}, nil},
		"not there":              {says{404, `{}`}, says{404, `{}`}, app.RepositoryState{}, nil},
		"suspended":              {says{200, `{"id":7,"suspended_at":"2026-11-20T12:00:00Z"}`}, says{403, `{"message":"This installation has been suspended"}`}, app.RepositoryState{}, nil},
		"one that is not ours":   {says{200, there(8)}, says{404, `{}`}, app.RepositoryState{}, nil},
		"forbidden":              {says{403, `{}`}, says{200, shop}, app.RepositoryState{}, app.ErrUnreadable},
		"blocked by law":         {says{451, `{}`}, says{200, shop}, app.RepositoryState{}, app.ErrUnreadable},
		"two that do not fit":    {says{200, there(7)}, says{404, `{}`}, app.RepositoryState{}, app.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				answer := c.repository
				switch {
				case strings.HasSuffix(r.URL.Path, "/access_tokens"):
					answer = says{http.StatusCreated, fmt.Sprintf(`{"token":"ghs_x","expires_at":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))}
				case strings.HasSuffix(r.URL.Path, "/installation"):
					answer = c.installation
				}
				w.WriteHeader(answer.status)
				fmt.Fprint(w, answer.body)
			}))
			t.Cleanup(hub.Close)
			s, err := github.Start(context.WithoutCancel(t.Context()), github.Config{WebhookSecret: testSecret})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Stop()) })
			client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: s.KeyPEM(), BaseURL: hub.URL, Pace: -1, Settling: -1})
			require.NoError(t, err)
			got, err := NewAsker(client, 7).Repository(t.Context(), 7, "acme/shop")
			require.Equal(t, c.want, got)
			require.ErrorIs(t, err, c.err)
		})
	}
}

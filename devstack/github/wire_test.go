package github_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
)

// called are the operations the wire has to have used, each with a body or parameters GitHub describes.
var called = []string{
	"apps/get-authenticated", "apps/get-repo-installation", "apps/create-installation-access-token",
	"apps/list-webhook-deliveries", "apps/redeliver-webhook-delivery",
	"pulls/get", "repos/get-collaborator-permission-level", "teams/get-membership-for-user-in-org", "repos/get-content",
	"issues/create-comment", "issues/update-comment", "issues/list-comments", "reactions/create-for-issue-comment",
	"issues/add-labels", "issues/remove-label", "issues/list-labels-for-repo", "issues/create-label", "issues/update-label",
	"checks/create", "checks/update", "checks/list-for-ref",
	"repos/create-deployment", "repos/list-deployments", "repos/create-deployment-status",
}

func TestWhatTheWireSendsIsWhatGitHubDescribes(t *testing.T) {
	s, err := github.Start(t.Context(), github.Config{WebhookURL: "http://127.0.0.1:1/nobody", WebhookSecret: "secret"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	transport := &github.CheckedTransport{Report: func(err error) { t.Error(err) }}
	c, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: s.KeyPEM(), BaseURL: s.URL(), Pace: -1, Settling: -1, Transport: transport})
	require.NoError(t, err)
	ask(t, c, s)
	write(t, c, s)
	seen := transport.CountSeen()
	for _, id := range called {
		require.NotZero(t, seen[id], "the wire did not call %s", id)
	}
}

// ask asks every question there is.
func ask(t *testing.T, c *wire.Client, s *github.Server) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, s.Commit(".github/ocpctl.yaml", "default: aws-standard\n"))
	require.NoError(t, s.Label(41, "bug", "maya"))
	login, err := c.OwnLogin(ctx)
	require.NoError(t, err)
	require.Equal(t, github.Bot, login)
	in, err := c.InstallationOf(ctx, github.Repo)
	require.NoError(t, err)
	require.Equal(t, int64(github.Installation), in)
	_, err = c.PullRequest(ctx, in, github.Repo, 45)
	require.NoError(t, err)
	_, err = c.Permission(ctx, in, github.Repo, "maya", 2001)
	require.NoError(t, err)
	member, err := c.TeamMember(ctx, in, github.Org, github.Team, "maya")
	require.NoError(t, err)
	require.True(t, member)
	file, err := c.File(ctx, in, github.Repo, ".github/ocpctl.yaml", github.Branch)
	require.NoError(t, err)
	require.Equal(t, "default: aws-standard\n", string(file.Raw))
	looks, err := c.Pulls(ctx, in, []wire.PullRef{{Repo: github.Repo, Number: 41}, {Repo: github.Repo, Number: 999}, {Repo: github.PrivateRepo, Number: 1}})
	require.NoError(t, err)
	require.False(t, looks[0].Gone)
	require.True(t, looks[1].Gone)
	require.True(t, looks[2].Gone)
	require.Eventually(t, func() bool {
		all, err := c.HookDeliveries(ctx, time.Now().Add(-time.Hour))
		return err == nil && len(all) > 0 && c.Redeliver(ctx, all[0].ID) == nil
	}, 10*time.Second, 20*time.Millisecond)
}

// write writes everything there is, each twice: what is made first is found and changed then.
func write(t *testing.T, c *wire.Client, s *github.Server) {
	t.Helper()
	ctx, in := t.Context(), int64(github.Installation)
	pr, _ := s.PullRequest(41)
	labels := []chatops.Label{{Name: "ocp/new", Color: "1d76db", Description: "words"}}
	for _, state := range []string{"queued", "completed"} {
		id, err := c.UpsertComment(ctx, wire.CommentTarget{Installation: in, Repo: github.Repo, Number: 41, Marker: "sub_01"}, "words "+state)
		require.NoError(t, err)
		require.NoError(t, c.React(ctx, in, github.Repo, id, "eyes"))
		run := chatops.CheckRun{
			Status: state, Title: "t", Summary: "s", DetailsURL: "https://ocpctl.example/c/1",
			Actions:     []chatops.CheckAction{{Label: "Extend", Description: "Two hours more", Identifier: "extend"}},
			Annotations: []chatops.Annotation{{Path: ".github/ocpctl.yaml", Line: 1, Level: "failure", Title: "t", Message: "m"}},
		}
		if state == "completed" {
			run.Conclusion = "success"
		}
		_, err = c.UpsertCheckRun(ctx, wire.CheckTarget{Installation: in, Repo: github.Repo, Head: pr.HeadSHA, Name: "ocpctl", ExternalKey: "sub_02"}, run)
		require.NoError(t, err)
		deployment := chatops.Deployment{Environment: "ocpctl/aws-minimal-test", Task: "ocpctl:pr41-shop", State: "in_progress", Description: state, LogURL: "https://ocpctl.example/c/1"}
		if state == "completed" {
			deployment.State, deployment.EnvironmentURL = "success", "https://console.example"
		}
		_, err = c.UpsertDeployment(ctx, wire.DeploymentTarget{Installation: in, Repo: github.Repo, Head: pr.HeadSHA, ExternalKey: "sub_03"}, deployment)
		require.NoError(t, err)
		_, _, err = c.EnsureLabels(ctx, in, github.Repo, labels)
		require.NoError(t, err)
		labels[0].Description = "other words"
	}
	require.NoError(t, c.AddLabel(ctx, in, github.Repo, 41, "ocp/new"))
	require.NoError(t, c.RemoveLabel(ctx, in, github.Repo, 41, "ocp/new"))
	require.Len(t, s.Deployments(), 1)
	require.Equal(t, "success", s.Deployments()[0].State())
	require.Len(t, s.Comments(41), 1)
	require.Len(t, s.Checks(41), 1)
}

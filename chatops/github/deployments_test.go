package github

import (
	"context"
	"net/http"
	"strings"
	"testing"

	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func onCluster(server *standin.Server, number int) DeploymentTarget {
	pr, _ := server.PullRequest(number)
	return DeploymentTarget{Installation: standin.Installation, Repo: standin.Repo, Head: pr.HeadSHA, ExternalKey: "cl_01"}
}

var (
	going = chatops.Deployment{Environment: "ocpctl/aws-minimal-test", Task: "ocpctl:pr41-shop", State: "in_progress", Description: "installing", LogURL: "https://ocp.example.com/c/cl_01"}
	ready = chatops.Deployment{
		Environment: "ocpctl/aws-minimal-test", Task: "ocpctl:pr41-shop", State: "success", Description: "ready", LogURL: "https://ocp.example.com/c/cl_01",
		EnvironmentURL: "https://console.apps.example.com",
	}
	ended = chatops.Deployment{Environment: "ocpctl/aws-minimal-test", Task: "ocpctl:pr41-shop", State: "inactive", Description: "destroyed"}
)

func TestADeploymentIsMadeOnceAndToldWhatChanges(t *testing.T) {
	server, c := start(t)
	// A check that has not passed, or a branch behind its base, would stop an ordinary deployment.
	_, err := c.UpsertCheckRun(t.Context(), check(server, 41), queued("Waiting"))
	require.NoError(t, err)
	require.NoError(t, server.Commit("README.md", "newer"))

	target := onCluster(server, 41)
	target.ExternalID, err = c.UpsertDeployment(t.Context(), target, going)
	require.NoError(t, err)
	for _, say := range []chatops.Deployment{going, ready, ready, ended, ended} {
		again, err := c.UpsertDeployment(t.Context(), target, say)
		require.NoError(t, err)
		require.Equal(t, target.ExternalID, again)
	}
	all := server.Deployments()
	require.Len(t, all, 1)
	one := all[0]
	require.Equal(t, target.Head, one.SHA)
	require.Equal(t, "ocpctl/aws-minimal-test", one.Environment)
	require.Equal(t, "ocpctl:pr41-shop", one.Task)
	require.True(t, one.Transient)
	require.False(t, one.Production)
	require.Equal(t, standin.Bot, one.Creator)

	got := []chatops.Deployment{}
	for _, s := range one.Statuses {
		got = append(got, chatops.Deployment{Environment: s.Environment, Task: one.Task, State: s.State, Description: s.Description, EnvironmentURL: s.EnvironmentURL, LogURL: s.LogURL})
	}
	require.Equal(t, []chatops.Deployment{going, ready, ended}, got, "nothing is said twice")
}

func TestACrashBetweenPostAndSaveDoesNotDoubleTheDeployment(t *testing.T) {
	for name, path := range map[string]string{"at the deployment": "/deployments", "at its status": "/statuses"} {
		t.Run(name, func(t *testing.T) {
			server, c := start(t)
			server.FailNext(1, standin.APIFault{Method: http.MethodPost, Path: path, After: true})
			_, err := c.UpsertDeployment(t.Context(), onCluster(server, 41), going)
			require.Error(t, err, "the answer was lost")
			require.Len(t, server.Deployments(), 1, "the deployment was not")
			for range 2 {
				id, err := c.UpsertDeployment(t.Context(), onCluster(server, 41), going)
				require.NoError(t, err)
				require.Equal(t, server.Deployments()[0].ID, id)
			}
			require.Len(t, server.Deployments(), 1)
			require.Len(t, server.Deployments()[0].Statuses, 1)
		})
	}
}

func TestADeploymentThatGitHubDoesNotKnowYetIsNotTakenForDeleted(t *testing.T) {
	server, c := start(t)
	c.cfg.Settling = defaultSettling
	server.NotYet(1)
	_, err := c.UpsertDeployment(t.Context(), onCluster(server, 41), going)
	require.NoError(t, err)
	require.Len(t, server.Deployments()[0].Statuses, 1)
}

func TestOnlyOurOwnDeploymentWithTheKeyIsTaken(t *testing.T) {
	server, c := start(t)
	other := onCluster(server, 41)
	other.ExternalKey = "cl_00"
	before, err := c.UpsertDeployment(t.Context(), other, going)
	require.NoError(t, err)
	now, err := c.UpsertDeployment(t.Context(), onCluster(server, 41), going)
	require.NoError(t, err)
	require.NotEqual(t, before, now, "the environment had another cluster before")
	again, err := c.UpsertDeployment(t.Context(), onCluster(server, 41), ready)
	require.NoError(t, err)
	require.Equal(t, now, again)

	one := func(id int, creator string, payload any) map[string]any {
		return map[string]any{"id": id, "payload": payload, "creator": map[string]string{"login": creator}}
	}
	a := answering(t, "", routes{
		"GET /app": saying(200, map[string]any{"slug": "ocpctl"}),
		"GET /repos/acme/shop/deployments": saying(200, []any{
			one(90, standin.Bot, `{"ocpctl":"cl_01"}`), one(91, standin.Bot, ""), one(92, standin.Bot, []int{1}), one(93, "will", map[string]any{"ocpctl": "cl_01"}),
		}),
		"GET /repos/acme/shop/deployments/90/statuses":  saying(200, []any{}),
		"POST /repos/acme/shop/deployments/90/statuses": saying(201, map[string]any{"id": 1}),
	})
	got, err := speaking(t, a.URL, nil).UpsertDeployment(t.Context(), onCluster(server, 41), going)
	require.NoError(t, err)
	require.Equal(t, int64(90), got, "a payload may come back as the text it was sent as, and a person may write our key")
}

func TestADeletedDeploymentIsGone(t *testing.T) {
	server, c := start(t)
	target := onCluster(server, 41)
	id, err := c.UpsertDeployment(t.Context(), target, going)
	require.NoError(t, err)
	require.NoError(t, c.callAsInstallation(t.Context(), standin.Installation, func(client *gh.Client) error {
		_, err := client.Repositories.DeleteDeployment(context.Background(), standin.Org, "shop", id)
		return err
	}))
	target.ExternalID = id
	_, err = c.UpsertDeployment(t.Context(), target, ready)
	require.ErrorIs(t, err, ErrGone)
}

func TestACommitThatWasPushedAwayIsRefusedInWords(t *testing.T) {
	server, c := start(t)
	target := onCluster(server, 41)
	target.Head = "0123456789012345678901234567890123456789"
	_, err := c.UpsertDeployment(t.Context(), target, going)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, `deployment "ocpctl/aws-minimal-test" on acme/shop`)
	require.ErrorContains(t, err, "is not in the repository any more")
	require.Empty(t, server.Deployments())

	server.FailNext(1, standin.APIFault{Method: http.MethodPost, Path: "/deployments", Status: 409, Message: "Conflict merging main into topic"})
	_, err = c.UpsertDeployment(t.Context(), onCluster(server, 41), going)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "Conflict merging main into topic")
}

func TestADeploymentsTextIsCutToWhatGitHubTakes(t *testing.T) {
	server, c := start(t)
	long := going
	long.Description = strings.Repeat("é", 200)
	target := onCluster(server, 41)
	for range 2 {
		id, err := c.UpsertDeployment(t.Context(), target, long)
		require.NoError(t, err)
		target.ExternalID = id
	}
	statuses := server.Deployments()[0].Statuses
	require.Len(t, statuses, 1, "cut words are compared as cut")
	require.Len(t, []rune(statuses[0].Description), 140)
}

func TestADeploymentHasToBeNamed(t *testing.T) {
	c := speaking(t, "http://127.0.0.1:1", nil)
	for _, target := range []DeploymentTarget{
		{Repo: shop, ExternalKey: "k"}, {Repo: shop, Head: "h"}, {Repo: "shop", Head: "h", ExternalKey: "k"},
	} {
		_, err := c.UpsertDeployment(t.Context(), target, going)
		require.ErrorContains(t, err, "want")
	}
}

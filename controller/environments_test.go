package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// environment of the clusters that these tests make.
const ofProfile = "ocpctl/aws-minimal-test"

func TestClustersOfAProfileShareOneEnvironment(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	before := f.hub.Environments()
	for number, name := range map[int]string{41: "first", 42: "second", 43: "third"} {
		f.becomesReady(f.asked(name, number))
	}
	f.settle()
	require.Equal(t, append(before, ofProfile), f.hub.Environments())
	tasks := []string{}
	for _, d := range f.hub.Deployments() {
		require.Equal(t, []string{ofProfile, "success"}, []string{d.Environment, d.State()})
		tasks = append(tasks, d.Task)
	}
	require.ElementsMatch(t, []string{"ocpctl:first", "ocpctl:second", "ocpctl:third"}, tasks, "a success ends no other cluster's deployment")
}

func TestTheDeploymentsOfAnEarlierEnvironmentAreRemoved(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	pr, _ := f.hub.PullRequest(41)
	for _, d := range []hub.Deployment{
		{Environment: "ocp/shop", Task: "ocpctl", Creator: hub.Bot, Statuses: []hub.DeploymentStatus{{State: "success"}}},
		{Environment: "ocp/shop", Task: "ocpctl", Creator: hub.Bot, Statuses: []hub.DeploymentStatus{{State: "inactive"}}},
		{Environment: "ocp/shop", Task: "deploy", Creator: "github-actions[bot]", Statuses: []hub.DeploymentStatus{{State: "success"}}},
		{Environment: "ocp/other", Task: "ocpctl", Creator: hub.Bot, Statuses: []hub.DeploymentStatus{{State: "success"}}},
	} {
		d.SHA, d.Ref = pr.HeadSHA, pr.HeadRef
		require.NoError(t, f.hub.Deploy(d))
	}
	id := f.effect(clusters.Effect{Cause: "deployments:clu_1:acme/shop", Kind: clusters.EffectRemoveDeployments, Content: "ocp/shop"})
	f.settle()
	left := []string{}
	for _, d := range f.hub.Deployments() {
		left = append(left, d.Environment+" "+d.Creator)
	}
	require.Equal(t, []string{"ocp/shop github-actions[bot]", "ocp/other ocpctl[bot]"}, left, "only ours, and only of that cluster")
	require.Equal(t, "deployments removed: 2", f.note(id))
	require.Contains(t, f.hub.Environments(), "ocp/shop", "only somebody with administration: write can delete it")
}

func TestAClusterWithAnEnvironmentOfItsOwnLeavesNoDeploymentThere(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row := f.asked("shop", 41)
	f.settle()
	pr, _ := f.hub.PullRequest(41)
	require.NoError(t, f.hub.Deploy(hub.Deployment{
		Environment: "ocp/shop", Task: "ocpctl", Creator: hub.Bot, SHA: pr.HeadSHA, Ref: pr.HeadRef, Statuses: []hub.DeploymentStatus{{State: "success"}},
	}))
	_, err := f.store.Pool().Exec(f.ctx, `INSERT INTO own_environments VALUES ($1, $2, $3, 'ocp/shop')`, row.ID, hub.Repo, hub.Installation)
	require.NoError(t, err)
	_, err = f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	require.Equal(t, lifecycle.Destroyed, f.cluster(row.ID).Status)
	f.settle()
	for _, d := range f.hub.Deployments() {
		require.NotEqual(t, "ocp/shop", d.Environment)
	}
}

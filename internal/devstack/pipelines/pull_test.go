//go:build act

package pipelines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/client"
	"github.com/ocpctl/ocpctl/internal/devstack/github"
	"github.com/ocpctl/ocpctl/internal/devstack/github/runs"
)

// kubectl stands in for the program, because behind the stand-in cluster's address is no API. It tells what it was asked.
const kubectl = `#!/bin/sh
echo "kubectl $*" >&2
case "$1" in
  kustomize) cat "$2/kustomization.yaml" ;;
  apply) sed 's/^/applied: /' ;;
esac
`

// withKubectl puts it before everything else on the PATH of jobs.
func withKubectl(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(kubectl), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// pullRequest calls the reusable workflow as workflows/samples/pull-request.yml does.
const pullRequest = `
name: pull request
on: pull_request
concurrency: {group: "pr-${{ github.event.pull_request.number }}", cancel-in-progress: true}
jobs:
  pr-cluster:
    uses: ocpctl/ocpctl/.github/workflows/pr-cluster.yml@v1
    permissions: {contents: read, id-token: write, packages: write}
    with:
      server: SERVER
      profile: aws-minimal-test
      build: echo "built $IMAGE_TAG"
      overlay: deploy
      test: |
        echo "tested https://shop.$APPS_DOMAIN with $IMAGE_TAG"
        echo '<testsuite name="shop"><testcase name="answers" time="0.2"/></testsuite>' > junit.xml
`

func (s *stack) aPullRequest() {
	t := s.T
	s.reports = nil
	require.NoError(t, s.GitHub.Commit(".github/workflows/e2e.yml", "on: workflow_dispatch\njobs: {none: {runs-on: ubuntu-latest, steps: [{run: echo}]}}\n"))
	require.NoError(t, s.GitHub.Commit("deploy/kustomization.yaml", "image: shop:${IMAGE_TAG}\nhost: shop.${APPS_DOMAIN}\n"))
	number, err := s.GitHub.Open("Sell more", "will")
	require.NoError(t, err)
	require.NoError(t, s.GitHub.Label(number, "ocp/aws-minimal-test", "maya"))
	require.NoError(t, s.GitHub.Commit(".github/workflows/e2e.yml", strings.ReplaceAll(pullRequest, "SERVER", s.server)))
	before := len(s.GitHub.Runs().List())
	var ids []string
	for i := range 2 {
		require.NoError(t, s.GitHub.Push(number, "will"))
		s.eventually("the run begins", func() bool { return len(s.GitHub.Runs().List()) > before+i })
		run := s.until(s.GitHub.Runs().List()[before+i].ID, finished)
		require.Equal(t, runs.Success, run.Conclusion)
		ids = append(ids, s.deployed(run))
	}
	require.Equal(t, ids[0], ids[1], "the second push reuses the cluster")
	c := s.cluster(ids[0])
	require.Equal(t, client.READY, c.Status, "it is kept until the pull request closes")
	require.Equal(t, number, c.PullRequest.Number)
	require.Len(t, s.reports, 2)
	require.EqualValues(t, 1, s.reports[1]["passed"])
	require.NoError(t, s.GitHub.Close(number, "will"))
	s.goes(c.ClusterID)
}

// deployed returns the cluster on which a run of the reusable workflow deployed and tested.
func (s *stack) deployed(run github.Run) (cluster string) {
	s.Helper()
	for _, job := range run.Jobs {
		log := s.log(job)
		switch job.Key {
		case "build":
			require.Regexp(s, `built pr-\d+-[0-9a-f]{12}\n`, log)
		case "test":
			require.Regexp(s, `applied: image: shop:pr-\d+-[0-9a-f]{12}\n`, log)
			require.Regexp(s, `applied: host: shop\.apps\.[a-z0-9-]+\.labs\.example\.com\n`, log)
			require.Contains(s, log, "kubectl wait deployments --all -n app --for=condition=Available --timeout=5m\n")
			require.Regexp(s, `tested https://shop\.apps\.[a-z0-9-]+\.labs\.example\.com with pr-`, log)
			require.Contains(s, log, "[group] Waiting for this run's turn on ")
		case "cluster":
			cluster = job.Outputs["cluster-id"]
		}
	}
	require.Regexp(s, "^clu_", cluster)
	return cluster
}

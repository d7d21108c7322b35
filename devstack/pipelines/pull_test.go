//go:build act

package pipelines

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// kubectl stands in for the program, because behind the stand-in cluster's address is no API. It tells what it was asked.
const kubectl = `#!/bin/sh
echo "kubectl $*" >&2
case "$1" in
  kustomize) cat "$2/kustomization.yaml" ;;
  get) echo deployment.apps/shop ;;
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
    uses: ocpctl/ocpctl/.github/workflows/pr-cluster.yml@main
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
	s.remove("e2e")
	require.NoError(t, s.GitHub.Commit("deploy/kustomization.yaml", "image: shop:${IMAGE_TAG}\nhost: shop.${APPS_DOMAIN}\n"))
	number, err := s.GitHub.Open("Sell more", "will")
	require.NoError(t, err)
	require.NoError(t, s.GitHub.Commit(".github/workflows/e2e.yml", strings.ReplaceAll(pullRequest, "SERVER", s.PrivateURL())))
	before := len(s.GitHub.Runs().List())
	var ids []string
	var tested []int64
	for range 2 {
		require.NoError(t, s.GitHub.Push(number, "will"))
		run := s.next(before, "pull_request", func(run github.Run) bool {
			return finished(run) && !slices.Contains(tested, run.ID)
		})
		tested = append(tested, run.ID)
		require.Equal(t, runs.Success, run.Conclusion)
		ids = append(ids, s.deployed(run))
	}
	require.Equal(t, ids[0], ids[1], "the second push reuses the cluster")
	c := s.cluster(ids[0])
	require.Equal(t, v1.READY, c.Status, "it is kept until the pull request closes")
	require.Equal(t, number, c.PullRequest.Number)
	require.Equal(t, 1, ask[v1.TestRuns](s, http.MethodGet, "/api/v1/clusters/"+c.ClusterID+"/test-reports", "admin").Items[0].Passed)
	s.eventually("the check shows the tests", func() bool { return s.checked(s.head(number)) == "success 1 test passed" })
	s.eventually("the comment shows the tests", func() bool {
		return slices.ContainsFunc(s.GitHub.Comments(number), func(c github.Comment) bool { return strings.Contains(c.Body, "**Tests:** 🟢 1 passed") })
	})
	s.twoRunsAtOnce(number, c.ClusterID)
	others := 0
	for _, run := range s.GitHub.Runs().List()[before:] {
		if run.Event == "deployment_status" {
			others++
			require.Equal(t, runs.Skipped, s.until(run.ID, finished).Conclusion, "the deployment of a pull request's cluster starts no tests that would end it")
		}
	}
	require.NotZero(t, others)
	s.remove("tests")
	require.Equal(t, v1.Present, s.cluster(c.ClusterID).Desired)
	require.NoError(t, s.GitHub.Close(number, "will"))
	s.goes(c.ClusterID)
}

// head is a pull request's newest commit.
func (s *stack) head(number int) string {
	pr, _ := s.GitHub.PullRequest(number)
	return pr.HeadSHA
}

// remove leaves a workflow's file without anything that starts it.
func (s *stack) remove(name string) {
	s.Helper()
	require.NoError(s, s.GitHub.Commit(".github/workflows/"+name+".yml", "on: workflow_dispatch\njobs: {none: {runs-on: ubuntu-latest, steps: [{run: echo}]}}\n"))
}

// inTurns is a run on a pull request's cluster that ends when a file is there.
const inTurns = `
name: turns
on: pull_request
jobs:
  turn:
    runs-on: ubuntu-latest
    permissions: {id-token: write}
    steps:
      - uses: ocpctl/ocpctl/workflows/create-cluster@main
        with: {server: SERVER, profile: aws-minimal-test, reuse: pull-request}
      - run: |
          echo "it is this run's turn on $OCPCTL_CLUSTER_ID"
          until [ -e FLAG ]; do sleep 0.1; done
`

func (s *stack) twoRunsAtOnce(number int, cluster string) {
	t := s.T
	flag := filepath.Join(t.TempDir(), "flag")
	require.NoError(t, s.GitHub.Commit(".github/workflows/e2e.yml", strings.NewReplacer("SERVER", s.PrivateURL(), "FLAG", flag).Replace(inTurns)))
	before := len(s.GitHub.Runs().List())
	require.NoError(t, s.GitHub.Push(number, "will"))
	first := s.next(before, "pull_request", s.shows("it is this run's turn on "+cluster))
	require.NoError(t, s.GitHub.Push(number, "will"))
	second := s.next(before, "pull_request", func(run github.Run) bool {
		return run.ID != first.ID && s.shows("Waiting for the turn on the cluster: 1 run ahead")(run)
	})
	require.NotContains(t, s.log(second.Jobs[0]), "it is this run's turn")
	require.NoError(t, os.WriteFile(flag, nil, 0o600))
	for _, run := range []github.Run{first, second} {
		run = s.until(run.ID, finished)
		require.Equal(t, runs.Success, run.Conclusion)
		require.Contains(t, s.log(run.Jobs[0]), "it is this run's turn on "+cluster)
	}
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

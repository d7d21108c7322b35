//go:build act

package pipelines

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// sample returns a workflow of workflows/samples for this stack. Its tests are the script.
func (s *stack) sample(name, tests string) string {
	s.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "workflows", "samples", name+".yml"))
	require.NoError(s, err)
	return strings.NewReplacer("https://ocpctl.example.com", s.PrivateURL(), "make e2e", tests).Replace(string(raw))
}

func (s *stack) aDeployment() {
	s.remove("e2e")
	require.NoError(s, s.GitHub.Commit(".github/workflows/tests.yml", s.sample("on-deployment", untilCancelled)))
	s.handsOver(s.sample("request", ""), "deployment_status")
	// tests.yml stays for the next part: deployments that are no signal start it, too
}

func (s *stack) aDispatch() {
	require.NoError(s, s.GitHub.Commit(".github/workflows/tests.yml", s.sample("on-dispatch", untilCancelled)))
	s.handsOver(strings.ReplaceAll(s.sample("request", ""), "on-ready: deployment", "on-ready: dispatch"), "repository_dispatch")
	s.remove("tests")
}

// untilCancelled are tests that go on until they are cancelled.
const untilCancelled = `echo "testing $OCPCTL_CLUSTER_ID" && sleep 600`

var clusterID = regexp.MustCompile(`clu_[0-9A-Z]{26}`)

// handsOver has a run ask for a cluster and end, and another one take the cluster over when it is ready, which is then cancelled.
func (s *stack) handsOver(request, event string) {
	before := len(s.GitHub.Runs().List())
	require.NoError(s, s.GitHub.Commit(".github/workflows/request.yml", request))
	asked := s.next(before, "push", finished)
	require.Equal(s, runs.Success, asked.Conclusion)
	id := clusterID.FindString(s.log(asked.Jobs[0]))
	require.NotEmpty(s, id)
	s.remove("request")
	tests := s.next(before, event, func(run github.Run) bool {
		return len(run.Jobs) > 0 && strings.Contains(s.log(run.Jobs[0]), "testing "+id)
	})
	c := s.cluster(id)
	require.Equal(s, fmt.Sprint(tests.ID), c.Run.Key, "the run of the tests has it")
	require.Contains(s, s.log(tests.Jobs[0]), "Checked out acme/shop at "+asked.SHA)
	require.Contains(s, s.log(tests.Jobs[0]), "[group] Waiting for this run's turn on "+c.Name)
	require.NoError(s, s.GitHub.Runs().Cancel(tests.ID, "maya"))
	require.Equal(s, runs.Cancelled, s.until(tests.ID, finished).Conclusion)
	s.goes(id)
}

func (s *stack) aScheduleAndTheQueue() {
	t := s.T
	passes := `mkdir -p build && echo '<testsuite name="shop"><testcase name="answers"/></testsuite>' > build/TEST-shop.xml`
	require.NoError(t, s.GitHub.Commit(".github/workflows/nightly.yml", s.sample("nightly", passes)))
	before := len(s.GitHub.Runs().List())
	require.NoError(t, s.GitHub.Schedule())
	nightly := s.next(before, "schedule", finished)
	require.Equal(t, runs.Success, nightly.Conclusion)
	require.Len(t, nightly.Jobs, 2)
	s.remove("nightly")

	require.NoError(t, s.GitHub.Commit(".github/workflows/gate.yml", strings.ReplaceAll(s.sample("merge-gate", passes), "  pull_request:\n", "")))
	number, err := s.GitHub.Open("Sell even more", "will")
	require.NoError(t, err)
	require.NoError(t, s.GitHub.Queue(number, "maya"))
	gate := s.next(before, "merge_group", finished)
	require.Equal(t, runs.Success, gate.Conclusion)
	s.remove("gate")
	for _, job := range append(nightly.Jobs, gate.Jobs...) {
		s.goes(clusterID.FindString(s.log(job)))
	}
}

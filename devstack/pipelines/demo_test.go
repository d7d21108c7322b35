//go:build act

package pipelines

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

// starts starts a workflow of the demo's repository by hand, and returns its run when it is over.
func (s *stack) starts(file string, inputs map[string]any) github.Run {
	s.Helper()
	before := len(s.GitHub.Runs().List())
	require.NoError(s, s.GitHub.StartWorkflow(".github/workflows/"+file, "main", inputs, "maya"))
	s.eventually("the run begins", func() bool { return len(s.GitHub.Runs().List()) > before })
	return s.until(s.GitHub.Runs().List()[before].ID, finished)
}

// tested are the reported tests of a cluster: name, passed, failed.
func (s *stack) tested(cluster string) map[string][2]int {
	s.Helper()
	out := map[string][2]int{}
	for _, run := range ask[v1.TestRuns](s, http.MethodGet, "/api/v1/clusters/"+cluster+"/test-reports", "admin").Items {
		for _, one := range run.Reports {
			out[one.Name] = [2]int{one.Passed, one.Failed}
		}
	}
	return out
}

func (s *stack) theDemosWorkflows() {
	run := s.starts("environment.yml", nil)
	job := run.Jobs[0]
	require.Equal(s, runs.Success, run.Conclusion, s.log(job))
	require.Equal(s, runs.Approved, job.Reviews[0].State)
	require.Contains(s, job.Reviews[0].Comments[0], "is being created")
	require.Contains(s, job.Reviews[0].Comments[len(job.Reviews[0].Comments)-1], "is ready until")
	c := s.cluster(job.Outputs["id"])
	require.Equal(s, "environment/aws-minimal-test", c.Run.Slot)
	require.Equal(s, map[string][2]int{"smoke": {1, 0}}, s.tested(c.ClusterID))

	run = s.starts("e2e.yml", map[string]any{"fail": "true"})
	require.Equal(s, runs.Failure, run.Conclusion)
	for _, job := range run.Jobs {
		if id := job.Outputs["id"]; id != "" {
			require.Equal(s, map[string][2]int{"cart": {5, 1}, "checkout": {6, 0}, "search": {6, 0}}, s.tested(id), s.log(job))
			return
		}
	}
	s.Fatal("no job has the cluster")
}

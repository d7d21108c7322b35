//go:build act

package pipelines

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

// life is a job that does everything that a job can do with a cluster.
const life = `
name: e2e
on: push
env: {OCPCTL_VERSION: VERSION, OCPCTL_DOWNLOAD_URL: MIRROR}
jobs:
  life:
    runs-on: ubuntu-latest
    permissions: {contents: read, id-token: write}
    outputs: {cluster-id: "${{ steps.cluster.outputs.cluster-id }}", price: "${{ steps.cluster.outputs.price }}", conclusion: "${{ steps.report.outputs.conclusion }}"}
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
      - id: setup
        uses: ocpctl/ocpctl/workflows/setup-ocpctl@main
        with: {cache: true}
      - run: ocpctl whoami
      - id: cluster
        uses: ocpctl/ocpctl/workflows/create-cluster@main
        with: {server: SERVER, profile: aws-minimal-test, ttl: 4h, env-prefix: BLUE_}
      - name: Leak
        run: |
          ls -l "$KUBECONFIG" "$BLUE_KUBECONFIG" | cut -c 1-10
          cat "$KUBECONFIG"
          echo "$OCPCTL_CLUSTER_ID $BLUE_CLUSTER_NAME"
      - uses: ocpctl/ocpctl/workflows/extend-cluster@main
        with: {duration: 2h}
      - name: Test
        run: |
          mkdir -p build/reports
          printf '<testsuite name="cart"><testcase name="adds" time="0.1"/><testcase name="totals"><failure message="90 is not 81">%s</failure></testcase></testsuite>' \
            "$(grep token: "$KUBECONFIG" | tr -d ' ')" > build/reports/TEST-cart.xml
          exit 1
      - id: report
        if: always()
        uses: ocpctl/ocpctl/workflows/report-tests@main
        with: {server: SERVER, files: "build/**/TEST-*.xml", name: cart}
      - if: failure()
        uses: ocpctl/ocpctl/workflows/collect-logs@main
      - if: always()
        uses: ocpctl/ocpctl/workflows/destroy-cluster@main
        with: {wait: true}
  after:
    needs: life
    if: always()
    runs-on: ubuntu-latest
    permissions: {id-token: write}
    steps:
      - uses: ocpctl/ocpctl/workflows/destroy-cluster@main
        with: {cluster: "${{ needs.life.outputs.cluster-id }}"}
`

// One stack serves all of it, because it takes a while to start.
func TestTheActionsInWorkflows(t *testing.T) {
	withKubectl(t)
	s := newStack(t)
	for _, part := range []struct {
		name string
		tell func()
	}{
		{"the demo's workflows report their tests, and one waits for its cluster", s.theDemosWorkflows},
		{"an archive that was changed is not used", s.aChangedArchive},
		{"a job uses a cluster through the actions", s.aLife},
		{"a cancelled job stops at once, and its cluster goes", s.aCancelledJob},
		{"a run that does not wait is told by a deployment", s.aDeployment},
		{"a pull request has one cluster for its runs, until it closes", s.aPullRequest},
		{"a run that does not wait is told by a dispatch", s.aDispatch},
		{"a schedule and the merge queue start runs", s.aScheduleAndTheQueue},
		{"a job whose runner was lost finds its cluster when it is run again", s.aLostRunner},
	} {
		began := time.Now()
		part.tell()
		t.Logf("%s: %s", part.name, time.Since(began).Round(time.Millisecond))
	}
}

func (s *stack) aLife() {
	t := s.T
	s.fetched = nil
	began := time.Now()
	run := s.push(life, finished)
	t.Logf("the run took %s", time.Since(began).Round(time.Millisecond))
	require.Equal(t, runs.Failure, run.Conclusion, "its tests failed")
	job, after := run.Jobs[0], run.Jobs[1]
	require.Equal(t, runs.Success, after.Conclusion, s.log(after))
	log := s.log(job)
	var wrong []string
	for _, step := range job.Steps {
		if step.Conclusion != runs.Success {
			wrong = append(wrong, step.Name+" "+step.Conclusion)
		}
	}
	require.Equal(t, []string{"Test failure"}, wrong, log)

	id := job.Outputs["cluster-id"]
	require.Regexp(t, `^clu_[0-9A-Z]{26}$`, id, "what is masked does not reach another job, and this is not")
	require.Equal(t, []string{"0.74", "failure"}, []string{job.Outputs["price"], job.Outputs["conclusion"]})
	c := s.cluster(id)
	require.Equal(t, v1.DESTROYED, c.Status)
	require.Equal(t, 6*time.Hour, c.DestroyAt.Sub(c.AcceptedAt).Round(time.Minute), "the time to live and the extension")
	require.Equal(t, []string{"acme/shop", "life/0/"}, []string{c.Run.Repo, c.Run.Slot})
	require.Empty(t, s.AWS.Resources(c.Name))

	require.Contains(t, log, "-rw-------\n-rw-------\n")
	require.Contains(t, log, "token: ***\n", "the job has a token of its own, and it is masked")
	require.NotContains(t, log, "client-key-data")
	require.Contains(t, log, id+" "+c.Name+"\n")
	require.Contains(t, log, "[group] Waiting until "+c.Name+" is ready\n")
	require.Contains(t, log, "  CREATING installing  ")
	require.Contains(t, log, "2 h later.\n")
	require.Contains(t, log, "create-job_")
	require.Contains(t, log, "The artifact ocpctl-"+c.Name+"-life-0-1 would have these files")
	require.Contains(t, summaries(job), "### "+c.Name+" is ready\n")
	require.Contains(t, s.annotations(job), "warning ocpctl report-tests 1 of 2 tests failed, the first of them cart › totals: 90 is not 81")

	reported := s.reported(id)
	require.Equal(t, []any{"cart", 1}, []any{reported.Reports[0].Name, reported.Failed})
	require.Equal(t, "token:***", reported.Reports[0].Failures[0].Details, "the report is as clean as the log")
	s.eventually("the check shows the tests", func() bool { return s.checked(run.HeadSHA) != "" })
	require.Equal(t, "failure 1 of 2 tests failed", s.checked(run.HeadSHA))
	require.Equal(t, []string{"SHA256SUMS", filepath.Base(s.archive)}, s.fetched, "the first step downloads ocpctl, and leaves it in the tool cache")
}

// reported is the only run of tests that the server keeps for a cluster.
func (s *stack) reported(cluster string) v1.TestRun {
	s.Helper()
	all := ask[v1.TestRuns](s, http.MethodGet, "/api/v1/clusters/"+cluster+"/test-reports", "admin").Items
	require.Len(s, all, 1)
	return all[0]
}

// checked is the conclusion and the title of the check with the results of tests on a commit; empty: there is none yet.
func (s *stack) checked(sha string) string {
	for _, check := range s.GitHub.ChecksOf(sha) {
		if check.Name == "ocpctl/aws-minimal-test/tests" {
			return check.Conclusion + " " + check.Title
		}
	}
	return ""
}

// summaries are those of a job's steps.
func summaries(job *runs.Job) string {
	var b strings.Builder
	for _, step := range job.Steps {
		b.WriteString(step.Summary)
	}
	return b.String()
}

// annotations are those of a job, one on each line.
func (s *stack) annotations(job *runs.Job) string {
	var b strings.Builder
	for _, a := range job.Annotations {
		b.WriteString(a.Level + " " + a.Title + " " + a.Message + "\n")
	}
	return b.String()
}

func (s *stack) aChangedArchive() {
	t := s.T
	whole, err := os.ReadFile(s.archive)
	require.NoError(t, err)
	changed := slices.Clone(whole)
	changed[len(changed)/2] ^= 1
	require.NoError(t, os.WriteFile(s.archive, changed, 0o644))
	run := s.push("env: {OCPCTL_VERSION: VERSION, OCPCTL_DOWNLOAD_URL: MIRROR}"+waiting, finished)
	require.Equal(t, runs.Failure, run.Conclusion)
	require.Contains(t, s.annotations(run.Jobs[0]), "The checksum of "+filepath.Base(s.archive)+" is not the one in SHA256SUMS of the release. It was deleted, and is not used.")
	require.NoError(t, os.WriteFile(s.archive, whole, 0o644))
}

// waiting is a job that waits for a cluster.
const waiting = `
name: e2e
on: push
jobs:
  wait:
    runs-on: ubuntu-latest
    permissions: {id-token: write}
    steps:
      - uses: ocpctl/ocpctl/workflows/create-cluster@main
        with: {profile: aws-minimal-test}
      - run: echo "used $OCPCTL_CLUSTER_ID"
      - if: cancelled()
        run: echo "cancelled with $OCPCTL_CLUSTER_ID"
`

// pause has installs stop half-way until it is called again.
func (s *stack) pause() (goOn func()) {
	require.NoError(s, installer.SetFault(s.Faults(), "create", &installer.Fault{FailAt: "bootstrap", Pause: true}))
	return func() { require.NoError(s, installer.SetFault(s.Faults(), "create", nil)) }
}

func (s *stack) aCancelledJob() {
	t := s.T
	goOn := s.pause()
	run := s.push(waiting, s.shows("CREATING installing"))
	began := time.Now()
	require.NoError(t, s.GitHub.Runs().Cancel(run.ID, "maya"))
	run = s.until(run.ID, finished)
	t.Logf("the job ended %s after it was cancelled", time.Since(began).Round(time.Millisecond))
	require.Equal(t, runs.Cancelled, run.Conclusion)
	log := s.log(run.Jobs[0])
	require.Contains(t, log, "Stopped waiting; ")
	require.Contains(t, s.annotations(run.Jobs[0]), "notice ocpctl create-cluster Cancelled. What was asked for continues on the server")
	require.Contains(t, log, "cancelled with clu_", "later steps have the cluster")
	require.NotContains(t, log, "used clu_")
	_, id, _ := strings.Cut(log, "cancelled with ")
	id = strings.Fields(id)[0]
	s.eventually("the cluster is not wanted any more", func() bool { return s.cluster(id).Desired == v1.Absent })
	t.Logf("the cluster was given up %s after the run was cancelled", time.Since(began).Round(time.Millisecond))
	goOn()
	s.goes(id)
}

// goes waits until nothing is left of a cluster, without a step of its own.
func (s *stack) goes(id string) {
	s.Helper()
	var last v1.ClusterDetail
	s.eventually("the cluster goes", func() bool {
		last = s.cluster(id)
		return last.Status == v1.DESTROYED
	})
	require.Empty(s, s.AWS.Resources(last.Name))
}

// lost is a job whose runner is killed in the first attempt.
const lost = `
name: e2e
on: push
jobs:
  e2e:
    runs-on: ubuntu-latest
    permissions: {id-token: write}
    steps:
      - id: cluster
        uses: ocpctl/ocpctl/workflows/create-cluster@main
        with: {profile: aws-minimal-test, reuse: run}
      - run: |
          echo "attempt $GITHUB_RUN_ATTEMPT has $OCPCTL_CLUSTER_ID"
          if [ "$GITHUB_RUN_ATTEMPT" = 1 ]; then kill -9 "$PPID"; fi
`

func (s *stack) aLostRunner() {
	t := s.T
	run := s.push(lost, finished)
	require.Equal(t, runs.Failure, run.Conclusion)
	id := regexp.MustCompile(`clu_[0-9A-Z]{26}`).FindString(s.log(run.Jobs[0]))
	require.NotEmpty(t, id)
	require.NoError(t, s.GitHub.Runs().RerunFailed(run.ID, "maya"))
	run = s.until(run.ID, func(run github.Run) bool { return run.Attempt == 2 && finished(run) })
	require.Equal(t, runs.Success, run.Conclusion)
	require.Contains(t, s.log(run.Jobs[len(run.Jobs)-1]), "attempt 2 has "+id+"\n", "the re-run finds its cluster")
	s.goes(id)
	require.Equal(t, 2, s.cluster(id).Run.Attempt)
}

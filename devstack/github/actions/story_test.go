//go:build act

package actions_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/actions"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

const file = ".github/workflows/e2e.yml"

// standIn is a stand-in GitHub that executes workflows.
func standIn(t *testing.T) *github.Server {
	t.Helper()
	engine, err := actions.New(actions.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	s, err := github.Start(t.Context(), github.Config{Engine: engine})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	require.NoError(t, s.Commit(file, quiet))
	return s
}

// quiet is a workflow that no event starts.
const quiet = "on: workflow_call\njobs: {none: {runs-on: ubuntu-latest, steps: [{run: echo none}]}}\n"

// until waits for a run that is as wanted; number counts the runs.
func until(t *testing.T, s *github.Server, number int, what string, is func(github.Run) bool) github.Run {
	t.Helper()
	var last github.Run
	require.Eventually(t, func() bool {
		all := s.Runs().List()
		if len(all) >= number {
			last = all[number-1]
		}
		return s.Trouble() != "" || len(all) >= number && is(last)
	}, 3*time.Minute, 10*time.Millisecond, "%s: %v", what, &last)
	require.Empty(t, s.Trouble())
	return last
}

func finished(run github.Run) bool { return run.Status == runs.Completed }

// outcome is the conclusion of each shown job, by name.
func outcome(run github.Run) map[string]string {
	out := map[string]string{}
	for _, j := range run.Current() {
		if j.Shown() {
			out[j.Name] = j.Conclusion
		}
	}
	return out
}

func named(t *testing.T, run github.Run, name string) *github.Job {
	t.Helper()
	for _, j := range run.Current() {
		if j.Name == name {
			return j
		}
	}
	require.Fail(t, "no job "+name)
	return nil
}

// text is the log of a job without its times.
func text(s *github.Server, job int64) string {
	out := ""
	for _, line := range s.Runs().Log(job) {
		if line.Kind != "" {
			out += "[" + line.Kind + "] "
		}
		out += line.Text + "\n"
	}
	return out
}

func TestAPushRunsAWorkflowWithNeedsMatrixAndOutputs(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(file, `
name: e2e
run-name: e2e of ${{ github.actor }}
on: {push: {branches: [main]}}
jobs:
  create:
    runs-on: ubuntu-latest
    outputs: {cluster: "${{ steps.make.outputs.cluster }}", secret: "${{ steps.make.outputs.secret }}"}
    steps:
      - uses: actions/checkout@v4
      - id: make
        name: Make it
        run: |
          echo "::add-mask::hunter2"
          echo "cluster=cl_1" >> "$GITHUB_OUTPUT"
          echo "secret=hunter2" >> "$GITHUB_OUTPUT"
          echo "the password is hunter2"
          echo "::group::Files"
          cat README.md
          echo "::endgroup::"
          echo "::warning file=README.md,line=3,title=Old: file::it mentions hunter2"
          echo "| a | b |" >> "$GITHUB_STEP_SUMMARY"
  test:
    needs: create
    strategy:
      matrix: {version: ["4.19", "4.20"]}
    runs-on: ubuntu-latest
    steps:
      - run: echo "${{ needs.create.outputs.cluster }} ${{ matrix.version }} [${{ needs.create.outputs.secret }}]"
  report:
    needs: [create, test]
    if: failure()
    runs-on: ubuntu-latest
    steps: [{run: "true"}]
`))
	run := until(t, s, 1, "the run ends", finished)
	require.Equal(t, "e2e of maya", run.Title)
	require.Equal(t, map[string]string{"create": "success", "test (4.19)": "success", "test (4.20)": "success", "report": "skipped"}, outcome(run))
	require.Equal(t, runs.Success, run.Conclusion)

	create := named(t, run, "create")
	log := text(s, create.ID)
	require.Contains(t, log, "the password is ***\n[group] Files\n# acme/shop")
	require.NotContains(t, log, "hunter2")
	require.Equal(t, map[string]string{"cluster": "cl_1"}, create.Outputs, "an output with a secret is lost, as on GitHub")
	var words []string
	for _, a := range create.Annotations {
		words = append(words, a.Level+" "+a.Title+" "+a.Message)
	}
	require.Equal(t, []string{"warning Old: file it mentions ***", "warning  Skip output 'secret' since it may contain secret."}, words)
	var steps []string
	for _, step := range create.Steps {
		steps = append(steps, step.Name+" "+step.Conclusion)
	}
	require.Equal(t, []string{"Set up job success", "Run actions/checkout@v4 success", "Make it success", "Complete job success"}, steps)
	require.Equal(t, "| a | b |\n", create.Steps[2].Summary)
	require.Contains(t, text(s, named(t, run, "test (4.20)").ID), "cl_1 4.20 []")
}

func TestCancellingInterruptsTheStepAndRunsWhatRunsAlways(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(file, `
on: push
jobs:
  long:
    runs-on: ubuntu-latest
    steps:
      - name: wait
        run: |
          trap 'echo interrupted; exit 130' INT
          echo waiting
          for i in $(seq 600); do sleep 0.1; done
      - run: echo never
      - if: always()
        run: echo clean up
  after:
    needs: long
    runs-on: ubuntu-latest
    steps: [{run: echo never}]
  last:
    needs: long
    if: always()
    runs-on: ubuntu-latest
    steps: [{run: echo last}]
`))
	run := until(t, s, 1, "the step waits", func(run github.Run) bool {
		return len(run.Jobs) == 3 && len(s.Runs().Log(run.Jobs[0].ID)) > 0
	})
	require.NoError(t, s.Runs().Cancel(run.ID, "maya"))
	run = until(t, s, 1, "the run ends", finished)
	require.Equal(t, runs.Cancelled, run.Conclusion)
	require.Equal(t, map[string]string{"long": "cancelled", "after": "cancelled", "last": "success"}, outcome(run))
	long := named(t, run, "long")
	log := text(s, long.ID)
	require.Contains(t, log, "waiting\ninterrupted\n")
	require.Contains(t, log, "clean up")
	require.NotContains(t, log, "never")
	require.Equal(t, runs.Cancelled, long.Steps[1].Conclusion)
	require.Equal(t, runs.Success, long.Steps[3].Conclusion)
}

func TestAStepThatIgnoresTheSignalsIsKilledWithItsChildren(t *testing.T) {
	s := standIn(t)
	marker := filepath.Join(t.TempDir(), "pid")
	require.NoError(t, s.Commit(file, `
on: push
jobs:
  stubborn:
    runs-on: ubuntu-latest
    steps:
      - run: |
          trap 'echo not now' INT TERM
          sleep 600 & echo $! > `+marker+`
          echo waiting
          while true; do sleep 0.2; done
      - if: always()
        run: echo clean up
`))
	run := until(t, s, 1, "the step waits", func(run github.Run) bool { return len(s.Runs().Log(run.Jobs[0].ID)) > 0 })
	require.NoError(t, s.Runs().Cancel(run.ID, "maya"))
	run = until(t, s, 1, "the run ends", finished)
	log := text(s, run.Jobs[0].ID)
	require.Equal(t, 2, strings.Count(log, "not now"), "SIGINT, then SIGTERM")
	require.Contains(t, log, "clean up")
	require.Equal(t, runs.Cancelled, run.Conclusion)
	pid, err := os.ReadFile(marker)
	require.NoError(t, err)
	_, err = os.Stat("/proc/" + strings.TrimSpace(string(pid)))
	require.ErrorIs(t, err, os.ErrNotExist, "its child is gone, too")
}

func TestAJobGetsTokensThatTheIssuerVouchesFor(t *testing.T) {
	s := standIn(t)
	provider, err := oidc.NewProvider(t.Context(), s.URL()+"/_services/token")
	require.NoError(t, err)
	const workflow = `
on: [push, pull_request]
permissions: {id-token: write}
jobs:
  e2e:
    runs-on: ubuntu-latest
    environment: ocp/aws
    outputs: {token: "${{ steps.ask.outputs.token }}"}
    steps:
      - id: ask
        run: |
          if [ -z "$ACTIONS_ID_TOKEN_REQUEST_URL" ]; then echo "token=none" >> "$GITHUB_OUTPUT"; exit; fi
          echo "with $ACTIONS_ID_TOKEN_REQUEST_TOKEN"
          answer=$(curl -sSf -H "Authorization: bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=ocpctl")
          echo "token=$(sed 's/.*"value":"\([^"]*\)".*/\1/' <<< "$answer")" >> "$GITHUB_OUTPUT"
`
	require.NoError(t, s.Commit(file, workflow))
	run := until(t, s, 1, "the run ends", finished)
	require.Equal(t, runs.Success, run.Conclusion)
	require.Contains(t, text(s, run.Jobs[0].ID), "with ***")
	raw := run.Jobs[0].Outputs["token"]
	token, err := provider.Verifier(&oidc.Config{ClientID: "ocpctl"}).Verify(t.Context(), raw)
	require.NoError(t, err)
	require.Equal(t, "repo:acme/shop:environment:ocp/aws", token.Subject)
	require.WithinDuration(t, token.IssuedAt.Add(5*time.Minute), token.Expiry, 0)
	claims := map[string]any{}
	require.NoError(t, token.Claims(&claims))
	require.Equal(t, strconv.FormatInt(run.ID, 10), claims["run_id"])
	require.Equal(t, strconv.FormatInt(run.Jobs[0].ID, 10), claims["check_run_id"])
	require.Equal(t, "acme/shop/.github/workflows/e2e.yml@refs/heads/main", claims["job_workflow_ref"])
	_, err = s.IDToken(run.Jobs[0].ID, "")
	require.Error(t, err, "the job is over")

	_, err = s.OpenFork("A change from outside", github.ForkOwner)
	require.NoError(t, err)
	fork := until(t, s, 2, "the fork's run ends", finished)
	require.Equal(t, "none", fork.Jobs[0].Outputs["token"], "a fork's pull request gets no token")
}

func TestConcurrencyCancelsTheOlderRun(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(file, `
on: push
concurrency: {group: "e2e-${{ github.ref }}", cancel-in-progress: true}
jobs:
  e2e: {runs-on: ubuntu-latest, steps: [{run: "echo on; [ -e stop ] || exec sleep 60"}, {uses: actions/checkout@v4}]}
`))
	until(t, s, 1, "it runs", func(run github.Run) bool { return len(s.Runs().Log(run.Jobs[0].ID)) > 0 })
	require.NoError(t, s.Commit(file, `
on: push
concurrency: {group: "e2e-${{ github.ref }}", cancel-in-progress: true}
jobs:
  e2e: {runs-on: ubuntu-latest, steps: [{run: echo on}]}
`))
	require.Equal(t, runs.Success, until(t, s, 2, "the second run ends", finished).Conclusion)
	first := until(t, s, 1, "the first run ends", finished)
	require.Equal(t, runs.Cancelled, first.Conclusion)
}

func TestFailedJobsRunAgainWithTheOutputsOfTheOthers(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(file, `
on: push
jobs:
  make:
    runs-on: ubuntu-latest
    outputs: {id: "${{ steps.a.outputs.id }}"}
    steps: [{id: a, run: 'echo "id=from-$GITHUB_RUN_ATTEMPT" >> "$GITHUB_OUTPUT"'}]
  test:
    needs: make
    runs-on: ubuntu-latest
    strategy: {fail-fast: false, matrix: {kind: [good, bad]}}
    steps: [{run: 'echo "${{ needs.make.outputs.id }} in $GITHUB_RUN_ATTEMPT"; [ ${{ matrix.kind }} = good ] || [ "$GITHUB_RUN_ATTEMPT" = 2 ]'}]
  last: {needs: test, runs-on: ubuntu-latest, steps: [{run: echo last}]}
`))
	run := until(t, s, 1, "the run ends", finished)
	require.Equal(t, map[string]string{"make": "success", "test (good)": "success", "test (bad)": "failure", "last": "skipped"}, outcome(run))
	require.Contains(t, named(t, run, "test (bad)").Annotations[0].Message, "Process completed with exit code 1.")
	require.NoError(t, s.Runs().RerunFailed(run.ID, "will"))
	run = until(t, s, 1, "the second attempt ends", finished)
	require.Equal(t, map[string]string{"make": "success", "test (good)": "success", "test (bad)": "success", "last": "success"}, outcome(run))
	require.Contains(t, text(s, named(t, run, "test (bad)").ID), "from-1 in 2")
	require.Equal(t, []int{1, 1, 2, 2}, []int{run.Current()[0].Attempt, run.Current()[1].Attempt, run.Current()[2].Attempt, run.Current()[3].Attempt})
}

func TestAReusableWorkflowRunsJobByJob(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.Commit(".github/workflows/shared.yml", `
on:
  workflow_call:
    inputs: {name: {type: string, required: true}, loud: {type: boolean, default: true}}
    outputs: {word: {value: "${{ jobs.say.outputs.word }}"}}
jobs:
  say:
    runs-on: ubuntu-latest
    outputs: {word: "${{ steps.a.outputs.word }}"}
    steps: [{id: a, run: 'echo "word=hello ${{ inputs.name }} ${{ inputs.loud }}" >> "$GITHUB_OUTPUT"'}]
  more: {needs: say, if: inputs.loud, runs-on: ubuntu-latest, steps: [{run: 'echo "more ${{ needs.say.outputs.word }}"'}]}
`))
	require.NoError(t, s.Commit(file, `
on: push
jobs:
  call: {strategy: {matrix: {who: [maya, will]}}, uses: ./.github/workflows/shared.yml, with: {name: "${{ matrix.who }}"}}
  after: {needs: call, runs-on: ubuntu-latest, steps: [{run: 'echo "after ${{ needs.call.outputs.word }} ${{ needs.call.result }}"'}]}
`))
	run := until(t, s, 1, "the run ends", finished)
	require.Equal(t, map[string]string{
		"call (maya) / say": "success", "call (maya) / more": "success", "call (will) / say": "success", "call (will) / more": "success", "after": "success",
	}, outcome(run))
	require.Contains(t, text(s, named(t, run, "call (will) / more").ID), "more hello will true")
	require.Contains(t, text(s, named(t, run, "after").ID), "after hello will true success")
	claims, err := s.Runs().Claims(named(t, run, "call (maya) / say").ID)
	require.NoError(t, err)
	require.Equal(t, "acme/shop/.github/workflows/shared.yml@refs/heads/main", claims["job_workflow_ref"])
}

func TestACheckoutGetsTheRefThatItNames(t *testing.T) {
	s := standIn(t)
	require.NoError(t, s.PushFile(41, "which", "pull request", "will"))
	pr, _ := s.PullRequest(41)
	require.NoError(t, s.Commit("which", "main"))
	require.NoError(t, s.Commit(file, strings.ReplaceAll(`
on: {push: {branches: [main]}}
jobs:
  refs:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - run: echo "of the run $(cat which)"
      - uses: actions/checkout@v5
        with: {ref: "${{ github.sha }}", path: here}
      - run: echo "by name $(cat here/which)"
      - uses: actions/checkout@v5
        with: {ref: HEAD_SHA}
      - run: echo "of another commit $(cat which) $(ls -d here 2>&1)"
  unknown:
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v5, with: {ref: nowhere}}]
  outside:
    runs-on: ubuntu-latest
    steps: [{uses: actions/checkout@v5, with: {ref: main, path: ../..}}]
`, "HEAD_SHA", pr.HeadSHA)))
	run := until(t, s, 1, "the run ends", finished)
	log := text(s, named(t, run, "refs").ID)
	require.Equal(t, map[string]string{"refs": "success", "unknown": "failure", "outside": "failure"}, outcome(run), log)
	require.Contains(t, log, "of the run main\n")
	require.Contains(t, log, "by name main\n")
	require.Contains(t, log, "of another commit pull request ls: cannot access 'here'", "nothing of before is left")
	require.Contains(t, text(s, named(t, run, "unknown").ID), "no public repository acme/shop with the ref nowhere.")
	require.Contains(t, text(s, named(t, run, "outside").ID), "Repository path '../..' is not under")
}

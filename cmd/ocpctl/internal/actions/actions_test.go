package actions_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/actions"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// when does something as soon as the job's log shows the text.
func (j *job) when(text string, do func()) (done func()) {
	made := make(chan struct{})
	go func() {
		defer close(made)
		for !strings.Contains(j.logged(), text) {
			select {
			case <-j.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
		do()
	}()
	return func() { <-made }
}

// live returns the only live cluster.
func (j *job) live() clusters.Row {
	rows, _, err := j.store.List(j.Context(), store.Filter{Live: true})
	require.NoError(j, err)
	require.Len(j, rows, 1)
	return rows[0]
}

// ready makes the only live cluster ready.
func (j *job) ready() {
	row := j.live()
	servicetest.Ready(j, j.store, j.shelf, row)
	_, err := j.store.Pool().Exec(j.Context(), `UPDATE clusters SET row_version = row_version + 1 WHERE id = $1`, row.ID) // whoever watches it is told
	require.NoError(j, err)
}

func TestEveryActionHasTheInputsAndOutputsOfItsFile(t *testing.T) {
	files, err := filepath.Glob("../../../../workflows/*/action.yml")
	require.NoError(t, err)
	require.Len(t, actions.All(), len(files))
	for _, a := range actions.All() {
		raw, err := os.ReadFile(filepath.Join("../../../../workflows", a.Name, "action.yml"))
		require.NoError(t, err)
		var said struct{ Inputs, Outputs yaml.Node }
		require.NoError(t, yaml.Unmarshal(raw, &said))
		names := func(n yaml.Node) (all []string) {
			for i := 0; i < len(n.Content); i += 2 {
				all = append(all, n.Content[i].Value)
			}
			return all
		}
		require.Equal(t, a.Inputs, names(said.Inputs), a.Name)
		require.Equal(t, a.Outputs, names(said.Outputs), a.Name)
		require.Contains(t, string(raw), "run.sh\" "+a.Name+"\n")
	}
	require.Equal(t, len(files), len(actions.Names()))
}

func TestAJobGetsACluster(t *testing.T) {
	j := newJob(t)
	done := j.when("PENDING queued", j.ready)
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "ttl", "4h", "wait", "true", "export-kubeconfig", "true", "env-prefix", "BLUE_",
		"params", "environment: test", "server", j.url), j.logged())
	done()
	kubeconfig := j.outputs["kubeconfig"]
	info, err := os.Stat(kubeconfig)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.Equal(t, kubeconfig, j.env["KUBECONFIG"])
	raw, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	require.NotContains(t, string(raw), servicetest.ClientKey, "the installer's key is nobody's")
	token := regexp.MustCompile(`(?m)^ +token: (ey\S+)$`).FindStringSubmatch(string(raw))
	require.NotNil(t, token, "the job has a token of its own, and no program that asks for one")
	require.Contains(t, j.logged(), "::add-mask::"+token[1]+"\n")

	require.Zero(t, j.step("extend-cluster", "duration", "2h"), j.logged())
	require.Zero(t, j.step("extend-cluster", "duration", "400h"), j.logged())
	require.Zero(t, j.step("wait-cluster", "export-kubeconfig", "false", "wait-timeout", "1m"), j.logged())
	require.Zero(t, j.step("collect-logs", "bundle", "true", "must-gather", "false", "upload", "true"), j.logged())
	require.FileExists(t, filepath.Join(j.outputs["path"], "cluster.json"))
	require.Zero(t, j.step("destroy-cluster"), j.logged())
	j.golden("cluster.txt")
}

func TestOneJobAsksAndAnotherWaits(t *testing.T) {
	j := newJob(t)
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "false"), j.logged())
	id := j.outputs["cluster-id"]
	delete(j.env, "OCPCTL_CLUSTER_ID") // another job has none of the variables
	j.env["GITHUB_JOB"] = "test"
	require.EqualValues(t, exit.Usage, j.step("wait-cluster"), j.logged())
	done := j.when("PENDING queued", j.ready)
	require.Zero(t, j.step("wait-cluster", "cluster", id, "take-turn", "true", "export-kubeconfig", "true"), j.logged())
	done()
	require.Zero(t, j.step("wait-cluster", "cluster", "ocp/"+j.outputs["name"]), "as a deployment names it")
	j.golden("wait.txt")
}

func TestAStepThatIsRepeatedGetsTheSameCluster(t *testing.T) {
	j := newJob(t)
	ask := func(inputs ...string) string {
		require.Zero(t, j.step("create-cluster", append([]string{"profile", "aws-minimal-test", "wait", "false"}, inputs...)...), j.logged())
		return j.outputs["cluster-id"]
	}
	first := ask()
	require.Equal(t, first, ask(), "the same attempt")
	require.EqualValues(t, exit.Conflict, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "false", "ttl", "5h"))
	require.Contains(t, j.logged(), "::error title=ocpctl create-cluster::another create-cluster step with the same slot asked for something else. Give one of them a slot or a name of its own.\n")
	second := ask("slot", "second")
	require.NotEqual(t, first, second, "another slot")
	j.env["OCPCTL_JOB_INDEX"] = "1"
	third := ask()
	require.NotContains(t, []string{first, second}, third, "another place in the matrix")
	j.env["OCPCTL_JOB_INDEX"], j.env["GITHUB_RUN_ATTEMPT"] = "0", "2"
	require.Equal(t, first, ask("reuse", "run"), "a later attempt")
	j.env["GITHUB_RUN_ATTEMPT"] = "3"
	require.NotEqual(t, first, ask(), "a later attempt that wants a new one")
	c, _, err := j.store.Load(j.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "absent", string(c.Desired), "it has replaced the older one")
}

// A caller's matrix gives its jobs to a reusable workflow without their places in it, and a reusable workflow that is called twice has two
// jobs of one name.
func TestTwoJobsDoNotGetOneClusterUnlessTheyReuseIt(t *testing.T) {
	j := newJob(t)
	ask := []string{"profile", "aws-minimal-test", "wait", "false"}
	j.env["OCPCTL_JOB_ID"] = "501"
	require.Zero(t, j.step("create-cluster", ask...), j.logged())
	first := j.outputs["cluster-id"]
	require.Zero(t, j.step("create-cluster", ask...), j.logged())
	require.Equal(t, first, j.outputs["cluster-id"], "the same job")

	j.env["OCPCTL_JOB_ID"] = "502"
	require.NotZero(t, j.step("create-cluster", ask...))
	require.Contains(t, j.logged(), "To get that one, ask with reuse run; for another one, name another slot")
	require.Empty(t, j.outputs["cluster-id"])
	require.Zero(t, j.step("create-cluster", append(ask, "reuse", "run")...), j.logged())
	require.Equal(t, first, j.outputs["cluster-id"], "it asked for that")

	require.Zero(t, j.step("destroy-cluster"), j.logged())
	j.env["OCPCTL_JOB_ID"] = "503"
	require.Zero(t, j.step("create-cluster", append(ask, "reuse", "run", "name", "another", "slot", "e2e/0/")...), j.logged())
	require.NotEqual(t, first, j.outputs["cluster-id"], "what was destroyed is not reused")
}

func TestTheTimeLimitCountsOnceForTheTurnAndTheCluster(t *testing.T) {
	j := newJob(t)
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "false"), j.logged())
	require.EqualValues(t, exit.TimedOut, j.timesOut("wait-cluster", "take-turn", "true"))
	row := j.live()
	shared := people.Share{Kind: "principal", Grantee: row.RequestedBy, Access: people.AccessUse, Role: "edit"}
	require.NoError(t, j.store.People.Share(t.Context(), row.ID, shared, clusters.Origin{Actor: "saml:maya"}), "else another run has no turn on it")
	j.env["GITHUB_RUN_ID"] = "9100200301"
	require.EqualValues(t, exit.TimedOut, j.step("wait-cluster", "take-turn", "true", "wait-timeout", "1s"), j.logged())
	require.Contains(t, j.logged(), "timed out: it is not this run's turn on "+row.Name+" yet: "+j.url+"/clusters/"+row.ID+". Raise wait-timeout.")
	uses, err := j.store.Runs.Uses(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{2, "granted"}, []any{len(uses), string(uses[0].State())})
	j.log.Reset() // the step before said this, too
	done := j.when("Waiting for the turn on the cluster", func() {
		j.passed.Store(int64(2 * time.Hour))
		_, err := j.store.Runs.Release(t.Context(), row.ID, uses[0].ID, clusters.Origin{Actor: "test", Why: "it is done"})
		require.NoError(j, err)
	})
	require.EqualValues(t, exit.TimedOut, j.step("wait-cluster", "take-turn", "true", "wait-timeout", "2h"), j.logged())
	done()
	require.Contains(t, j.logged(), "::group::Waiting until ", "it had the turn")
	require.Contains(t, j.logged(), "/clusters/"+row.ID+". Raise wait-timeout, or wait in another job with wait-cluster")
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	j := newJob(t)
	for i, c := range []struct {
		code   exit.Code
		inputs []string
	}{
		{exit.Usage, []string{"wait", "yes", "reuse", "all", "lifetime", "ever", "wait-timeout", "soon", "env-prefix", "GITHUB_", "export-kubeconfig", "x", "dry-run", "1"}},
		{exit.Usage, []string{"lifetime", "job", "wait", "false"}},
		{exit.Usage, []string{"ttl", "soon"}},
		{exit.Usage, []string{"params", "ttlhours: 3"}},
		{exit.Refused, []string{"profile", "no-such-profile"}},
		{exit.Refused, []string{"profile", "aws-minimal-test", "region", "mars-1", "add-ons", "nothing\nmore"}},
		{exit.Refused, []string{"profile", "aws-minimal-test", "on-ready", "deployment"}},
		{exit.Refused, []string{"profile", "aws-minimal-test", "reuse", "pull-request"}},
		{exit.Refused, []string{"profile", "aws-minimal-test", "dry-run", "true", "region", "mars-1"}},
		{exit.OK, []string{"profile", "aws-minimal-test", "dry-run", "true", "ttl", "90m"}},
	} {
		require.EqualValues(t, c.code, j.step("create-cluster", append(c.inputs, "slot", fmt.Sprint("slot ", i))...), j.logged())
	}
	require.EqualValues(t, exit.Approval, j.timesOut("create-cluster", "profile", "aws-minimal-test", "name", "big-one", "wait", "true"))
	require.EqualValues(t, exit.TimedOut, j.timesOut("create-cluster", "profile", "aws-minimal-test", "wait", "true"))
	delete(j.env, "OCPCTL_SERVER")
	require.EqualValues(t, exit.Usage, j.step("create-cluster", "profile", "aws-minimal-test"))
	require.EqualValues(t, exit.Usage, j.step("extend-cluster"))
	j.golden("refusals.txt")
}

// timesOut runs a step with a limit that passes after it has seen the cluster, however slow the machine is.
func (j *job) timesOut(action string, inputs ...string) (code int) {
	before := j.story.String()
	for limit := 300 * time.Millisecond; ; limit *= 2 {
		code = j.step(action, append(inputs, "wait-timeout", limit.String())...)
		if strings.Contains(j.logged(), "  PENDING ") {
			return code
		}
		j.story.Reset()
		j.story.WriteString(before)
	}
}

func TestAClusterThatFailsIsShown(t *testing.T) {
	j := newJob(t)
	done := j.when("PENDING queued", func() {
		_, err := j.store.Pool().Exec(j.Context(), `UPDATE clusters SET status = 'FAILED', phase = 'create_failed', desired = 'absent', desired_why = '{"code":"other","words":"out of tries"}', teardown = 'DESTROY', fail_reason = 'VPCLimitExceeded',
			fail_message = E'there are 5 of 5 VPCs\n::error::x | <b>', fail_whose = 'quota', fail_next = 'Delete one.', row_version = row_version + 1 WHERE id = $1`, j.live().ID)
		require.NoError(j, err)
	})
	require.EqualValues(t, exit.Failed, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "true"), j.logged())
	done()
	require.NotEmpty(t, j.outputs["cluster-id"], "logs can be collected")
	j.golden("failed.txt")
}

func TestACancelledJobStopsWaiting(t *testing.T) {
	j := newJob(t)
	ctx, cancel := context.WithCancel(t.Context())
	j.canceled = ctx
	done := j.when("PENDING queued", cancel)
	require.EqualValues(t, exit.Interrupted, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "true"))
	done()
	require.NotEmpty(t, j.outputs["cluster-id"], "later steps find the cluster")
	require.Equal(t, "present", string(j.live().Desired), "its run ends it, and not this step")
	j.golden("cancelled.txt")
}

func TestAJobWithoutATokenIsToldWhy(t *testing.T) {
	j := newJob(t)
	delete(j.env, "ACTIONS_ID_TOKEN_REQUEST_URL")
	delete(j.env, "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
	require.EqualValues(t, exit.Denied, j.step("create-cluster", "profile", "aws-minimal-test"))
	j.env["GITHUB_EVENT_PATH"] = write(t, filepath.Join(t.TempDir(), "event.json"), `{"pull_request": {"head": {"repo": {"full_name": "will/shop"}}}}`)
	require.EqualValues(t, exit.Denied, j.step("create-cluster", "profile", "aws-minimal-test"))
	j.golden("token.txt")
}

func TestReleasesThatDoNotFitSayWhichToUpdate(t *testing.T) {
	j := newJob(t)
	j.env["OCPCTL_ACTION_VERSION"] = "v1.3.0"
	require.EqualValues(t, exit.Other, j.step("destroy-cluster"))
	require.Contains(t, j.logged(), "::this action is of release v1.3.0, but ocpctl is v1.2.3. Leave the input version of setup-ocpctl empty, or set it to v1.3.0 or later.\n")
	j.env["OCPCTL_ACTION_VERSION"] = "v1.2.3"
	j.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/.well-known/ocpctl" {
			fmt.Fprint(w, `{"version": "v9.0.0", "oldestClient": "v8.0.0"}`)
		}
		return r.URL.Path == "/.well-known/ocpctl"
	}
	require.EqualValues(t, exit.Other, j.step("destroy-cluster"))
	require.Contains(t, j.logged(), "::this is ocpctl v1.2.3, but the server is v9.0.0 and needs ocpctl v8.0.0 or later. Update ocpctl, or use the actions of another release.\n")
	j.env["OCPCTL_INPUTS"] = ""
	require.EqualValues(t, exit.Usage, j.step("setup-ocpctl", "newer-input", "x"))
	require.Contains(t, j.logged(), "newer-input: This ocpctl does not know this input. Use an ocpctl of the action's release.")
}

func TestOcpctlIsSetUpForLaterSteps(t *testing.T) {
	j := newJob(t)
	program, err := os.Executable()
	require.NoError(t, err)
	require.Zero(t, j.step("setup-ocpctl", "cache", "false", "version", "v1.2.3"), j.logged())
	require.Equal(t, map[string]string{"version": "v1.2.3", "path": program}, j.outputs)
	path, err := os.ReadFile(j.env["GITHUB_PATH"])
	require.NoError(t, err)
	require.Equal(t, filepath.Dir(program)+"\n", string(path))
	require.Equal(t, program, j.env["OCPCTL_PROGRAM"])
	delete(j.env, "OCPCTL_SERVER")
	require.Zero(t, j.step("setup-ocpctl"), "a later step may name the server")
	require.Zero(t, j.step("setup-ocpctl", "server", j.url), j.logged())
	require.Equal(t, j.url, j.env["OCPCTL_SERVER"])
}

func TestWhereThereIsNothingToDestroyNothingFails(t *testing.T) {
	j := newJob(t)
	require.Zero(t, j.step("destroy-cluster"))
	require.Contains(t, j.logged(), "::notice title=ocpctl destroy-cluster::There is nothing to destroy: no create-cluster step of this job got a cluster.\n")
	require.Zero(t, j.step("destroy-cluster", "cluster", "clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT", "wait", "true"))
	require.Contains(t, j.logged(), "There is nothing to destroy: clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT does not exist.\n")
}

func TestAStepWaitsUntilItsKubeconfigIsMade(t *testing.T) {
	j := newJob(t)
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "false"), j.logged())
	j.ready()
	asked := 0
	j.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/kubeconfig") {
			return false
		}
		if asked++; asked > 2 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"accessId":"acc_1","reader":"x","readerName":"X","role":"admin","state":"asked","by":"role","user":"u","askedAt":"2026-03-01T10:40:00Z"}`)
		return true
	}
	require.Zero(t, j.step("wait-cluster"), j.logged())
	require.Equal(t, 3, asked)
	require.FileExists(t, j.outputs["kubeconfig"])
	require.Contains(t, j.logged(), "::add-mask::ey")
}

func TestAKubeconfigThatIsNoneIsNotWritten(t *testing.T) {
	j := newJob(t)
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "false"), j.logged())
	j.ready()
	j.before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/kubeconfig") {
			standtest.Kubeconfig("users: [{name: x, user: &a {token: *a}}]\n")(w, r)
			return true
		}
		return false
	}
	require.EqualValues(t, exit.Other, j.step("wait-cluster"))
	require.Contains(t, j.logged(), "a user is described with a YAML alias")
	written, err := filepath.Glob(filepath.Join(j.env["RUNNER_TEMP"], "ocpctl", "*", "kubeconfig"))
	require.NoError(t, err)
	require.Empty(t, written)
}

func TestMustGatherIsRunWithTheJobsOwnAccess(t *testing.T) {
	j := newJob(t)
	t.Setenv("PATH", t.TempDir())
	require.Zero(t, j.step("create-cluster", "profile", "aws-minimal-test", "wait", "false"), j.logged())
	require.Zero(t, j.step("collect-logs", "must-gather", "true"))
	require.Contains(t, j.logged(), "must-gather cannot be collected: the cluster is pending, and does not answer.")
	j.ready()
	require.Zero(t, j.step("collect-logs", "must-gather", "true"))
	require.Contains(t, j.logged(), "must-gather cannot be collected: oc is not on the PATH. Install it in a step before")

	oc := filepath.Join(os.Getenv("PATH"), "oc")
	require.NoError(t, os.WriteFile(oc, []byte("#!/bin/sh\n"), 0o755))
	var ran []string
	j.exec = func(cmd *exec.Cmd) error {
		ran = slices.Concat([]string{cmd.Path}, cmd.Args[1:])
		_, err := fmt.Fprintln(cmd.Stdout, "::error::the cluster's own words")
		return err
	}
	require.Zero(t, j.step("collect-logs", "must-gather", "true"), j.logged())
	require.Equal(t, []string{oc, "adm", "must-gather", "--kubeconfig=" + filepath.Join(filepath.Dir(j.outputs["path"]), "kubeconfig"), "--dest-dir=" + filepath.Join(j.outputs["path"], "must-gather")}, ran)
	require.Contains(t, j.logged(), "\n: :error::the cluster's own words\n")
	require.NotContains(t, j.logged(), "::warning")
}

func TestANameCannotBecomeACommand(t *testing.T) {
	j := newJob(t)
	for _, name := range []string{"x\n::add-mask::e", "::error::x", "##[error]x", "x\nname<<E", "--dry-run"} {
		require.NotZero(t, j.step("create-cluster", "name", name, "profile", name, "wait", "false"))
		require.NotContains(t, j.logged(), "\n::add-mask::")
		for line := range strings.Lines(j.logged()) {
			require.True(t, strings.HasPrefix(line, "::error title=") || !strings.Contains(line, "##["), line)
		}
		require.Empty(t, j.outputs)
	}
}

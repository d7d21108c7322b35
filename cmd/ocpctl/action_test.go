package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/standtest"
	"github.com/ocpctl/ocpctl/devstack/release"
)

const (
	workflows = "../../workflows"
	jobToken  = "the-job's-own"
	config    = "apiVersion: v1\nkind: Config\nusers: [{name: admin, user: {token: a-token-of-the-cluster}}]\n"
)

// machine is a runner on this machine, with a mirror of ocpctl's releases and a server.
type machine struct {
	testing.TB
	*standtest.Server
	mirror  string // folder with the releases
	version string // of the actions
	archive string
	actions string // folder of the actions
	env     map[string]string
	fetched atomic.Int64
}

func newMachine(t testing.TB) *machine {
	m := &machine{TB: t, Server: standtest.New(t), mirror: t.TempDir(), actions: workflows}
	var err error
	m.version, err = release.Version("../..")
	require.NoError(t, err)
	m.archive, err = release.Write(m.mirror, m.version, program(t, "ocpctl"))
	require.NoError(t, err)
	files := http.FileServer(http.Dir(m.mirror))
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.fetched.Add(1)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(mirror.Close)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+jobToken {
			fmt.Fprintf(w, `{"value": %q}`, standtest.Token)
		}
	}))
	t.Cleanup(tokens.Close)
	m.Handle("getKubeconfig", standtest.Kubeconfig(config))
	m.watched(m.Body("getCluster"))
	dir := t.TempDir()
	m.env = map[string]string{
		"HOME": dir, "PATH": os.Getenv("PATH"), "RUNNER_TEMP": filepath.Join(dir, "temp"), "RUNNER_TOOL_CACHE": filepath.Join(dir, "tools"), "RUNNER_OS": "Linux",
		"RUNNER_ARCH": map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH], "OCPCTL_DOWNLOAD_URL": mirror.URL, "OCPCTL_SERVER": m.URL, "CI": "true",
		"ACTIONS_ID_TOKEN_REQUEST_URL": tokens.URL + "/token?api-version=2.0", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": jobToken, "GITHUB_ACTIONS": "true",
		"GITHUB_REPOSITORY": "acme/shop", "GITHUB_RUN_ID": "1", "GITHUB_RUN_NUMBER": "1", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "e2e",
		"OCPCTL_INPUTS": `{"profile": "aws-minimal-test", "wait": "true"}`,
	}
	require.NoError(t, os.MkdirAll(m.env["RUNNER_TEMP"], 0o755))
	for _, file := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		m.env[file] = filepath.Join(dir, file)
	}
	return m
}

// watched has the stream show a cluster.
func (m *machine) watched(cluster []byte) {
	var one bytes.Buffer
	require.NoError(m, json.Compact(&one, cluster))
	m.Handle("watchClusters", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "event: cluster\ndata: %s\n\n", one.Bytes())
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
}

// step is the process that the runner starts for a step.
func (m *machine) step(ctx context.Context, action string, env ...string) (cmd *exec.Cmd, log *said) {
	cmd, log = exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c",
		`exec bash "$GITHUB_ACTION_PATH/../setup-ocpctl/run.sh" `+action), &said{}
	cmd.Stdout, cmd.Stderr = log, log
	for name, value := range m.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(append(cmd.Env, "GITHUB_ACTION_PATH="+filepath.Join(m.actions, action)), env...)
	return cmd, log
}

// run runs a step to its end.
func (m *machine) run(action string, env ...string) (code int, log string) {
	cmd, out := m.step(context.Background(), action, env...)
	return codeOf(cmd.Run()), out.String()
}

func TestAStepDownloadsOcpctlOnce(t *testing.T) {
	m := newMachine(t)
	for range 2 {
		code, log := m.run("create-cluster")
		require.Zero(t, code, log)
		require.Contains(t, log, "::add-mask::a-token-of-the-cluster\n")
	}
	require.EqualValues(t, 2, m.fetched.Load(), "the archive and its checksum")
	tools, err := filepath.Glob(filepath.Join(m.env["RUNNER_TOOL_CACHE"], "ocpctl", m.version, "*"))
	require.NoError(t, err)
	require.Len(t, tools, 3, "the program, the mark that it is complete, and an empty folder of downloads: %v", tools)
	left, err := os.ReadDir(filepath.Join(m.env["RUNNER_TOOL_CACHE"], "ocpctl", m.version, "download"))
	require.NoError(t, err)
	require.Empty(t, left)

	m.env["OCPCTL_KEEP_ARCHIVE"] = "true" // the action's input cache
	require.NoError(t, os.RemoveAll(m.env["RUNNER_TOOL_CACHE"]))
	code, log := m.run("setup-ocpctl", `OCPCTL_INPUTS={"cache": "true"}`)
	require.Zero(t, code, log)
	require.FileExists(t, filepath.Join(m.env["RUNNER_TOOL_CACHE"], "ocpctl", m.version, "download", filepath.Base(m.archive)))
	require.NoError(t, os.RemoveAll(filepath.Join(m.env["RUNNER_TOOL_CACHE"], "ocpctl", m.version, map[string]string{"X64": "amd64", "ARM64": "arm64"}[m.env["RUNNER_ARCH"]]+".complete")))
	m.fetched.Store(0)
	code, log = m.run("setup-ocpctl", `OCPCTL_INPUTS={"cache": "true"}`)
	require.Zero(t, code, log)
	require.EqualValues(t, 1, m.fetched.Load(), "what the cache restored is verified again")
}

// pin gives the machine actions that have the checksums of the release, as the commit after a release has them.
func (m *machine) pin() {
	m.actions = m.TempDir()
	require.NoError(m, os.CopyFS(m.actions, os.DirFS(workflows)))
	sum := func(path string) string {
		raw, err := os.ReadFile(path)
		require.NoError(m, err)
		return fmt.Sprintf("%x", sha256.Sum256(raw))
	}
	name := strings.TrimSuffix(filepath.Base(m.archive), ".tar.gz")
	text := fmt.Sprintf("# comment\r\n%s  %s.tar.gz\r\n%s  %s/ocpctl\r\n", sum(m.archive), name, sum(program(m, "ocpctl")), name)
	require.NoError(m, os.WriteFile(filepath.Join(m.actions, "checksums"), []byte(text), 0o644))
}

// installed is the program in the tool cache.
func (m *machine) installed() string {
	return filepath.Join(m.env["RUNNER_TOOL_CACHE"], "ocpctl", m.version, map[string]string{"X64": "amd64", "ARM64": "arm64"}[m.env["RUNNER_ARCH"]], "ocpctl")
}

func TestActionsOfACommitRunTheProgramOfTheirChecksums(t *testing.T) {
	m := newMachine(t)
	m.pin()
	code, log := m.run("setup-ocpctl", "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.EqualValues(t, 1, m.fetched.Load(), "the mirror is not asked for a checksum")

	const hostile = "#!/bin/sh\necho owned\n"
	require.NoError(t, os.WriteFile(m.installed(), []byte(hostile), 0o755))
	code, log = m.run("setup-ocpctl", "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.NotContains(t, log, "owned", "a program in the tool cache is verified")
	require.EqualValues(t, 2, m.fetched.Load(), "it is downloaded again")

	other := filepath.Join(t.TempDir(), "ocpctl")
	require.NoError(t, os.WriteFile(other, []byte(hostile), 0o755))
	require.NoError(t, os.RemoveAll(m.env["RUNNER_TOOL_CACHE"]))
	whole, err := os.ReadFile(m.archive)
	require.NoError(t, err)
	_, err = release.Write(m.mirror, m.version, other) // with SHA256SUMS that fit
	require.NoError(t, err)
	code, log = m.run("setup-ocpctl", "OCPCTL_INPUTS={}")
	require.Equal(t, 1, code, log)
	require.NotContains(t, log, "owned")
	require.Contains(t, log, "The checksum of "+filepath.Base(m.archive)+" is not the one of these actions.")

	require.NoError(t, os.WriteFile(m.archive, whole, 0o644))
	sums, err := os.ReadFile(filepath.Join(m.actions, "checksums"))
	require.NoError(t, err)
	sums = regexp.MustCompile(`(?m)^[0-9a-f]{64}(  \S+/ocpctl)`).ReplaceAll(sums, []byte(strings.Repeat("0", 64)+"$1"))
	require.NoError(t, os.WriteFile(filepath.Join(m.actions, "checksums"), sums, 0o644))
	code, log = m.run("setup-ocpctl", "OCPCTL_INPUTS={}")
	require.Equal(t, 1, code, log)
	require.Contains(t, log, "is not the one whose checksum these actions have")
}

func TestAProgramThatChangedInTheToolCacheIsNotRun(t *testing.T) {
	m := newMachine(t)
	code, log := m.run("setup-ocpctl", "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.Contains(t, log, "These actions have no checksum of ocpctl "+m.version+".")
	require.NoError(t, os.WriteFile(m.installed(), []byte("#!/bin/sh\necho owned\n"), 0o755))
	code, log = m.run("setup-ocpctl", "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.NotContains(t, log, "owned")
}

func TestTheToolCacheMayHaveAPathAsOnWindows(t *testing.T) {
	m := newMachine(t)
	folder, err := filepath.Abs(filepath.Join(workflows, "setup-ocpctl"))
	require.NoError(t, err)
	cmd, log := m.step(t.Context(), "setup-ocpctl", `RUNNER_TOOL_CACHE=C:\hosted\tools`, "OCPCTL_INPUTS={}", "GITHUB_ACTION_PATH="+folder)
	cmd.Dir = t.TempDir()
	require.Zero(t, codeOf(cmd.Run()), log.String())
	require.FileExists(t, filepath.Join(cmd.Dir, `C:\hosted\tools`, "ocpctl", m.version, map[string]string{"X64": "amd64", "ARM64": "arm64"}[m.env["RUNNER_ARCH"]], "ocpctl"))
}

func TestJobsThatShareAToolCacheInstallAtOnce(t *testing.T) {
	m := newMachine(t)
	var steps []*exec.Cmd
	var logs []*said
	for i := range 4 {
		cmd, log := m.step(t.Context(), "setup-ocpctl", "OCPCTL_INPUTS={}", "GITHUB_ENV="+filepath.Join(t.TempDir(), fmt.Sprint(i)))
		require.NoError(t, cmd.Start())
		steps, logs = append(steps, cmd), append(logs, log)
	}
	for i, cmd := range steps {
		require.Zero(t, codeOf(cmd.Wait()), logs[i].String())
		require.Contains(t, logs[i].String(), " is ready for the next steps.")
	}
	left, err := filepath.Glob(filepath.Join(m.env["RUNNER_TOOL_CACHE"], "ocpctl", m.version, ".work.*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWhatCannotBeSetUpSaysWhy(t *testing.T) {
	m := newMachine(t)
	for _, c := range []struct{ env, says string }{
		{"OCPCTL_VERSION=v1.2.3\n::error::x", "The input version is not a release of ocpctl."},
		{"OCPCTL_VERSION=latest", `Give one such as v1.2.3, or "installed".`},
		{"OCPCTL_VERSION=v9.9.9", "SHA256SUMS of ocpctl v9.9.9 cannot be downloaded. Check that the release exists"},
		{"OCPCTL_VERSION=installed", "ocpctl is not on the PATH. Install it on the runner, or leave the input version empty."},
		{"RUNNER_OS=Plan9", "There is no ocpctl for the operating system of this runner."},
		{"RUNNER_ARCH=ARM", "There is no ocpctl for the processor of this runner."},
		{"OCPCTL_DOWNLOAD_URL=http://mirror.example.com", "cannot be downloaded"}, // not without TLS
	} {
		code, log := m.run("create-cluster", c.env)
		require.Equal(t, 1, code, log)
		require.Contains(t, log, "::error title=ocpctl::")
		require.Contains(t, log, c.says)
		require.Equal(t, 1, strings.Count(log, "\n::error")+strings.Count(log[:min(8, len(log))], "::error"), log)
	}
	require.NoError(t, os.WriteFile(m.archive, []byte("another file"), 0o644))
	code, log := m.run("create-cluster")
	require.Equal(t, 1, code)
	require.Contains(t, log, "The checksum of "+filepath.Base(m.archive)+" is not the one in SHA256SUMS of the release.")
	require.NoError(t, os.WriteFile(filepath.Join(m.mirror, m.version, "SHA256SUMS"), nil, 0o644))
	code, log = m.run("create-cluster")
	require.Equal(t, 1, code)
	require.Contains(t, log, "is not the one in SHA256SUMS", "a release without a checksum")
	require.Empty(t, m.Asked(), "nothing was run")
}

func TestAGivenProgramIsUsedUnlessAReleaseIsChosen(t *testing.T) {
	m := newMachine(t)
	code, log := m.run("setup-ocpctl", "OCPCTL_PROGRAM="+program(t, "ocpctl"), "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.Zero(t, m.fetched.Load())
	code, log = m.run("setup-ocpctl", "PATH="+filepath.Dir(program(t, "ocpctl"))+":"+os.Getenv("PATH"), "OCPCTL_VERSION=installed", "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.Zero(t, m.fetched.Load())
	code, log = m.run("setup-ocpctl", "OCPCTL_PROGRAM=/nowhere", "OCPCTL_VERSION="+m.version, "OCPCTL_INPUTS={}")
	require.Zero(t, code, log)
	require.EqualValues(t, 2, m.fetched.Load())
}

// The runner sends a step's process SIGINT, and later SIGTERM. The process must be ocpctl by then, and not a shell that waits for it.
func TestACancelledStepEndsAtOnce(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		m := newMachine(t)
		var cluster map[string]any
		require.NoError(t, json.Unmarshal(m.Body("getCluster"), &cluster))
		cluster["status"], cluster["phase"] = "CREATING", "installing"
		raw, err := json.Marshal(cluster)
		require.NoError(t, err)
		m.watched(raw)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		t.Cleanup(cancel)
		cmd, log := m.step(ctx, "create-cluster")
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return strings.Contains(log.String(), "CREATING installing") }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		require.Equal(t, 130, codeOf(cmd.Wait()), log.String())
		require.Contains(t, log.String(), "::notice title=ocpctl create-cluster::Cancelled. What was asked for continues on the server")
		outputs, err := os.ReadFile(m.env["GITHUB_OUTPUT"])
		require.NoError(t, err)
		require.Contains(t, string(outputs), "cluster-id<<")
	}
}

// Whatever happens to the process, later steps of the job find the cluster; it belongs to the run, and the server ends it with that.
func TestLaterStepsFindTheClusterOfAStepThatWasKilled(t *testing.T) {
	m := newMachine(t)
	var cluster map[string]any
	require.NoError(t, json.Unmarshal(m.Body("getCluster"), &cluster))
	cluster["status"], cluster["phase"] = "CREATING", "installing"
	raw, err := json.Marshal(cluster)
	require.NoError(t, err)
	m.watched(raw)
	cmd, log := m.step(t.Context(), "create-cluster")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "CREATING installing") }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Equal(t, -1, codeOf(cmd.Wait()), "the process is ocpctl, and it is gone")
	exported, err := os.ReadFile(m.env["GITHUB_ENV"])
	require.NoError(t, err)
	found := regexp.MustCompile(`OCPCTL_CLUSTER_ID<<ocpctl_\w+\n(\S+)\n`).FindStringSubmatch(string(exported))
	require.NotNil(t, found, string(exported))
	m.Asked() // forget it
	code, said := m.run("destroy-cluster", "OCPCTL_INPUTS={}", "OCPCTL_CLUSTER_ID="+found[1])
	require.Zero(t, code, said)
	var deleted []string
	for _, asked := range m.Asked() {
		if asked.Operation == "destroyCluster" {
			deleted = append(deleted, asked.Path)
		}
	}
	require.Equal(t, []string{"/api/v1/clusters/" + found[1] + "/destroy"}, deleted)
}

// BenchmarkCreateCluster is what the action adds to the time that the cluster takes: the server has it ready at once.
func BenchmarkCreateCluster(b *testing.B) {
	m := newMachine(b)
	for _, c := range []struct {
		name string
		cold bool
	}{{"cold", true}, {"cached", false}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if c.cold {
					b.StopTimer()
					require.NoError(b, os.RemoveAll(m.env["RUNNER_TOOL_CACHE"]))
					b.StartTimer()
				}
				code, log := m.run("create-cluster")
				require.Zero(b, code, log)
			}
		})
	}
}

package dispatch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// politeRunner is a runner that says it started, ends on SIGTERM and leaves nothing behind.
const politeRunner = `#!/bin/sh
echo started "$@"
trap 'echo asked; exit 0' TERM
while :; do sleep 0.01; done
`

// newDispatcher writes a script that plays the runner.
func newDispatcher(t *testing.T, script string, env ...string) (*Process, Config) {
	t.Helper()
	runner := filepath.Join(t.TempDir(), "ocpctl-runner")
	require.NoError(t, os.WriteFile(runner, []byte(script), 0o700))
	cfg := Config{
		Runner: runner, Installers: t.TempDir(), WorkDir: filepath.Join(t.TempDir(), "attempts"),
		StatusURL: "http://127.0.0.1:1", Env: append(env, "PATH="+os.Getenv("PATH")),
	}
	p, err := NewProcess(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { killAll(t, cfg.WorkDir) })
	return p, cfg
}

// killAll ends every process a test started, whatever became of the test.
func killAll(t *testing.T, workDir string) {
	entries, err := os.ReadDir(workDir)
	require.NoError(t, err)
	for _, entry := range entries {
		found, err := findMarked(entry.Name())
		require.NoError(t, err)
		for _, id := range found {
			require.NoError(t, id.kill())
		}
	}
}

func job(attempt string) Job {
	return Job{Attempt: attempt, Cluster: "clu_1", Number: 1, Kind: "create", Token: "the-token"}
}

// attemptID is unique on the machine: processes are looked for by it.
func attemptID(t *testing.T) string {
	return fmt.Sprintf("att_%d_%d", os.Getpid(), time.Now().UnixNano())
}

func requireSeen(t *testing.T, p *Process, attempt string, want Sighting) {
	t.Helper()
	require.Eventually(t, func() bool {
		seen, err := p.Observe(t.Context(), attempt)
		require.NoError(t, err)
		return seen.Sighting == want
	}, 10*time.Second, 5*time.Millisecond)
}

func readLog(t *testing.T, cfg Config, attempt string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(cfg.WorkDir, attempt, logFile))
	require.NoError(t, err)
	return string(raw)
}

func requireLogged(t *testing.T, cfg Config, attempt, want string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(readLog(t, cfg, attempt), want) }, 10*time.Second, 5*time.Millisecond)
}

func TestAStartAskedForManyTimesStartsOnce(t *testing.T) {
	p, cfg := newDispatcher(t, politeRunner)
	id := attemptID(t)
	requireSeen(t, p, id, NotStarted)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { require.NoError(t, p.Start(t.Context(), job(id))) })
	}
	all.Wait()
	requireLogged(t, cfg, id, "started")
	found, err := findMarked(id)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	require.Equal(t, 1, strings.Count(readLog(t, cfg, id), "started"))
	require.Contains(t, readLog(t, cfg, id), "--attempt "+id)

	require.NoError(t, p.Stop(t.Context(), id))
	requireSeen(t, p, id, Ended)
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireSeen(t, p, id, Ended)
	require.Equal(t, 1, strings.Count(readLog(t, cfg, id), "started"), "an ended attempt is never started again")
}

func TestARunnerThatEndedUnseenIsNoZombie(t *testing.T) {
	p, cfg := newDispatcher(t, "#!/bin/sh\necho bye\n")
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	was, err := loadIdentity(filepath.Join(cfg.WorkDir, id, processFile))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := readStat(was.PID)
		return err != nil || now.start != was.Start
	}, 10*time.Second, 5*time.Millisecond)
}

func TestTheTokenIsForItsOwnerAlone(t *testing.T) {
	p, cfg := newDispatcher(t, politeRunner)
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	path := filepath.Join(cfg.WorkDir, id, tokenFile)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "the-token", string(raw))
}

func TestARunnerIsFoundAgainByAnotherDispatcherAndStoppedOnce(t *testing.T) {
	p, cfg := newDispatcher(t, `#!/bin/sh
trap 'echo asked' TERM
echo started
while [ ! -e "$0.end" ]; do sleep 0.01; done
`)
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireLogged(t, cfg, id, "started")
	again, err := NewProcess(cfg)
	require.NoError(t, err)
	requireSeen(t, again, id, Running)
	for range 3 {
		require.NoError(t, again.Stop(t.Context(), id))
	}
	requireLogged(t, cfg, id, "asked")
	requireSeen(t, again, id, Running)
	require.ErrorContains(t, again.Forget(t.Context(), id), "not seen to end")
	require.NoError(t, os.WriteFile(cfg.Runner+".end", nil, 0o600))
	requireSeen(t, again, id, Ended)
	require.Equal(t, 1, strings.Count(readLog(t, cfg, id), "asked"))
	require.NoError(t, again.Forget(t.Context(), id))
	require.NoDirExists(t, filepath.Join(cfg.WorkDir, id))
}

func TestARunnerStandsInItsOwnSessionAndSeesOnlyWhatItMay(t *testing.T) {
	p, cfg := newDispatcher(t, "#!/bin/sh\nenv\necho sid=$(cut -d' ' -f6 /proc/$$/stat)\necho pid=$$\n",
		"AWS_REGION=us-east-1", "OCPCTL_STANDIN_PACE=1ms", "DATABASE_URL=postgres://secret", "GITHUB_WEBHOOK_SECRET=secret")
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireSeen(t, p, id, Ended)
	log := readLog(t, cfg, id)
	require.Contains(t, log, "AWS_REGION=us-east-1")
	require.Contains(t, log, "OCPCTL_STANDIN_PACE=1ms")
	require.NotContains(t, log, "secret")
	_, pid, _ := strings.Cut(strings.TrimSpace(log), "pid=")
	require.Contains(t, log, "sid="+pid, "the runner leads a session")
}

func TestAPidThatCameBackIsNotTheRunner(t *testing.T) {
	p, cfg := newDispatcher(t, politeRunner)
	for name, change := range map[string]func(*identity){
		"another start time": func(id *identity) { id.Start += "1" },
		"another boot":       func(id *identity) { id.Boot = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			id := attemptID(t)
			dir := filepath.Join(cfg.WorkDir, id)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, startedFile), nil, 0o600))
			me, err := identifyProcess(os.Getpid()) // a stranger that must survive
			require.NoError(t, err)
			change(&me)
			require.NoError(t, me.saveTo(filepath.Join(dir, processFile)))
			seen, err := p.Observe(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, Ended, seen.Sighting)
			require.NoError(t, p.Stop(t.Context(), id))
		})
	}
}

func TestAStartThatWasNotWrittenDownIsFoundByItsMark(t *testing.T) {
	p, cfg := newDispatcher(t, politeRunner)
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	dir := filepath.Join(cfg.WorkDir, id)
	raw, err := os.ReadFile(filepath.Join(dir, processFile))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, processFile))) // as if the server was killed just before
	requireLogged(t, cfg, id, "started")
	requireSeen(t, p, id, Running)

	var runner identity
	require.NoError(t, json.Unmarshal(raw, &runner))
	require.NoError(t, runner.kill())
	requireSeen(t, p, id, Unknown) // a start may be under way this very moment
	late := cfg
	late.Now = func() time.Time { return time.Now().Add(time.Minute) }
	later, err := NewProcess(late)
	require.NoError(t, err)
	requireSeen(t, later, id, Ended)
}

func TestAKilledRunnersInstallerIsNotLeftAlive(t *testing.T) {
	p, cfg := newDispatcher(t, "#!/bin/sh\nsetsid sleep 1000 &\necho started\nwait\n")
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireLogged(t, cfg, id, "started")
	require.Eventually(t, func() bool { found, err := findMarked(id); return err == nil && len(found) == 2 }, 10*time.Second, 5*time.Millisecond)
	runner, err := loadIdentity(filepath.Join(cfg.WorkDir, id, processFile))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(runner.PID, syscall.SIGKILL))
	requireSeen(t, p, id, Ended)
	found, err := findMarked(id)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestAnIdentityInPiecesIsNoRunnerThatCanNeverBeForgotten(t *testing.T) {
	_, cfg := newDispatcher(t, politeRunner)
	id := attemptID(t)
	dir := filepath.Join(cfg.WorkDir, id)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range []string{startedFile, processFile} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600)) // as a power cut leaves them
	}
	cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
	later, err := NewProcess(cfg)
	require.NoError(t, err)
	requireSeen(t, later, id, Ended)
	require.NoError(t, later.Stop(t.Context(), id))
	require.NoError(t, later.Forget(t.Context(), id))
	require.NoDirExists(t, dir)
}

func TestAKilledRunnerLeavesNoSecretBehind(t *testing.T) {
	p, cfg := newDispatcher(t, "#!/bin/sh\ncd work && mkdir install-1 && echo secret >install-1/install-config.yaml && echo words >attempt.log\necho started\nsleep 1000\n")
	id := attemptID(t)
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireLogged(t, cfg, id, "started")
	dir := filepath.Join(cfg.WorkDir, id)
	requireSeen(t, p, id, Running)
	require.FileExists(t, filepath.Join(dir, workFolder, "install-1", "install-config.yaml"), "a living runner keeps what it works on")

	require.NoError(t, p.Kill(t.Context(), id))
	requireSeen(t, p, id, Ended)
	require.NoDirExists(t, filepath.Join(dir, workFolder, "install-1"))
	require.NoFileExists(t, filepath.Join(dir, tokenFile))
	require.FileExists(t, filepath.Join(dir, workFolder, runnersLog))
	require.FileExists(t, filepath.Join(dir, logFile))
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireSeen(t, p, id, Ended)
}

func TestAKillReachesWhateverTheRunnerStarted(t *testing.T) {
	p, cfg := newDispatcher(t, "#!/bin/sh\nsetsid sleep 1000 &\ntrap '' TERM\necho started\nwait\n")
	id := attemptID(t)
	require.NoError(t, p.Kill(t.Context(), id), "no runner is no error")
	require.NoError(t, p.Start(t.Context(), job(id)))
	requireLogged(t, cfg, id, "started")
	require.Eventually(t, func() bool { found, err := findMarked(id); return err == nil && len(found) == 2 }, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, p.Kill(t.Context(), id))
	requireSeen(t, p, id, Ended)
	found, err := findMarked(id)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestARunnerThatCannotBeStartedIsAnErrorAndThenEnded(t *testing.T) {
	p, cfg := newDispatcher(t, politeRunner)
	require.NoError(t, os.Remove(cfg.Runner))
	id := attemptID(t)
	require.ErrorContains(t, p.Start(t.Context(), job(id)), "start attempt")
	late := cfg
	late.Now = func() time.Time { return time.Now().Add(time.Minute) }
	later, err := NewProcess(late)
	require.NoError(t, err)
	requireSeen(t, later, id, Ended)
	require.NoError(t, later.Stop(t.Context(), id))
}

func TestAnIdThatReachesOutsideIsRefused(t *testing.T) {
	p, _ := newDispatcher(t, politeRunner)
	for _, bad := range []string{"", "..", "../x", "a/b", ".hidden"} {
		require.Error(t, p.Start(t.Context(), job(bad)))
		_, err := p.Observe(t.Context(), bad)
		require.Error(t, err)
	}
}

// A process that starts another program again and again has no environment for a moment each time, and is found nevertheless.
func TestAProcessThatStartsAnotherProgramIsFound(t *testing.T) {
	id := attemptID(t)
	cmd := exec.Command("/bin/sh", "-c", `exec /bin/sh -c "$0" "$0"`, `exec /bin/sh -c "$0" "$0"`)
	cmd.Env = []string{attemptVariable + "=" + id}
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}()
	for range 30 {
		found, err := findMarked(id)
		require.NoError(t, err)
		require.Len(t, found, 1)
	}
}

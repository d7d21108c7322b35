// Package installer finds openshift-install, ccoctl and oc of a version, runs them as child processes and converts their output into
// redacted lines.
//
// It must never pass on a line that was not redacted, leave a process behind, give the programs a terminal to ask questions on, or
// pass them a secret as an argument or, if it can be a file, in the environment.
package installer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// readPatience is how long to wait for output after the whole session has ended.
const readPatience = 5 * time.Second

// Tool is one program (openshift-install, ccoctl or oc) and where it may write.
type Tool struct {
	Binary   string            // absolute path
	Home     string            // becomes HOME; caches and temporary files go below it
	Env      []string          // KEY=value pairs of the runner; only what the program needs is passed on
	Cloud    map[string]string // the cloud's variables, with credentials
	Redact   *Redactor         // what must not be seen
	StopWait time.Duration     // between SIGTERM and killing the whole session; the installer needs up to 60 s
}

// fileName is the program's name.
func (t *Tool) fileName() string { return filepath.Base(t.Binary) }

// Command is one run.
type Command struct {
	Args     []string
	Dir      string            // the working directory; empty: Home
	Deadline time.Duration     // terminate gracefully after this time; zero: no limit
	Input    []byte            // standard input; nil: none
	OnLine   func(line string) // called with each redacted line of output, one at a time; nil: not called
	Secret   *SecretOutput     // takes the standard output of a command that prints a secret, which is then no line; nil: it prints none
}

// SecretOutput is the standard output of a command that prints a secret. Its zero value is empty.
type SecretOutput struct{ raw []byte }

// mostSecret limits what is kept: a token has a few thousand bytes, and a list of certificate requests some hundred thousand.
const mostSecret = 4 << 20

// Write keeps what a command prints, up to the limit.
func (s *SecretOutput) Write(p []byte) (int, error) {
	if len(s.raw)+len(p) > mostSecret {
		return 0, fmt.Errorf("the output is longer than %d bytes", mostSecret)
	}
	s.raw = append(s.raw, p...)
	return len(p), nil
}

// Text returns the secret without the space around it.
func (s *SecretOutput) Text() secret.Text { return secret.New(strings.TrimSpace(string(s.raw))) }

// Exit is how a run ended.
type Exit struct {
	Code     int // -1: ended by a signal
	At       time.Time
	Stopped  bool // we asked it to stop
	TimedOut bool // … because of the deadline
}

// Run runs the program until it ends. A context that ends, or the deadline, stops it gracefully: one SIGTERM to the program itself,
// which ends its own children, and after StopWait SIGKILL to the rest of its session. Run returns only when no process of the session
// is alive. An error means that it was never started.
func (t *Tool) Run(ctx context.Context, c Command) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", t.fileName(), context.Cause(ctx))
	}
	env, err := t.readEnvironment()
	if err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", t.fileName(), err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", t.fileName(), err)
	}
	defer read.Close()
	cmd := exec.Command(t.Binary, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = env, cmp.Or(c.Dir, t.Home), write, write, processGroup() // Stdin nil: /dev/null
	if c.Secret != nil {
		cmd.Stdout = c.Secret
	}
	if c.Input != nil {
		cmd.Stdin = bytes.NewReader(c.Input)
	}
	started, ended := make(chan error, 1), make(chan struct{})
	var owned sync.WaitGroup
	owned.Go(func() { defer close(ended); runOnOneThread(cmd, started) })
	err = <-started
	write.Close()
	if err != nil {
		owned.Wait()
		return Exit{}, fmt.Errorf("run %s: %w", t.fileName(), err)
	}
	owned.Go(func() { t.streamLines(read, c.OnLine) })
	exit := t.awaitExit(ctx, cmd, c.Deadline, ended)
	endAll(cmd.Process.Pid) // a crashed installer leaves its controllers running
	_ = read.SetReadDeadline(time.Now().Add(readPatience))
	owned.Wait()
	return exit, nil
}

// runOnOneThread starts and awaits the child on one thread: the kernel kills the child when the thread that created it ends, which
// must mean that the runner itself is gone.
func runOnOneThread(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait() // the exit code is read from ProcessState
	}
}

func (t *Tool) awaitExit(ctx context.Context, cmd *exec.Cmd, deadline time.Duration, ended <-chan struct{}) Exit {
	var exit Exit
	var late <-chan time.Time
	if deadline > 0 {
		timer := time.NewTimer(deadline)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-ended:
	case <-ctx.Done():
		exit.Stopped = true
	case <-late:
		exit.Stopped, exit.TimedOut = true, true
	}
	if exit.Stopped {
		_ = cmd.Process.Signal(syscall.SIGTERM) // only once: a second signal makes it abandon everything
		grace := time.NewTimer(t.StopWait)
		defer grace.Stop()
		select {
		case <-ended:
		case <-grace.C:
			endAll(cmd.Process.Pid)
			<-ended
		}
	}
	exit.Code, exit.At = cmd.ProcessState.ExitCode(), time.Now().UTC()
	return exit
}

func (t *Tool) streamLines(from io.Reader, emit func(string)) {
	if emit == nil {
		emit = func(string) {}
	}
	lines := t.Redact.Lines(emit)
	_, err := io.Copy(lines, from)
	lines.Close()
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		emit("level=error msg=the output could not be read to its end")
	}
}

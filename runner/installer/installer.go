// Package installer finds openshift-install, ccoctl and oc of a version, runs them as child processes and turns what
// they print into redacted lines.
//
// It must never let a line out that was not redacted, never leave a process of theirs behind, never give them a terminal
// to ask questions on, and never hand them a secret as an argument or, where it can be a file, in the environment.
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
	"sync"
	"syscall"
	"time"
)

// readPatience is how long output is still awaited after the whole session is gone.
const readPatience = 5 * time.Second

// Tool is one program (openshift-install, ccoctl or oc) with the place it may write to.
type Tool struct {
	Binary      string        // absolute path
	Home        string        // becomes HOME; caches and temporary files go below it
	Env         []string      // KEY=value of the runner; only what the program needs is handed on
	Credentials string        // path of a shared-credentials file with the cloud's keys; empty: as Env has them
	Redact      *Redactor     // what must not be seen
	StopWait    time.Duration // between SIGTERM and the end of the whole session; the installer needs up to 60 s
}

// name is what the program is called.
func (t *Tool) name() string { return filepath.Base(t.Binary) }

// Command is one run.
type Command struct {
	Args     []string
	Dir      string            // the working directory; empty: Home
	Deadline time.Duration     // stop politely after this; zero: none
	Input    []byte            // what it reads; nil: nothing
	OnLine   func(line string) // each line of output, redacted, one at a time; nil: nobody looks
}

// Exit tells how a run ended.
type Exit struct {
	Code     int // -1: ended by a signal
	At       time.Time
	Stopped  bool // we asked it to end
	TimedOut bool // … because of the deadline
}

// Run runs the program to its end. A context that ends, or the deadline, stops it politely: one SIGTERM to the
// program itself, which puts its own children down, and StopWait later SIGKILL to what is left of its session.
// Run returns only when no process of the session lives. An error means that it was never started.
func (t *Tool) Run(ctx context.Context, c Command) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", t.name(), context.Cause(ctx))
	}
	env, err := t.environment()
	if err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", t.name(), err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Exit{}, fmt.Errorf("run %s: %w", t.name(), err)
	}
	defer read.Close()
	cmd := exec.Command(t.Binary, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = env, cmp.Or(c.Dir, t.Home), write, write, processGroup() // Stdin nil: /dev/null
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
		return Exit{}, fmt.Errorf("run %s: %w", t.name(), err)
	}
	owned.Go(func() { t.stream(read, c.OnLine) })
	exit := t.await(ctx, cmd, c.Deadline, ended)
	endAll(cmd.Process.Pid) // a crashed installer leaves its controllers running
	_ = read.SetReadDeadline(time.Now().Add(readPatience))
	owned.Wait()
	return exit, nil
}

// runOnOneThread starts and awaits the child on one thread: the kernel kills the child when the thread that made it
// ends, which must then mean that the runner itself is gone.
func runOnOneThread(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait() // the exit code is read from ProcessState
	}
}

func (t *Tool) await(ctx context.Context, cmd *exec.Cmd, deadline time.Duration, ended <-chan struct{}) Exit {
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
		_ = cmd.Process.Signal(syscall.SIGTERM) // once: the second one makes it drop everything
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

func (t *Tool) stream(from io.Reader, emit func(string)) {
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

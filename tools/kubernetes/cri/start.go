package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/tools/kubernetes/inside"
)

// StartContainer implements the runtime service. It returns when the container's program runs, or with the reason why not.
func (r *Runtime) StartContainer(_ context.Context, id string) error {
	c, err := r.container(id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(r.cfg.Rootless); err != nil {
		c.started, c.finished, c.exit, c.reason, c.message = time.Now(), time.Now(), exitStartError, "StartError", err.Error()
		close(c.done)
		return fmt.Errorf("failed to start the container %s: %w", c.config.GetMetadata().GetName(), err)
	}
	return nil
}

func (c *container) start(rootless bool) error {
	logs, err := openLog(c.logPath())
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	order, orderIn, err := os.Pipe()
	if err != nil {
		return err
	}
	outcome, outcomeIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outcome.Close()
	child := &exec.Cmd{Path: "/proc/self/exe", Args: []string{inside.Name}, Dir: "/", Env: []string{}, Stdout: logs.stream("stdout"), Stderr: logs.stream("stderr"),
		ExtraFiles: []*os.File{order, outcomeIn}, SysProcAttr: c.attributes(rootless), WaitDelay: time.Second}
	err = child.Start()
	_, _ = order.Close(), outcomeIn.Close()
	if err != nil {
		_ = orderIn.Close()
		return errors.Join(err, logs.Close())
	}
	wrote := json.NewEncoder(orderIn).Encode(c.spec)
	_ = orderIn.Close()
	refusal, err := io.ReadAll(outcome) // ends when the child has become the program, or has ended
	if err = errors.Join(wrote, err); err != nil || len(refusal) > 0 {
		_ = child.Process.Kill()
		_ = child.Wait()
		return errors.Join(err, errors.New(string(refusal)), logs.Close())
	}
	c.pid, c.logs, c.started = child.Process.Pid, logs, time.Now()
	go c.watchMemory()
	go c.wait(child, logs)
	return nil
}

// attributes are those with which the kernel makes the process. It ends with the node, which is the first process of the namespace
// around its own. Where the node is not root, a user namespace makes the process the
// user that the container asks for.
func (c *container) attributes(rootless bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: inside.Namespaces, Setsid: true}
	if rootless {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: c.spec.UID, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: c.spec.GID, HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = everyCapability()
	}
	return a
}

func (c *container) wait(child *exec.Cmd, logs *logFile) {
	// The process stays a zombie, so that its pid is nobody else's, until signal has been told not to use it any more.
	awaitExit(child.Process.Pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = child.Wait() // its state says how it ended
	_ = logs.Close()
	c.finished, c.exit, c.reason = time.Now(), int32(child.ProcessState.ExitCode()), "Completed"
	if ws := child.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		c.exit = 128 + int32(ws.Signal())
	}
	switch {
	case c.tooMuch:
		c.exit, c.reason = exitKilled, "OOMKilled"
	case c.exit != 0:
		c.reason = "Error"
	}
	close(c.done)
	_ = os.RemoveAll(filepath.Join(c.dir, "scratch"))
}

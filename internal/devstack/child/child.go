// Package child starts processes that end with their parent, however that one ends: a stack that is killed leaves no server
// behind that would hold its ports. Where the kernel cannot promise that (outside Linux), they are started all the same.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts the command in a process group of its own, so that Ctrl-C in a terminal stays its parent's to hand on, and has
// the kernel send it the signal when this process is gone. exited is closed when it has ended and was waited for.
func Start(cmd *exec.Cmd, gone syscall.Signal) (exited <-chan struct{}, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	sendWhenParentIsGone(cmd.SysProcAttr, gone)
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		// The kernel counts the thread that forked as the parent, so it must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended says nothing that its log does not say better
			close(ended)
		}
	}()
	return ended, <-started
}

// Package child starts processes that end with their parent, however the parent ends: a killed stack leaves no server behind that
// occupies its ports. Where the kernel cannot do that (outside Linux), they are started all the same.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts the command in a process group of its own, so that the parent decides about Ctrl-C, and makes the kernel send it the
// signal when this process ends. exited is closed when it has ended and was waited for.
func Start(cmd *exec.Cmd, gone syscall.Signal) (exited <-chan struct{}, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	EndWithParent(cmd.SysProcAttr, gone)
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		// The kernel treats the forking thread as the parent, so it must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its log says more about its end than this error
			close(ended)
		}
	}()
	return ended, <-started
}

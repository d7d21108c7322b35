package installer

import "syscall"

// processGroup gives the child a group of its own, out of a terminal's reach, and lets the kernel end it with the
// runner: an installer without a runner would go on building what nobody watches.
func processGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

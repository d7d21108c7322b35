//go:build !linux

package installer

import "syscall"

// processGroup gives the child a process group of its own, without a terminal.
func processGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endAll kills the process group of a child. Processes that left the group live on: runners are meant for Linux.
func endAll(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

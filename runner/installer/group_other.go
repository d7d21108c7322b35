//go:build !linux

package installer

import "syscall"

// processGroup gives the child a group of its own, out of a terminal's reach.
func processGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endAll kills the group of a child. What left the group lives on: runners are for Linux.
func endAll(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

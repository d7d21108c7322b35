//go:build !linux

package installer

import "syscall"

// processGroup gives the child a group of its own, out of a terminal's reach.
func processGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

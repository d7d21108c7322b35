//go:build !linux

package child

import "syscall"

// EndWithParent does nothing here.
func EndWithParent(*syscall.SysProcAttr, syscall.Signal) {}

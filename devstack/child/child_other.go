//go:build !linux

package child

import "syscall"

// EndWithParent does nothing here.
func EndWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// Contain does nothing here.
func Contain(*syscall.SysProcAttr) {}

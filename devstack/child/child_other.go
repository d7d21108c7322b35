//go:build !linux

package child

import "syscall"

func sendWhenParentIsGone(*syscall.SysProcAttr, syscall.Signal) {}

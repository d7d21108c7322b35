package child

import (
	"os"
	"syscall"
)

// EndWithParent makes the kernel send a child the signal when the thread that starts it ends.
func EndWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }

// Contain makes the kernel end everything that the child starts when the child ends, however that is: they are in a process namespace
// that the child begins. It needs root; without it nothing happens.
func Contain(attr *syscall.SysProcAttr) {
	if os.Geteuid() == 0 {
		attr.Cloneflags |= syscall.CLONE_NEWPID
	}
}

package child

import "syscall"

// EndWithParent makes the kernel send a child the signal when the thread that starts it ends.
func EndWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }

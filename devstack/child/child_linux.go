package child

import "syscall"

func sendWhenParentIsGone(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }

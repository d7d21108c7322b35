package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// serves reports that the process is alive and a PostgreSQL on this data directory, which is its working directory.
func serves(pid int, data string) bool {
	proc := fmt.Sprintf("/proc/%d", pid)
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err != nil { // ended, or a zombie, which has none
		return false
	}
	name, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(data)
	return err == nil && cwd == real && string(name) == "postgres\n"
}

// attributes sets the user as which the process runs.
func (who identity) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	switch {
	case who.namespace:
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(who.inside), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(who.inside), HostID: os.Getegid(), Size: 1}}
	case who.uid != 0:
		attr.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid, NoSetGroups: false}
	}
	return attr
}

const namespaces = true

package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// serves reports that the process is alive and a PostgreSQL on this data directory: a server's working directory is its data.
func serves(pid int, data string) bool {
	proc := fmt.Sprintf("/proc/%d", pid)
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err != nil { // gone, or a zombie, which has none
		return false
	}
	name, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(data)
	return err == nil && cwd == real && string(name) == "postgres\n"
}

// attributes puts the process into a group of its own (Ctrl-C in a terminal must not stop the database before the
// program that uses it) and has the kernel stop it fast when its parent is gone.
func (who identity) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	switch {
	case who.namespace:
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getegid(), Size: 1}}
	case who.uid != 0:
		attr.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid, NoSetGroups: false}
	}
	return attr
}

// startBound starts the command from a thread that lives until the command ended: the kernel sends the parent-death
// signal when the forking thread ends, not the process.
func startBound(cmd *exec.Cmd, exited chan<- struct{}) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // how it ended says nothing that its log does not say better
		close(exited)
	}()
	return <-started
}

const namespaces = true

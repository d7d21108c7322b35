//go:build !linux

package postgres

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// serves reports that the process is alive and a PostgreSQL on this data directory.
func serves(pid int, data string) bool {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "postgres") && strings.Contains(string(out), " "+data+" ")
}

// attributes puts the process into a group of its own: Ctrl-C in a terminal must not stop the database before the
// program that uses it. No parent-death signal exists here; the next Start stops what was left running.
func (who identity) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if who.uid != 0 {
		attr.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	return attr
}

func startBound(cmd *exec.Cmd, exited chan<- struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait() // how it ended says nothing that its log does not say better
		close(exited)
	}()
	return nil
}

const namespaces = false

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

// attributes sets the user as which the process runs. The next Start stops what a killed parent left running.
func (who identity) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if who.uid != 0 {
		attr.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	return attr
}

const namespaces = false

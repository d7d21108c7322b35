package installer

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	endPatience = 5 * time.Second // how long to wait until killed processes are gone
	endPoll     = 5 * time.Millisecond
)

// processGroup gives the child a session of its own, without a terminal, and lets the kernel kill it with the runner: an installer
// without a runner would go on building unwatched. A process group is not enough: openshift-install gives etcd, its API server and
// each controller a group of their own.
func processGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// endAll kills every process left in the session that a child began, and waits for it: a remaining controller would go on creating
// resources that nobody counts. It kills repeatedly, because the processes may have started more.
func endAll(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGKILL)
	for until := time.Now().Add(endPatience); time.Now().Before(until); time.Sleep(endPoll) {
		members := listSession(leader)
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(members) == 0 {
			return
		}
	}
}

// listSession lists the living processes of a session.
func listSession(leader int) []int {
	entries, _ := os.ReadDir("/proc") // without it only the group was killed
	var members []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // gone meanwhile
		}
		// pid (name) state parent group session …; a name may contain anything.
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		if len(fields) > 3 && fields[3] == strconv.Itoa(leader) && !slices.Contains([]string{"Z", "X"}, fields[0]) {
			members = append(members, pid)
		}
	}
	return members
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// adopt makes processes whose parents have ended children of this one, so that none outlives the job.
func adopt() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// children are the processes whose parent a process is.
func children(of int) []int {
	var out []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …; the name may contain anything.
		_, rest, _ := strings.Cut(string(raw[max(0, strings.LastIndexByte(string(raw), ')')):]), " ")
		fields := strings.Fields(rest)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(fields) > 1 && fields[1] == strconv.Itoa(of) && fields[0] != "Z" {
			out = append(out, pid)
		}
	}
	return out
}

// killTree kills a process and what descends from it, the children first.
func killTree(pid int) {
	for _, child := range children(pid) {
		killTree(child)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// endOrphans ends what the job's steps left behind, and returns its names.
func endOrphans() []string {
	var out []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		left := children(os.Getpid())
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			out = append(out, fmt.Sprintf("pid (%d) (%s)", pid, strings.TrimSpace(string(name))))
			killTree(pid)
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &status, 0, nil)
		}
	}
	return out
}

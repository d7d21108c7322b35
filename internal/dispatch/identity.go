package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// identity identifies one process permanently: pids are reused, but not with the same start time within one boot.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // clock ticks since boot, from /proc
	Boot  string `json:"boot"`
}

// identifyProcess returns the identity of a living process or a zombie.
func identifyProcess(pid int) (identity, error) {
	stat, err := readStat(pid)
	if err != nil {
		return identity{}, err
	}
	boot, err := bootID()
	return identity{PID: pid, Start: stat.start, Boot: boot}, err
}

// saveTo writes the identity completely or not at all.
func (id identity) saveTo(path string) error {
	raw, err := json.Marshal(id)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// loadIdentity reads an identity. A file corrupted by a power failure counts as missing: the runner is gone too.
func loadIdentity(path string) (identity, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return identity{}, err
	}
	var id identity
	if err := json.Unmarshal(raw, &id); err != nil {
		return identity{}, fmt.Errorf("read %s: %w: %w", path, fs.ErrNotExist, err)
	}
	return id, nil
}

// isAlive reports whether exactly this process is alive. A zombie is not.
func (id identity) isAlive() (bool, error) {
	boot, err := bootID()
	if err != nil || boot != id.Boot {
		return false, err
	}
	stat, err := readStat(id.PID)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false, nil
	}
	if err != nil || stat.start != id.Start {
		return false, err
	}
	return stat.state != "Z" && stat.state != "X", nil
}

// terminate sends SIGTERM to exactly this process, not to another one with its pid.
func (id identity) terminate() error { return id.sendSignal(syscall.SIGTERM) }

func (id identity) kill() error { return id.sendSignal(syscall.SIGKILL) }

func (id identity) sendSignal(sig syscall.Signal) error {
	process, err := os.FindProcess(id.PID) // holds a pidfd: from here on it cannot refer to another process
	if err != nil {
		return err
	}
	defer process.Release()
	alive, err := id.isAlive()
	if err != nil || !alive {
		return err
	}
	if err := process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// findMarked finds the living processes of an attempt by the environment variable that they inherited.
func findMarked(attempt string) ([]identity, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	want := []byte("\x00" + attemptVariable + "=" + attempt + "\x00")
	var found []identity
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		env, err := readEnvironment(pid)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), want) {
			continue // ended, or another user's and so not ours; a zombie's is empty
		}
		id, err := identifyProcess(pid)
		if err != nil {
			continue // ended meanwhile
		}
		found = append(found, id)
	}
	return found, nil
}

// readEnvironment reads the environment of a process. That of a process that is just starting another program is empty for a moment, which lasts while
// the machine is busy with others, and must not be taken for that of a process without the variable. Those of zombies, of kernel threads and of
// what sleeps stay empty.
func readEnvironment(pid int) ([]byte, error) {
	for try, asleep := 1, 0; ; try++ {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(env) > 0 || try == environmentTries {
			return env, err
		}
		s, err := readStat(pid)
		if err != nil || s.ofKernel || s.state == "Z" || s.state == "X" {
			return nil, err
		}
		if s.state == "S" {
			asleep++
		}
		if asleep == 5 {
			return nil, nil
		}
		time.Sleep(environmentPause)
	}
}

const (
	environmentTries = 500
	environmentPause = time.Millisecond

	kernelThread = 0x00200000 // PF_KTHREAD of the kernel's include/linux/sched.h
)

// stat is part of /proc/<pid>/stat.
type stat struct {
	state, start string
	ofKernel     bool
}

func readStat(pid int) (stat, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	_, rest, ok := strings.Cut(string(raw[bytes.LastIndexByte(raw, ')')+1:]), " ") // a name may contain anything
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return stat{}, fmt.Errorf("read /proc/%d/stat: unexpected format", pid)
	}
	flags, _ := strconv.ParseUint(fields[6], 10, 32) // none: a process like any other
	return stat{state: fields[0], start: fields[19], ofKernel: flags&kernelThread != 0}, nil
}

var knownBoot atomic.Pointer[string]

// bootID identifies this start of the machine. It is read until that succeeds once.
func bootID() (string, error) {
	if known := knownBoot.Load(); known != nil {
		return *known, nil
	}
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(raw))
	knownBoot.Store(&id)
	return id, nil
}

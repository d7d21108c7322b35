package chaos

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the kernel's unit of a process's time (USER_HZ, 100 on every Linux).
const clockTick = 10 * time.Millisecond

// processes adds up the CPU time of the stack's processes by kind, and records the largest resident set of a runner, as the kernel
// counts it. It samples twice a second, so it misses the last moments of processes that end in between.
type processes struct {
	cancel context.CancelFunc
	done   chan struct{}

	bin, data string
	kinds     map[string]string // pid → kind
	spent     map[string]time.Duration
	peak      uint64
}

func (t *Run) watchProcesses(ctx context.Context) *processes {
	ctx, cancel := context.WithCancel(ctx)
	p := &processes{
		cancel: cancel, done: make(chan struct{}), bin: t.Bin, data: filepath.Join(t.Dir, "postgres", "data"),
		kinds: map[string]string{}, spent: map[string]time.Duration{},
	}
	p.look()
	for pid := range p.spent {
		p.spent[pid] = -p.spent[pid] // time used before does not count
	}
	before := p.spent
	p.spent = map[string]time.Duration{}
	go func() {
		defer close(p.done)
		for sleep(ctx, 500*time.Millisecond) == nil {
			p.look()
		}
		for pid, d := range before {
			p.spent[pid] += d
		}
	}()
	return p
}

// stop returns the CPU time of each kind of process and a runner's peak memory in bytes.
func (p *processes) stop() (byKind map[string]time.Duration, peak uint64) {
	p.cancel()
	<-p.done
	byKind = map[string]time.Duration{}
	for pid, d := range p.spent {
		byKind[p.kinds[pid]] += d
	}
	return byKind, p.peak
}

func (p *processes) look() {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		kind := p.kindOf(dir, pid)
		if kind == "" {
			continue
		}
		p.kinds[pid] = kind
		if d, ok := used(dir); ok {
			p.spent[pid] = d
		}
		if kind == "ocpctl-runner" {
			p.peak = max(p.peak, highest(dir))
		}
	}
}

// kindOf returns the kind of a process of this stack; "" for any other.
func (p *processes) kindOf(dir, pid string) string {
	if pid == strconv.Itoa(os.Getpid()) {
		return "stand-ins and test"
	}
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil {
		return ""
	}
	if filepath.Dir(exe) == p.bin {
		if name := filepath.Base(exe); name != "ocpctl-demo" {
			return name
		}
		return "S3"
	}
	if name := filepath.Base(exe); p.isOurs(dir, name) { // a pod sees it under another path
		return name
	}
	if cwd, err := os.Readlink(filepath.Join(dir, "cwd")); err == nil && cwd == p.data {
		return "PostgreSQL"
	}
	return ""
}

// isOurs reports that a process executes the program of that name.
func (p *processes) isOurs(dir, name string) bool {
	executes, err1 := os.Stat(filepath.Join(dir, "exe"))
	program, err2 := os.Stat(filepath.Join(p.bin, name))
	return err1 == nil && err2 == nil && os.SameFile(executes, program)
}

// used returns a process's own CPU time, user and kernel.
func used(dir string) (time.Duration, bool) {
	raw, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.Atoi(fields[11])
	kernel, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+kernel) * clockTick, err1 == nil && err2 == nil
}

// highest returns a process's largest resident set; 0 if it has ended.
func highest(dir string) uint64 {
	status, err := os.Open(filepath.Join(dir, "status"))
	if err != nil {
		return 0
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}

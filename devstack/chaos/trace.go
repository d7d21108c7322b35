package chaos

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
)

// event is one line of the stand-in programs' trace: what a command did, and after how many writes to the cloud.
type event struct {
	Cluster, Command, What string
	Writes                 int
}

// trace reads the file that the stand-in programs write.
type trace struct {
	done chan struct{}

	mu     sync.Mutex
	keep   bool // for the survey: keep all events
	events []event
	paused map[string]bool   // command/cluster
	last   map[string]string // command/cluster → its newest write
}

func followTrace(ctx context.Context, path string) *trace {
	f := &trace{done: make(chan struct{}), keep: true, paused: map[string]bool{}, last: map[string]string{}}
	go func() {
		defer close(f.done)
		var at int64
		for {
			at = f.read(path, at)
			if sleep(ctx, 10*time.Millisecond) != nil {
				return
			}
		}
	}()
	return f
}

// read reads the complete lines after an offset and returns where they end.
func (f *trace) read(path string, at int64) int64 {
	file, err := os.Open(path)
	if err != nil {
		return at // nothing was written yet
	}
	defer file.Close()
	raw, err := io.ReadAll(io.NewSectionReader(file, at, 1<<20))
	if err != nil || len(raw) == 0 {
		return at
	}
	whole := raw[:bytes.LastIndexByte(raw, '\n')+1]
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range strings.Lines(string(whole)) {
		if e, ok := parseEvent(line); ok {
			f.take(e)
		}
	}
	return at + int64(len(whole))
}

func parseEvent(line string) (event, bool) {
	parts := strings.SplitN(strings.TrimSpace(line), " ", 4)
	if len(parts) < 4 {
		return event{}, false
	}
	writes, err := strconv.Atoi(parts[2])
	return event{Cluster: parts[0], Command: parts[1], Writes: writes, What: parts[3]}, err == nil
}

func (f *trace) take(e event) {
	if f.keep {
		f.events = append(f.events, e)
	}
	key := e.Command + "/" + faultName(e.Command, e.Cluster)
	switch {
	case strings.HasPrefix(e.What, "pause"):
		f.paused[key] = true
	case e.What == "resume", strings.HasPrefix(e.What, "end"):
		delete(f.paused, key)
	case strings.Contains(e.What, ":"):
		f.last[key] = e.What
	}
}

// lastWrite returns a command's last write to the cloud.
func (f *trace) lastWrite(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last[key]
}

// pausedAt reports whether a command on a cluster is paused.
func (f *trace) pausedAt(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused[key]
}

// forget stops keeping all events: later ones are only checked for pauses.
func (f *trace) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep, f.events = false, nil
}

// of returns all events for a cluster, in order.
func (f *trace) of(name string) []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.events), func(e event) bool { return faultName(e.Command, e.Cluster) != faultName(e.Command, name) })
}

// faultName is the name under which faults and trace know a cluster: for ccoctl, the first nine characters.
func faultName(command, cluster string) string {
	if !strings.HasPrefix(command, "ccoctl-") {
		return cluster
	}
	return strings.TrimRight(cluster[:min(len(cluster), 9)], "-")
}

// setFault sets a fault of the stand-in programs; nil ends it.
func (t *Run) setFault(key string, fault *installer.Fault) error {
	return installer.SetFault(t.Faults(), key, fault)
}

package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// restoring is what was observed of a runner while it restored.
type restoring struct {
	disk   int64
	memory int
	took   time.Duration
	over   string // why it was stopped; empty: it was not
}

// The limits of one restore: real archives have a few hundred kilobytes.
const (
	mostDisk   = 600 << 20
	mostMemory = 500
	mostTime   = 25 * time.Second
)

// watchRestore measures a cluster's runners until the returned function is called, and kills one that exceeds the limits.
func (t *target) watchRestore(ctx context.Context, id string) (seen func() restoring) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan restoring)
	began := time.Now()
	go func() {
		var r restoring
		for ctx.Err() == nil {
			t.measure(ctx, id, &r)
			time.Sleep(glance)
		}
		r.took = time.Since(began)
		done <- r
	}()
	return func() restoring { stop(); return <-done }
}

func (t *target) measure(ctx context.Context, id string, r *restoring) {
	rows, err := t.pool.Query(ctx, "SELECT id FROM attempts WHERE cluster_id = $1 AND kind = 'destroy' AND closed_at IS NULL", id)
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var attempt string
		if rows.Scan(&attempt) != nil {
			return
		}
		folder := filepath.Join(t.Dir, "work", attempt)
		var disk int64
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { // files appear and disappear meanwhile
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					disk += info.Size()
				}
			}
			return nil
		})
		pid, memory := t.runnerMemory(folder)
		r.disk, r.memory = max(r.disk, disk), max(r.memory, memory)
		if (disk > mostDisk || memory > mostMemory) && pid > 0 && r.over == "" {
			r.over = fmt.Sprintf("the runner wrote %d MiB and took %d MiB of memory to restore it, and was stopped", disk>>20, memory)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
}

// runnerMemory returns a running runner's process id and its peak memory, in MiB.
func (t *target) runnerMemory(folder string) (pid, memory int) {
	raw, err := os.ReadFile(filepath.Join(folder, "process.json"))
	if err != nil {
		return 0, 0
	}
	var process struct{ PID int }
	if json.Unmarshal(raw, &process) != nil {
		return 0, 0
	}
	memory, err = memoryOf(process.PID)
	if err != nil {
		return 0, 0
	}
	return process.PID, memory
}

package trial

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/house"
)

// memory remembers the greatest resident set any runner ever had, as the kernel counts it.
type memory struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	peak uint64
}

// watchMemory looks at the runners again and again. A runner lives for seconds and its peak only rises, so none is missed
// by much.
func watchMemory(ctx context.Context) *memory {
	ctx, cancel := context.WithCancel(ctx)
	m := &memory{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		for sleep(ctx, 100*time.Millisecond) == nil {
			dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
			for _, dir := range dirs {
				m.look(dir)
			}
		}
	}()
	return m
}

func (m *memory) stop() (peak uint64) {
	m.cancel()
	<-m.done
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peak
}

func (m *memory) look(dir string) {
	if name, err := os.ReadFile(filepath.Join(dir, "comm")); err != nil || string(name) != "ocpctl-runner\n" {
		return
	}
	status, err := os.Open(filepath.Join(dir, "status"))
	if err != nil {
		return // it ended
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:")
		if !ok {
			continue
		}
		if kb, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64); err == nil {
			m.mu.Lock()
			m.peak = max(m.peak, kb<<10)
			m.mu.Unlock()
		}
	}
}

// stored is how many bytes a house holds.
type stored struct{ s3, pg int64 }

// bytesStored counts the artifacts' sizes and the database's. VACUUM first: what is dead is not stored.
func (t *Trial) bytesStored(ctx context.Context) (out stored, err error) {
	if _, err := t.pool.Exec(ctx, "VACUUM"); err != nil {
		return out, fmt.Errorf("measure the database: %w", err)
	}
	if err := t.pool.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&out.pg); err != nil {
		return out, fmt.Errorf("measure the database: %w", err)
	}
	err = filepath.WalkDir(filepath.Join(t.Dir, "s3", "buckets", house.Bucket), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out.s3 += info.Size()
		}
		return err
	})
	if err != nil {
		return out, fmt.Errorf("measure S3: %w", err)
	}
	return out, nil
}

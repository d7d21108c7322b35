package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopLeftOver stops the server that a killed parent left running on this data directory. A process that only has the same pid as the
// lock file is left alone, and the stale lock file is deleted.
func stopLeftOver(ctx context.Context, data string) error {
	lock := filepath.Join(data, "postmaster.pid")
	pid, ok := lockedBy(lock)
	if !ok {
		return nil
	}
	if !serves(pid, data) {
		if err := os.Remove(lock); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the stale lock %s: %w", lock, err)
		}
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the PostgreSQL %d left running in %s: %w", pid, data, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for serves(pid, data) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the PostgreSQL %d left running in %s did not stop: %w", pid, data, ctx.Err())
		case <-time.After(lookAgain):
		}
	}
	return nil
}

// lockedBy reads the process id from a postmaster.pid.
func lockedBy(lock string) (int, bool) {
	raw, err := os.ReadFile(lock)
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	return pid, err == nil && pid > 1
}

package dispatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// runnersLog is the runner's own log in its folder: its lines are redacted, so it may stay.
const runnersLog = "attempt.log"

// Kill kills an attempt's runner and everything it started, at once. It is for a runner that did not stop by itself when its lease
// ended. Observe reports when it has ended. A missing runner is no error.
func (p *Process) Kill(_ context.Context, attempt string) error {
	dir, err := p.attemptDir(attempt)
	if err != nil {
		return err
	}
	if id, err := loadIdentity(filepath.Join(dir, processFile)); err == nil { // first, because it could start more
		if err := id.kill(); err != nil {
			return fmt.Errorf("kill the runner of attempt %s: %w", attempt, err)
		}
	}
	found, err := findMarked(attempt)
	if err != nil {
		return fmt.Errorf("kill the runner of attempt %s: %w", attempt, err)
	}
	for _, id := range found {
		if err := id.kill(); err != nil {
			return fmt.Errorf("kill the runner of attempt %s: %w", attempt, err)
		}
	}
	return nil
}

// removeSecrets deletes what a killed runner left behind: install directories full of secrets, and the token. The logs stay. What cannot be
// deleted now is deleted by Forget.
func removeSecrets(dir string) {
	_ = os.Remove(filepath.Join(dir, tokenFile))
	work := filepath.Join(dir, workFolder)
	entries, _ := os.ReadDir(work)
	for _, entry := range entries {
		if entry.Name() != runnersLog {
			_ = os.RemoveAll(filepath.Join(work, entry.Name()))
		}
	}
}

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Observe returns what is known about an attempt's runner, after any number of restarts of the server.
//
// A runner ends only when everything it started has ended, like a container: if the runner was killed and an installer is alive, that
// is killed too, and the attempt counts as running until nothing of it is left. Then its files are deleted, because only a runner
// that ended by itself has cleaned up.
func (p *Process) Observe(_ context.Context, attempt string) (Sighting, error) {
	dir, err := p.dir(attempt)
	if err != nil {
		return Unknown, err
	}
	seen, err := p.look(attempt, dir)
	if seen == Ended {
		hide(dir)
	}
	return seen, err
}

func (p *Process) look(attempt, dir string) (Sighting, error) {
	started, err := os.Stat(filepath.Join(dir, startedFile))
	if errors.Is(err, os.ErrNotExist) {
		return NotStarted, nil
	}
	if err != nil {
		return Unknown, fmt.Errorf("observe attempt %s: %w", attempt, err)
	}
	id, err := loadIdentity(filepath.Join(dir, processFile))
	if errors.Is(err, os.ErrNotExist) {
		return p.observeUnwritten(attempt, started)
	}
	if err != nil {
		return Unknown, fmt.Errorf("observe attempt %s: %w", attempt, err)
	}
	alive, err := id.alive()
	if err != nil {
		return Unknown, fmt.Errorf("observe attempt %s: %w", attempt, err)
	}
	if alive {
		return Running, nil
	}
	return p.observeOrphans(attempt)
}

// observeUnwritten looks for a runner whose identity was not stored because the server was killed.
func (p *Process) observeUnwritten(attempt string, started os.FileInfo) (Sighting, error) {
	found, err := marked(attempt)
	switch {
	case err != nil:
		return Unknown, fmt.Errorf("observe attempt %s: %w", attempt, err)
	case len(found) > 0:
		return Running, nil
	case p.cfg.Now().Sub(started.ModTime()) < startPatience:
		return Unknown, nil
	}
	return Ended, nil
}

// observeOrphans kills what a dead runner left behind.
func (p *Process) observeOrphans(attempt string) (Sighting, error) {
	found, err := marked(attempt)
	if err != nil {
		return Unknown, fmt.Errorf("observe attempt %s: %w", attempt, err)
	}
	for _, id := range found {
		if err := id.kill(); err != nil {
			return Unknown, fmt.Errorf("observe attempt %s: kill what its runner left behind: %w", attempt, err)
		}
	}
	if len(found) > 0 {
		return Running, nil
	}
	return Ended, nil
}

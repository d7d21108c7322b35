package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Observe returns what is known about an attempt's runner, after any number of restarts of the server.
//
// A runner ends only when everything it started has ended, like a container: if the runner was killed and an installer is alive, that
// is killed too, and the attempt counts as running until nothing of it is left. Then its files are deleted, because only a runner
// that ended by itself has cleaned up.
func (p *Process) Observe(_ context.Context, attempt string) (Observation, error) {
	dir, err := p.attemptDir(attempt)
	if err != nil {
		return Observation{}, err
	}
	seen, err := p.lookInside(attempt, dir)
	if seen == Ended {
		removeSecrets(dir)
	}
	return Observation{Sighting: seen}, err
}

// Living returns the numbers of the cluster's attempts that have a living runner, in rising order.
func (p *Process) Living(ctx context.Context, cluster string) ([]int, error) {
	kept, err := p.Kept(ctx)
	if err != nil {
		return nil, err
	}
	var living []int
	for _, attempt := range kept {
		number, of := p.findStarted(attempt)
		if of != cluster || of == noCluster {
			continue
		}
		seen, err := p.Observe(ctx, attempt)
		if err != nil {
			return nil, err
		}
		if seen.Sighting == Running {
			living = append(living, number)
		}
	}
	slices.Sort(living)
	return living, nil
}

// findStarted returns the number and the cluster of an attempt that was started; no cluster: unknown.
func (p *Process) findStarted(attempt string) (number int, cluster string) {
	raw, err := os.ReadFile(filepath.Join(p.cfg.WorkDir, attempt, startedFile))
	if err != nil {
		return 0, ""
	}
	var at, kind string
	if _, err := fmt.Sscanf(string(raw), startedFormat, &at, &kind, &number, &cluster); err != nil {
		return 0, ""
	}
	return number, cluster
}

func (p *Process) lookInside(attempt, dir string) (Sighting, error) {
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
	alive, err := id.isAlive()
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
	found, err := findMarked(attempt)
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
	found, err := findMarked(attempt)
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

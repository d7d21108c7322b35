package artifacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// ErrNoneGood means that no snapshot could be restored. It never means that there is nothing to destroy.
var ErrNoneGood = errors.New("no snapshot could be restored")

// Skipped is a snapshot that was not used, and why: its error is ErrMissing, ErrCorrupt, or says that S3 did not respond.
type Skipped struct {
	Snapshot Snapshot
	Err      error
}

// Unanswered reports whether retrying might help: S3 did not respond, so nothing is known about the snapshot.
func (s Skipped) Unanswered() bool {
	return !errors.Is(s.Err, ErrMissing) && !errors.Is(s.Err, ErrCorrupt)
}

// Restore unpacks the newest snapshot whose checksums are all correct into dir, which must not exist yet, and returns which one it
// was and which newer ones were skipped. It considers only destroy bundles. If none is good it returns ErrNoneGood and leaves no dir
// behind.
func (s *Store) Restore(ctx context.Context, snapshots []Snapshot, dir string) (Snapshot, []Skipped, error) {
	newest := slices.DeleteFunc(slices.Clone(snapshots), func(one Snapshot) bool { return one.Type != Destroy })
	slices.SortStableFunc(newest, func(a, b Snapshot) int { return b.TakenAt.Compare(a.TakenAt) })
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return Snapshot{}, nil, fmt.Errorf("restore into %s: it already exists", dir)
	}
	var skipped []Skipped
	for _, one := range newest {
		err := s.restoreOne(ctx, one, dir)
		var local localError
		switch {
		case err == nil:
			return one, skipped, nil
		case errors.As(err, &local) || ctx.Err() != nil:
			return Snapshot{}, skipped, err
		}
		skipped = append(skipped, Skipped{Snapshot: one, Err: err})
	}
	return Snapshot{}, skipped, fmt.Errorf("%w: %d were tried", ErrNoneGood, len(newest))
}

// restoreOne unpacks beside dir and moves the result there only if everything was correct.
func (s *Store) restoreOne(ctx context.Context, one Snapshot, dir string) error {
	raw, err := s.readAll(ctx, one.ManifestKey, mostManifest)
	if err != nil {
		return err
	}
	m, _, err := parseManifest(raw)
	if err != nil {
		return err
	}
	if m.SHA256 != one.SHA256 || m.Size != one.Size || m.InfraID != one.InfraID || m.Archive != one.Key {
		return fmt.Errorf("%w: its manifest is not the one that was recorded", ErrCorrupt)
	}
	beside := dir + ".partial"
	if err := errors.Join(os.RemoveAll(beside), os.MkdirAll(beside, 0o750)); err != nil {
		return localError{err}
	}
	defer os.RemoveAll(beside)
	root, err := os.OpenRoot(beside)
	if err != nil {
		return localError{err}
	}
	defer root.Close()
	if err := s.checkArchive(ctx, one.Key, raw, root); err != nil {
		return err
	}
	if err := os.Rename(beside, dir); err != nil {
		return localError{err}
	}
	return nil
}

package artifacts

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Bundle says what to archive.
type Bundle struct {
	Type    Type
	Cluster string // id
	Attempt int    // number
	InfraID string
	Dir     string // the install directory; it may be in use
}

// saveTries limits how often a taken name leads to another one. An attempt has only one writer, so even a second try is rare.
const saveTries = 5

// Save packs the bundle's allowed files, writes archive and manifest, reads both back and checks every checksum. Callers may rely
// only on the returned Snapshot: it is complete in the bucket and will not change.
func (s *Store) Save(ctx context.Context, b Bundle) (Snapshot, error) {
	if !plainID.MatchString(b.Cluster) {
		return Snapshot{}, fmt.Errorf("save %s: cluster id %q may not be part of a key", b.Type, b.Cluster)
	}
	taken := s.cfg.Now().UTC().Truncate(time.Millisecond)
	p, err := s.packArchive(b.Type, b.Dir)
	if err != nil {
		return Snapshot{}, fmt.Errorf("save %s of %s: %w", b.Type, b.InfraID, err)
	}
	defer p.discardFile()
	for try := range saveTries {
		var m Manifest
		m, err = s.uploadArchive(ctx, b, p, taken.Add(time.Duration(try)*time.Millisecond))
		if err == nil {
			return m.toSnapshot(b, taken), nil
		}
		if !errors.Is(err, ErrExists) {
			break
		}
	}
	return Snapshot{}, fmt.Errorf("save %s of %s: %w", b.Type, b.InfraID, err)
}

func (m Manifest) toSnapshot(b Bundle, taken time.Time) Snapshot {
	_, manifestKey := archiveKeys(b, m.TakenAt)
	return Snapshot{
		Type: b.Type, Key: m.Archive, ManifestKey: manifestKey, SHA256: m.SHA256, Size: m.Size, InfraID: b.InfraID, TakenAt: taken,
	}
}

// uploadArchive writes the archive, reads it back to prove that it is complete, and only then writes its manifest: an archive without a
// manifest was never finished.
func (s *Store) uploadArchive(ctx context.Context, b Bundle, p packed, at time.Time) (Manifest, error) {
	key, manifestKey := archiveKeys(b, at)
	m := Manifest{
		Type: b.Type, Cluster: b.Cluster, Attempt: b.Attempt, InfraID: b.InfraID, TakenAt: at,
		Archive: key, SHA256: hex.EncodeToString(p.sum), Size: p.size, Files: p.files,
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return m, err
	}
	if err := s.putObject(ctx, key, p.file, p.size, p.sum); err != nil {
		return m, err
	}
	if err := s.checkArchive(ctx, key, raw, nil); err != nil {
		return m, err
	}
	ref, err := s.PutOnce(ctx, manifestKey, raw)
	if err != nil {
		return m, err
	}
	there, err := s.Read(ctx, ref)
	if err == nil && string(there) != string(raw) {
		err = fmt.Errorf("%w: %s", ErrCorrupt, ref)
	}
	return m, err
}

// checkArchive reads the archive at key and compares it with its manifest; with root, it also unpacks it there.
func (s *Store) checkArchive(ctx context.Context, key string, manifest []byte, root *os.Root) error {
	r, err := newArchiveReader(manifest)
	if err != nil {
		return err
	}
	return s.getObject(ctx, key, r.manifest.Size, func(body io.Reader) error { return r.readArchive(body, root) })
}

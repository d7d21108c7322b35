package artifacts

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"time"
)

// Manifest lists the content of an archive. It is stored beside it.
type Manifest struct {
	Type    Type      `json:"type"`
	Cluster string    `json:"cluster"`
	Attempt int       `json:"attempt"`
	InfraID string    `json:"infraId"`
	TakenAt time.Time `json:"takenAt"`
	Archive string    `json:"archive"` // its key
	SHA256  string    `json:"sha256"`  // of the archive
	Size    int64     `json:"size"`
	Files   []File    `json:"files"`
}

// File is one file of an archive.
type File struct {
	Path   string `json:"path"` // with slashes, relative to the install directory
	Mode   string `json:"mode"` // permission bits, octal, e.g. 0640
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// parseManifest parses a manifest and refuses one with a path outside the directory, a duplicate path, or more than an archive may
// contain.
func parseManifest(raw []byte) (Manifest, map[string]File, error) {
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, nil, fmt.Errorf("%w: manifest: %w", ErrCorrupt, err)
	}
	if err := checkLimits(m.Files, m.Size); err != nil {
		return m, nil, fmt.Errorf("%w: manifest: %w", ErrCorrupt, err)
	}
	byPath := make(map[string]File, len(m.Files))
	for _, f := range m.Files {
		if !localPath(f.Path) {
			return m, nil, fmt.Errorf("%w: manifest names a path outside the directory: %q", ErrCorrupt, f.Path)
		}
		if _, twice := byPath[f.Path]; twice {
			return m, nil, fmt.Errorf("%w: manifest names %q twice", ErrCorrupt, f.Path)
		}
		byPath[f.Path] = f
	}
	return m, byPath, nil
}

// localPath reports whether a name stays inside the directory to which it is unpacked.
func localPath(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name
}

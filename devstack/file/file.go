// Package file writes the stand-ins' files: secrets and state that must be complete or absent. It is for demos and tests; the product
// must never import it.
package file

import (
	"fmt"
	"os"
	"path/filepath"
)

// Replace writes a file atomically, readable only by its owner, and creates its directory if it is missing.
func Replace(path string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

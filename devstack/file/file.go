// Package file writes the stand-ins' files: secrets and state that must be complete or absent. It is for demos and tests; the product
// must never import it.
package file

import (
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Replace writes a file atomically, readable only by its owner, and creates its directory if it is missing.
func Replace(path string, raw []byte) (err error) {
	defer must.Catch(&err)
	must.Wrap(os.MkdirAll(filepath.Dir(path), 0o700), "make the directory of %s", path)
	must.Wrap(os.WriteFile(path+".new", raw, 0o600), "write %s", path)
	must.Wrap(os.Rename(path+".new", path), "replace %s", path)
	return nil
}

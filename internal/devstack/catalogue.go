package devstack

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ocpctl/ocpctl/profiles"
)

//go:embed catalogue
var catalogueFiles embed.FS

// catalogue writes the stack's catalogue: the program's own profiles, add-ons and identities, plus the demo's teams, people, quotas,
// a rule and the identities of programs. An existing folder is left unchanged, so that people can edit it and see the effect.
func (h *Stack) catalogue() error {
	dir := h.path("catalogue")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours, err := fs.Sub(catalogueFiles, "catalogue")
	if err != nil {
		return err
	}
	half := dir + ".new" // so that an interrupted start leaves no incomplete catalogue
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	for _, kind := range []struct {
		name string
		from fs.FS
	}{
		{"profiles", profiles.EmbeddedFiles()}, {"addons", profiles.EmbeddedFiles()}, {"identities", profiles.EmbeddedFiles()},
		{"identities", ours}, {"people", ours}, {"teams", ours}, {"quotas", ours}, {"policies", ours},
	} {
		files, err := fs.Sub(kind.from, kind.name)
		if err != nil {
			return err
		}
		if err := os.CopyFS(half+"/"+kind.name, files); err != nil {
			return fmt.Errorf("write the catalogue's %s: %w", kind.name, err)
		}
	}
	return os.Rename(half, dir)
}

package actions

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// standIns are GitHub's own actions that workflows use. act itself replaces actions/checkout only where a step gives it no ref and no
// other repository.
var standIns = []string{"actions/cache", "actions/checkout", "actions/upload-artifact"}

//go:embed standins
var files embed.FS

// layOut writes the stand-ins of GitHub's own actions into the folder of the jobs.
func (e *Engine) layOut() error {
	return fs.WalkDir(files, "standins", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(e.Dir, filepath.FromSlash(strings.TrimPrefix(path, "standins")))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		raw, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, raw, 0o644)
	})
}

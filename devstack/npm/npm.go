// Package npm installs the npm packages that tests need, in exactly the versions of a lock file, whose checksums npm verifies.
package npm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Install returns a folder with the packages of files' package-lock.json in node_modules. It is in the user's cache, installed once for
// each version of the lock file. No package's own scripts run.
func Install(name string, files fs.FS) (_ string, err error) {
	defer must.Catch(&err)
	cache := must.Get(os.UserCacheDir())
	lock := must.Get(fs.ReadFile(files, "package-lock.json"))
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "ocpctl-tests", name+"-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	must.Do(os.MkdirAll(filepath.Dir(dir), 0o755))
	fresh := must.Get(os.MkdirTemp(filepath.Dir(dir), "new-"))
	defer os.RemoveAll(fresh)
	for _, file := range []string{"package.json", "package-lock.json"} {
		raw := must.Get(fs.ReadFile(files, file))
		must.Do(os.WriteFile(filepath.Join(fresh, file), raw, 0o644))
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = fresh
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s with npm, which these tests need (Debian, Ubuntu: apt-get install nodejs npm): %w: %s", name, err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil
}

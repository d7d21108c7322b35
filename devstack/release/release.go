// Package release lays out a release of ocpctl in a folder as make release does, for tests of what downloads it: one archive, for this
// machine, and its checksum.
package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Write writes the release DIR/VERSION of a program that was built, and returns the path of its archive.
func Write(dir, version, program string) (archive string, err error) {
	defer must.Catch(&err)
	folder := filepath.Join(dir, version)
	must.Do(os.MkdirAll(folder, 0o755))
	raw := must.Get(os.ReadFile(program))
	archive = filepath.Join(folder, fmt.Sprintf("ocpctl-%s-%s-%s.tar.gz", version, runtime.GOOS, runtime.GOARCH))
	file := must.Get(os.Create(archive))
	sum := sha256.New()
	zipped := gzip.NewWriter(io.MultiWriter(file, sum))
	packed := tar.NewWriter(zipped)
	err = packed.WriteHeader(&tar.Header{Name: "./ocpctl", Mode: 0o755, Size: int64(len(raw)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = packed.Write(raw)
	}
	if err := errors.Join(err, packed.Close(), zipped.Close(), file.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", archive, err)
	}
	sums := fmt.Sprintf("%x  ocpctl-%s-plan9-mips.tar.gz\n%x  %s\n", sha256.Sum256(nil), version, sum.Sum(nil), filepath.Base(archive))
	return archive, os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums), 0o644)
}

// Version returns the release of the actions in a repository: what workflows/version says.
func Version(repository string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(repository, "workflows", "version"))
	return strings.TrimSpace(string(raw)), err
}

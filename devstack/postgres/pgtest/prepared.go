package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/postgres"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store"
)

const (
	unfinished = "new-" // begins the names of folders that are being written
	// unusedAfter is how old the folder of another schema is when it is deleted. Branches have schemas of their own.
	unusedAfter = 24 * time.Hour
)

// Prepare puts the data folder of a stopped server into dir, so that a server that is started there finds its database postgres migrated. It
// is a copy of what the user's cache folder has, which takes a tenth of the time of initdb and all migrations.
func Prepare(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return makeTemplate(ctx, dir)
	}
	return prepare(ctx, filepath.Join(caches, "ocpctl-pgtest"), dir)
}

// prepare puts the data folder of a stopped server with the migrated template into dir: a copy of the one in cache, which the first
// process with this schema and this PostgreSQL writes there. A folder in cache is complete, because it gets its name last.
func prepare(ctx context.Context, cache, dir string) (err error) {
	defer must.Catch(&err)
	name := must.Get(schemaKey(ctx))
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return makeTemplate(ctx, dir) // without a cache
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return makeTemplate(ctx, dir)
	}
	defer lock.Close() // gives the lock back
	made, data := filepath.Join(cache, name), filepath.Join(dir, "data")
	for _, how := range []int{syscall.LOCK_SH, syscall.LOCK_EX} {
		must.Wrap(syscall.Flock(int(lock.Fd()), how), "lock %s", cache)
		if _, err := os.Stat(made); err == nil {
			return errors.Join(copyData(made, data), own(dir, made))
		}
	}
	must.Do(makeTemplate(ctx, dir))
	return keep(cache, name, data)
}

// schemaKey names everything that a data folder depends on.
func schemaKey(ctx context.Context) (_ string, err error) {
	defer must.Catch(&err)
	version := must.Get(postgres.Version(ctx))
	sum := sha256.New()
	fmt.Fprintln(sum, version, os.Geteuid(), template)
	files := must.Get(fs.Glob(migrations.FS, "*.sql"))
	for _, file := range files {
		raw := must.Get(migrations.FS.ReadFile(file))
		fmt.Fprintf(sum, "%s %d %s\n", file, len(raw), raw)
	}
	rivers := must.Get(rivermigrate.New(riverpgxv5.New(nil), nil))
	for _, m := range rivers.AllVersions() {
		fmt.Fprintf(sum, "%d %s\n", m.Version, m.SQLUp)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// makeTemplate initialises a server in dir, migrates the template and stops the server.
func makeTemplate(ctx context.Context, dir string) error {
	server, err := postgres.Start(ctx, postgres.Config{Dir: dir, Fast: true})
	if err != nil {
		return err
	}
	return errors.Join(store.Migrate(ctx, server.URL(template)), server.Stop())
}

// keep copies data into the cache, and deletes what nobody uses there. The caller has the lock. An error,
// such as a full disk, costs the next process time, and no test fails.
func keep(cache, name, data string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && entry.IsDir() && (strings.HasPrefix(entry.Name(), unfinished) || time.Since(info.ModTime()) > unusedAfter) {
			_ = os.RemoveAll(filepath.Join(cache, entry.Name()))
		}
	}
	begun := filepath.Join(cache, unfinished+name)
	err = errors.Join(copyData(data, begun), syncData(begun))
	if err == nil {
		err = os.Rename(begun, filepath.Join(cache, name))
	}
	if err != nil {
		_ = os.RemoveAll(begun)
	}
	return nil
}

// copyData copies a data folder with its owner.
func copyData(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		if entry.IsDir() {
			err = os.Mkdir(target, 0o700)
		} else {
			err = copyFile(path, target)
		}
		return errors.Join(err, own(target, path))
	})
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

// own gives path to the owner of like: a server of root may run as another user.
func own(path, like string) error {
	info, err := os.Lstat(like)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// syncData returns when everything in a folder is on the disk.
func syncData(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

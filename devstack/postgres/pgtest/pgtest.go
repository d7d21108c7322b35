// Package pgtest gives tests a real PostgreSQL: one private server per test process, one database per test.
//
// The server begins with a copy of a migrated template in the user's cache directory, which the first process with this schema makes.
// Durability is off and the data is deleted with the process, so only tests may use it. On a machine without PostgreSQL the tests
// fail; they are never skipped.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/postgres"
)

const (
	template = "postgres"  // the database that is migrated
	blank    = "template0" // the one without the migrations
	other    = "template1" // neither can be copied while somebody is connected to it, so tests' databases are made from here
	patience = time.Minute
)

// New returns the URL of the test's own migrated database, which is dropped when the test ends. Close every connection before that.
func New(t testing.TB) (url string) {
	t.Helper()
	server, err := shared()
	if err != nil {
		t.Fatalf("tests need PostgreSQL: %v", err)
	}
	return clone(t, server, template)
}

// Empty is New without the migrations.
func Empty(t testing.TB) (url string) {
	t.Helper()
	server, err := shared()
	if err != nil {
		t.Fatalf("tests need PostgreSQL: %v", err)
	}
	return clone(t, server, blank)
}

// shared starts the process's server once.
var shared = sync.OnceValues(func() (_ *instance, err error) {
	defer must.Catch(&err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dir := must.Get(os.MkdirTemp(memory(), "ocpctl-pgtest-"))
	if err := Prepare(ctx, dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	server := must.Get(postgres.Start(ctx, postgres.Config{Dir: dir, Fast: true}))
	alive := must.Get(removeAfter(dir, server.PID()))
	admin := must.Get(pgxpool.New(ctx, server.URL(other)))
	return &instance{server, admin, alive}, nil
})

// TempDir is the test's own folder, in memory if there is enough: creating a file there costs a tenth of the processor time.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "ocpctl-test-")
	if err != nil {
		t.Fatalf("make a folder for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the test's folder: %v", err)
		}
	})
	return dir
}

// memory returns an in-memory folder with enough space for the servers of several test processes; empty: there is none, and the usual
// temporary folder is used. A database has three hundred files, which are ten times as fast in memory.
func memory() string {
	const shm, needed = "/dev/shm", 8 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err != nil || uint64(fs.Bavail)*uint64(fs.Bsize) < needed {
		return ""
	}
	return shm
}

// instance is the process's server. Its pipe must stay referenced, because closing it signals the end of the process.
type instance struct {
	*postgres.Server
	admin *pgxpool.Pool // makes and drops databases
	alive io.Closer
}

// removeAfter starts a small process that waits for the end of this one (its input then ends), stops the server and deletes its
// directory. There is no other moment at which all tests of the process have certainly ended.
func removeAfter(dir string, pid int) (alive io.Closer, err error) {
	const script = `cat >/dev/null; kill -INT "$1" 2>/dev/null; i=0
while kill -0 "$1" 2>/dev/null && [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done; rm -rf "$2"`
	cmd := exec.Command("sh", "-c", script, "remove", strconv.Itoa(pid), dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals for the tests must not reach it
	if alive, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return alive, cmd.Start()
}

var clones atomic.Int64

func clone(t testing.TB, server *instance, from string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	name := fmt.Sprintf("test_%d", clones.Add(1))
	// Without durability, copying the files costs half of the processor time that writing them through the log does.
	if _, err := server.admin.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY FILE_COPY", name, from)); err != nil {
		t.Fatalf("make a database for the test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := server.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return server.URL(name)
}

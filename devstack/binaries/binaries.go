// Package binaries builds the programs that tests start as processes of their own.
package binaries

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/ocpctl/ocpctl/devstack/must"
)

const module = "github.com/ocpctl/ocpctl/"

// Packages of programs: the product's, and the stand-ins of the installer and the tools beside it.
var (
	Product = []string{"cmd/ocpctl-server", "cmd/ocpctl-runner", "cmd/ocpctl"}
	Tools   = []string{"devstack/installer/cmd/openshift-install", "devstack/installer/cmd/ccoctl", "devstack/installer/cmd/oc"}
)

// With runs the tests of a package after it built the programs that they share, to a folder that into then names. It returns their exit
// code.
func With(run func() int, into *string, packages ...string) (code int) {
	dir, err := os.MkdirTemp("", "ocpctl-programs-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = Build(context.Background(), dir, packages...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*into = dir
	return run()
}

// Build puts programs into dir, by the paths of their packages in the module. It needs the go command and must be called inside the
// module. Programs are linked in .demo/binaries and copied from there: linking costs more than many tests do, and the go command
// links again only what has changed since another process of tests did.
func Build(ctx context.Context, dir string, packages ...string) (err error) {
	defer must.Catch(&err)
	root := must.Get(moduleRoot())
	must.Do(os.MkdirAll(dir, 0o755))
	shared := filepath.Join(root, ".demo", "binaries")
	unlock, err := lock(shared)
	if err != nil {
		shared = dir // nobody may write to the checkout
	} else {
		defer unlock()
	}
	args := []string{"build", "-buildvcs=false", "-o", shared}
	for _, path := range packages {
		args = append(args, module+path)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	for _, path := range packages {
		if name := filepath.Base(path); shared != dir {
			must.Do(os.WriteFile(filepath.Join(dir, name), must.Get(os.ReadFile(filepath.Join(shared, name))), 0o755))
		}
	}
	return nil
}

// moduleRoot is the nearest folder above with the module's file.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the module of the programs: %w", err)
		}
	}
	return "", err
}

// lock waits until no other process builds to a folder.
func lock(folder string) (unlock func(), err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(folder, 0o755))
	file := must.Get(os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600))
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { file.Close() }, nil
}

// Package tool finds the programs of the repository's own modules below tools, which the development stack starts. The product never
// imports it.
package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Tool is one such program. It is found once in the life of this process.
type Tool struct {
	Name   string // of the program
	Module string // path of its module in the repository
	Make   string // the target that builds it beside the other programs
	Long   string // what to say about a build that takes minutes; empty: nothing

	mu   sync.Mutex
	path string
}

// reportEvery is how often a build that takes minutes says so.
const reportEvery = 20 * time.Second

// Path returns where the program is: beside the running program, as make puts it, otherwise where the go command builds it from this
// repository and keeps it in its build cache.
func (t *Tool) Path(ctx context.Context) (_ string, err error) {
	defer must.Catch(&err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path != "" {
		return t.path, nil
	}
	self := must.Get(os.Executable())
	beside := filepath.Join(filepath.Dir(self), t.Name)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		t.path = beside
		return beside, nil
	}
	mod := must.Get(goCommand(ctx, "env", "GOMOD"))
	if t.Long != "" {
		done := make(chan struct{})
		defer close(done)
		go t.report(done)
	}
	t.path, err = goCommand(ctx, "-C", filepath.Join(filepath.Dir(mod), t.Module), "tool", "-n", t.Name)
	must.Wrap(err, "build the program %s, which is neither beside %s nor built by make %s", t.Name, self, t.Make)
	return t.path, nil
}

// report says on standard error that the build goes on, until it is done. A build from the cache is done before the first report.
func (t *Tool) report(done <-chan struct{}) {
	began, tick := time.Now(), time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "building %s from %s: %s so far; %s\n", t.Name, t.Module, time.Since(began).Round(time.Second), t.Long)
		}
	}
}

// goCommand returns the output of the go command.
func goCommand(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

package kubernetes

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
)

// programModule is the path of the program's module in the repository.
const programModule = "tools/kubernetes"

// reportEvery is how often a build that takes minutes says so.
const reportEvery = 20 * time.Second

var built struct {
	sync.Mutex
	path string
}

// Program returns the path of the program kubernetes: the one beside the running program, as make build-kubernetes puts it, otherwise
// one that the go command builds from this repository and keeps in its build cache. The first build takes about ten minutes, and says
// on standard error that it goes on.
func Program(ctx context.Context) (string, error) {
	built.Lock()
	defer built.Unlock()
	if built.path != "" {
		return built.path, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(self), "kubernetes")
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		built.path = beside
		return beside, nil
	}
	mod, err := goCommand(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	done := make(chan struct{})
	defer close(done)
	go report(done)
	built.path, err = goCommand(ctx, "-C", filepath.Join(filepath.Dir(mod), programModule), "tool", "-n", "kubernetes")
	if err != nil {
		return "", fmt.Errorf("build the program kubernetes, which is neither beside %s nor built by make build-kubernetes: %w", self, err)
	}
	return built.path, nil
}

// report says that the build goes on, until it is done. A build from the cache is done before the first report.
func report(done <-chan struct{}) {
	began, tick := time.Now(), time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "building Kubernetes from %s: %s so far; the first build takes about ten minutes\n", programModule, time.Since(began).Round(time.Second))
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

package s3

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// gatewayModule is the path of the gateway's module in the repository.
const gatewayModule = "tools/s3gateway"

var built struct {
	sync.Mutex
	path string
}

// Gateway returns the path of the program s3gateway: the one beside the running program, as make build puts it, otherwise one that
// the go command builds from this repository and keeps in its build cache.
func Gateway(ctx context.Context) (string, error) {
	built.Lock()
	defer built.Unlock()
	if built.path != "" {
		return built.path, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if beside := filepath.Join(filepath.Dir(self), "s3gateway"); isProgram(beside) {
		built.path = beside
		return beside, nil
	}
	mod, err := goCommand(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	built.path, err = goCommand(ctx, "-C", filepath.Join(filepath.Dir(mod), gatewayModule), "tool", "-n", "s3gateway")
	if err != nil {
		return "", fmt.Errorf("build s3gateway, which is neither beside %s nor built by make build: %w", self, err)
	}
	return built.path, nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
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
